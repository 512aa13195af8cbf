/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_JOBS_H
#define PM_JOBS_H

/*
 * Job records: one for each job that has persistent memory on this node, StateDir/jobs/ID.json,
 * readable for root alone. A record is written before anything is made for the job, and removed
 * after all of it is gone. A record of another boot is dead: no process of that job is alive.
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
	PM_JOB_READY,	   /* all allotments are made; the job's tasks may use them */
	PM_JOB_REFUSED,	   /* nothing is made: the request cannot be served */
	PM_JOB_UNREADABLE, /* the record cannot be read: only its ID is known */
};

struct pm_job {
	uint32_t id;
	uid_t uid;
	gid_t gid;
	enum pm_job_state state;
	enum pm_mode mode;
	enum pm_substate substate;
	uint64_t size_bytes;   /* limit on each socket; 0: none */
	uint64_t memory_bytes; /* main memory that Slurm has allocated here; 0: unknown */
	char boot_id[PM_BOOT_ID_MAX];
	char run[64];  /* differs between runs of a requeued job; "": unknown */
	char time[32]; /* begin of the job, UTC */
};

struct pm_jobs {
	struct pm_job *list; /* by ID */
	size_t n;
};

/* "begun", "ready", "refused", "unreadable". */
const char *pm_job_state_name(enum pm_job_state state);

/* Decimal digits only, 1 to 4294967295, as Slurm prints job IDs. -EINVAL. */
int pm_job_parse_id(const char *text, uint32_t *ret);

/* True for the name of a job's file, "12.json"; temporaries of pm_file_write() have other names. */
bool pm_job_is_file(const char *name, uint32_t *ret_id);

/*
 * Reads all records of a directory, ordered by ID; none if there is no directory. A record is
 * UNREADABLE if it cannot be parsed, has another job's ID, or a user other than root could have
 * written it. The job's allotments then stay until the job is known to be over. Release with
 * pm_jobs_done(); on failure *ret is untouched.
 */
int pm_jobs_read(const char *dir, struct pm_jobs *ret, struct pm_err *err);

/* NULL: there is none. */
const struct pm_job *pm_jobs_find(const struct pm_jobs *jobs, uint32_t id);

/*
 * The first other job of this boot that cannot share the node with `job`; NULL: there is none.
 * File systems can be shared, devices and flat memory cannot. Beside an UNREADABLE job only Memory
 * Mode is possible.
 */
const struct pm_job *pm_jobs_conflict(const struct pm_jobs *jobs, const struct pm_job *job);

/*
 * Iterates over the other jobs of this boot that were not refused: returns the next one and moves
 * `*at`, which starts at 0, past it; NULL at the end.
 */
const struct pm_job *pm_jobs_next_other(
	const struct pm_jobs *jobs, const struct pm_job *job, size_t *at);

/* Writes the job's record; an earlier one is replaced. */
int pm_job_write(const char *dir, const struct pm_job *job, struct pm_err *err);

/* Removes a record; a missing one is fine. */
int pm_job_forget(const char *dir, uint32_t id, struct pm_err *err);

/* Renames an unreadable record: "12.json" becomes "12.json.unreadable". */
int pm_job_set_aside(const char *dir, uint32_t id, struct pm_err *err);

void pm_jobs_done(struct pm_jobs *jobs);

#endif
