/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_AGENT_JOB_H
#define PM_AGENT_JOB_H

/*
 * Begin and end of a job on this node. The record is written before anything is made, and removed
 * after everything is gone, so that `end`, a later `begin` or pm_jobs_sweep() cleans up after a
 * crash at any point. Both may be called again. Callers hold the lock of pm_state_lock_within().
 */
#include "protocol/pmctl.h"
#include "node/operation.h"
#include "node/state/jobs.h"

struct pm_job_request {
	uint32_t id;
	uid_t uid;
	gid_t gid;
	const char *run;    /* the same in each call for one run of the job; NULL: unknown */
	const char *expect; /* the modes as the user wrote them, for messages */
	char *const *modes; /* names of the modes it may run in: best first, NULL last */
	uint64_t size_bytes;
	bool wants_devices;    /* devices, not directories */
	bool is_shared;	       /* Slurm may put other jobs on this node */
	bool all_memory;       /* the job has all memory of the node; else: */
	uint64_t memory_bytes; /* allocated to the job by Slurm on this node; 0: none, or unknown */
	uint64_t allocated_bytes; /* allocated by Slurm to all jobs on this node; 0: unknown */
};

/*
 * Return a PM_EXIT_ value of protocol/pmctl.h; all but PM_EXIT_DONE come with a sentence. With
 * PM_EXIT_CONFLICT pm_job_begin() may print lines for the plugin: "holder=ID" for a job that has
 * the regions, or for each job with memory; or "unrecorded=BYTES", the memory that Slurm has
 * allocated to jobs without a record, as they have no mode or have not begun. It prints none if the
 * job must wait for the removal of trash, or if the node is too small for the job alone.
 */
int pm_job_begin(
	const struct pm_operation *op, const struct pm_job_request *request, struct pm_err *err);
int pm_job_end(const struct pm_operation *op, uint32_t id, struct pm_err *err);

/*
 * *ret: the first mode of the list that belongs to the node's platform mode; *ret_kernel: the
 * kernel's numbers. -ENODEV: none does, the sentence has the expected modes and the present one.
 */
int pm_job_choose_mode(const struct pm_operation *op, const char *expect, char *const *modes,
	const struct pm_mode_info **ret, struct pm_kernel *ret_kernel, struct pm_err *err);

/*
 * Removes what jobs of earlier boots, and jobs without a record, have left. Nothing of a job of
 * this boot is touched. PM_NEEDS_REBOOT: the kernel could not offline flat memory.
 */
int pm_jobs_sweep(const struct pm_operation *op, struct pm_err *err);

/* The job records of StateDir; warns of each that cannot be read. Release with pm_jobs_done(). */
int pm_jobs_of(const struct pm_operation *op, struct pm_jobs *ret, struct pm_err *err);

#endif
