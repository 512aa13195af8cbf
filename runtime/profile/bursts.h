/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_RUNTIME_BURSTS_H
#define PM_RUNTIME_BURSTS_H

/*
 * The profile's accesses, where no processor counts them: bursts of accessed pages. A burst has
 * PM_BURST_EPOCHS epochs, which are an iteration long together, or longer where the kernel needs
 * longer for an epoch. At its begin the accessed bits of all pages are cleared, at its end they are
 * read. So the number of epochs in which a page was accessed tells hot from cold: with epochs of a
 * 26th of an iteration that works, with epochs of 0.4 of one it does not. Before the first
 * iteration, and in programs without any, an epoch has two milliseconds.
 *
 * A thread does this, with all signals blocked. It rests between bursts, so that its processor
 * time and the page faults' share of the program's time stay at PM_BURST_SHARE.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/profile/profile_format.h"

#define PM_BURST_EPOCHS 25
#define PM_BURST_SHARE	100 /* rest: so many times as long as a burst's cost */

/*
 * After pm_live_objects_start(). The thread starts with the first large object. `start_ns`: when
 * the profile began, of CLOCK_MONOTONIC.
 */
void pm_bursts_start(uint64_t start_ns);

/* The profile has a new object. Any thread; may start the thread. */
void pm_bursts_alloc(const void *object, size_t bytes);

/* An iteration begins: marked, or inferred. */
void pm_bursts_iteration(uint32_t number);

/* A phase begins. */
void pm_bursts_phase(uint32_t number);

/* Ends the thread. False: there was no burst. */
bool pm_bursts_end(struct pm_record_source *ret);

/* Handlers of pthread_atfork(3). A child is not profiled. */
void pm_bursts_before_fork(void);
void pm_bursts_after_fork(void);
void pm_bursts_after_fork_in_child(void);

#endif
