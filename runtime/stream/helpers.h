/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_RUNTIME_HELPERS_H
#define PM_RUNTIME_HELPERS_H

/*
 * Helper threads of the rank: they copy the batches of streams while the program computes. They
 * start with the first job, on the plan's CPUs for helpers, with all signals blocked. A job is
 * copied in slices, by any helper of its mask. The thread that waits for a job copies the slices
 * that no helper has begun: no job depends on a helper.
 *
 * A child of fork(2) has no helpers. Its jobs begin anew there and are copied by the waiting
 * thread.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "copy/copy.h"

#define PM_HELPERS_MAX 2

/* Owned by the caller from pm_helpers_post() to pm_helpers_wait(). */
struct pm_copy_job {
	char *to;
	const char *from;
	size_t bytes;
	enum pm_copy_kind kind;
	unsigned helpers; /* mask: bit i is helper i; 0: the waiting thread copies it */
	uint64_t pace_ns; /* the slices are spread over this time; 0: as fast as possible */

	/* Under the lock of helpers.c. */
	size_t begun, done;	  /* bytes */
	uint64_t posted_ns;	  /* CLOCK_MONOTONIC */
	struct pm_copy_job *next; /* of the list of posted jobs */
};

/* Reads PM_HELPER_CPUS. The calling thread is the only one. */
void pm_helpers_prepare(void);

/* CPUs that the plan has for helpers, at most PM_HELPERS_MAX are used. */
unsigned pm_helpers_cpus(void);

/* False: a thread could not be made, or this is a child of fork(2). */
bool pm_helpers_can_run(void);

/* Hands a job to the helpers. `begun` and `done` are reset. */
void pm_helpers_post(struct pm_copy_job *job);

/* Returns when all of the job is copied. Nanoseconds that this took. */
uint64_t pm_helpers_wait(struct pm_copy_job *job);

/* True: some posted job is not copied yet. */
bool pm_helpers_are_busy(void);

/* For pthread_atfork(3). */
void pm_helpers_before_fork(void);
void pm_helpers_after_fork(void);
void pm_helpers_after_fork_in_child(void);

#endif
