/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_RUNTIME_BURSTS_H
#define PM_RUNTIME_BURSTS_H

/*
 * Accesses where no processor samples them: bursts of accessed pages. A burst has PM_BURST_EPOCHS
 * epochs, which are an iteration long together, or longer where the kernel needs longer for an
 * epoch. At its begin the accessed bits of all pages are cleared, at its end they are read. So the
 * number of epochs in which a page was accessed tells hot from cold: with epochs of a 26th of an
 * iteration that works, with epochs of 0.4 of one it does not. Before the first iteration, and in
 * programs without any, an epoch has two milliseconds.
 *
 * The thread rests between bursts, so that its processor time and the page faults take one part in
 * PM_BURST_SHARE of the program's time. So does it before the first one, for the cost that this is
 * likely to have, but for PM_BURST_REST_NS at most: a run that is shorter is not measured, unless
 * it was asked for bursts by name.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/profile/profile_format.h"

#define PM_BURST_EPOCHS	 25
#define PM_BURST_SHARE	 100
#define PM_BURST_REST_NS (UINT64_C(60) * 1000000000)

/* In the thread. Returns 0, or -errno. */
int pm_bursts_open(void);
void pm_bursts_run(uint64_t start_ns, bool by_name, struct pm_record_source *record);

/* The profile has a new object. Any thread. */
void pm_bursts_alloc(const void *object, size_t bytes);

void pm_bursts_after_fork_in_child(void);

#endif
