/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_AGENT_JOB_H
#define PM_AGENT_JOB_H

/*
 * Begin and end of a job on this node. The record is written before anything is made and removed
 * after all is gone, so that `end`, a later `begin` or pm_jobs_sweep() cleans up after a crash at
 * any point. Both may be called again. Callers hold the lock of pm_state_lock_within().
 */
#include "protocol/pmctl.h"
#include "node/operation.h"
#include "node/state/jobs.h"

struct pm_job_request {
	uint32_t id;
	uid_t uid;
	gid_t gid;
	const char *run;    /* the same in each call for one run of the job; NULL: not known */
	const char *expect; /* the modes as they were asked for, for sentences */
	char *const *modes; /* names of the modes that the job may run in, the best first */
	uint64_t size_bytes;
	bool wants_devices;	  /* in place of directories */
	bool is_shared;		  /* other jobs may be put on this node beside it */
	bool all_memory;	  /* that the node has; else: */
	uint64_t memory_bytes;	  /* that Slurm has given it here; 0: none, or not known */
	uint64_t allocated_bytes; /* that Slurm has given to all jobs here; 0: not known */
};

/*
 * Returns a PM_EXIT_ value; all but DONE come with a sentence. With CONFLICT, "holder=ID" is
 * printed for each job that is in the way, or "unrecorded=BYTES" when only memory is that no record
 * has: that of jobs without a mode, or of some that have not begun.
 */
int pm_job_begin(
	const struct pm_operation *op, const struct pm_job_request *request, struct pm_err *err);
int pm_job_end(const struct pm_operation *op, uint32_t id, struct pm_err *err);

/*
 * The first mode of the list whose platform mode the node is in. -ENODEV: none, with what was
 * expected and what was found.
 */
int pm_job_choose_mode(const struct pm_operation *op, const char *expect, char *const *modes,
	const struct pm_mode_info **ret, struct pm_kernel *ret_kernel, struct pm_err *err);

/*
 * Takes away what jobs of earlier boots and jobs without a record have left; nothing of a job of
 * this boot is touched. PM_NEEDS_REBOOT: flat memory that the kernel does not give back.
 */
int pm_jobs_sweep(const struct pm_operation *op, struct pm_err *err);

/* The records of StateDir. Release with pm_jobs_done(). */
int pm_jobs_of(const struct pm_operation *op, struct pm_jobs *ret, struct pm_err *err);

#endif
