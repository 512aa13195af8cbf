/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_JOBS_H
#define PM_JOBS_H

/*
 * The jobs that were given persistent memory on this node: a record each, StateDir/jobs/ID.json,
 * for root alone, written before anything is made for the job and removed after all of it is gone.
 * A record of another boot is dead: no process of that job can be alive.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "node/tools/kernel.h"
#include "site/modes.h"

enum pm_job_state {
	PM_JOB_BEGUN,	   /* something may have been made */
	PM_JOB_READY,	   /* all of it was; the job's tasks may use it */
	PM_JOB_REFUSED,	   /* nothing was: the user asked for what there is not */
	PM_JOB_UNREADABLE, /* its record cannot be read: nothing but its ID is known */
};

struct pm_job {
	uint32_t id;
	uid_t uid;
	gid_t gid;
	enum pm_job_state state;
	enum pm_mode mode;
	enum pm_substate substate;
	uint64_t size_bytes;   /* that it may use on each socket; 0: no limit */
	uint64_t memory_bytes; /* main memory that Slurm has given it here; 0: not known */
	char boot_id[PM_BOOT_ID_MAX];
	char run[64];  /* differs between the runs of a job that was requeued; "" for not known */
	char time[32]; /* of its begin, UTC */
};

struct pm_jobs {
	struct pm_job *list; /* by ID */
	size_t n;
};

/* "begun", "ready", "refused", "unreadable". */
const char *pm_job_state_name(enum pm_job_state state);

/* Decimal digits alone, 1 to 4294967295: as Slurm prints it. -EINVAL. */
int pm_job_parse_id(const char *text, uint32_t *ret);

/*
 * All records of the directory; none when there is no such directory. One that cannot be
 * understood, is another job's, or that others than root could have written, is a job that is
 * UNREADABLE: what it has must stay until it is known to be over. Release with pm_jobs_done().
 */
int pm_jobs_read(const char *dir, struct pm_jobs *ret, struct pm_err *err);

/* NULL when there is none. */
const struct pm_job *pm_jobs_find(const struct pm_jobs *jobs, uint32_t id);

/* The first job that lives in this boot and cannot share the node with `job`; NULL when none. File
 * systems are shared, devices and flat memory are not; with a job that is UNREADABLE nothing is,
 * but in Memory Mode. */
const struct pm_job *pm_jobs_conflict(const struct pm_jobs *jobs, const struct pm_job *job);

/* The other jobs that live in this boot and were given something, one after the other: the first
 * behind `*at`, which begins with 0; NULL at the end. */
const struct pm_job *pm_jobs_next_other(
	const struct pm_jobs *jobs, const struct pm_job *job, size_t *at);

/* Replaces the job's record, fills in nothing; removes it (missing is fine). */
int pm_job_write(const char *dir, const struct pm_job *job, struct pm_err *err);
int pm_job_forget(const char *dir, uint32_t id, struct pm_err *err);

/* For a record that cannot be read: "12.json" becomes "12.json.unreadable". */
int pm_job_set_aside(const char *dir, uint32_t id, struct pm_err *err);

void pm_jobs_done(struct pm_jobs *jobs);

#endif
