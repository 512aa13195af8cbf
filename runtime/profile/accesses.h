/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_RUNTIME_ACCESSES_H
#define PM_RUNTIME_ACCESSES_H

/*
 * The profile's accesses, by call site. A thread measures them, with all signals blocked and a
 * table of descriptors of its own: by samples (runtime/profile/samples.h) or in bursts
 * (runtime/profile/bursts.h). It starts with the first large object.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/profile_request.h"
#include "runtime/profile/profile_format.h"

/* After pm_live_objects_start(). `start_ns`: when the profile began, of CLOCK_MONOTONIC. */
void pm_accesses_start(enum pm_profile_source source, uint64_t start_ns);

/* The profile has a new object. Any thread; may start the thread. */
void pm_accesses_alloc(const void *object, size_t bytes);

/* An iteration begins: marked, or inferred. A phase begins. */
void pm_accesses_iteration(uint32_t number);
void pm_accesses_phase(uint32_t number);

/* Ends the thread. False: nothing was measured. */
bool pm_accesses_end(struct pm_record_source *ret);

/* Handlers of pthread_atfork(3). A child is not profiled. */
void pm_accesses_before_fork(void);
void pm_accesses_after_fork(void);
void pm_accesses_after_fork_in_child(void);

#endif
