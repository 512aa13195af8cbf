/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_REJECTED_JOBS_H
#define PM_REJECTED_JOBS_H

/*
 * Jobs that nodes have turned away: which nodes, and what each said. In a file that survives the
 * service; a job is forgotten when it has ended, Slurm has forgotten it, or its hold was seen to
 * stand (user_hold.h).
 */
#include "base/json.h"
#include "controller/cluster.h"

/* Most jobs that are kept; beyond that none is added. */
#define PM_REJECTED_JOBS_MAX 10000

/* Each sentence why a job is held begins so. */
#define PM_REJECTED_HELD "pm: held, as nodes have turned it away"

struct pm_rejected_jobs {
	char *path;
	json_object *jobs;  /* by id: "uid", "restarts", "times", "excluded" by its user, "nodes"
			       with a sentence, "made": the list that a verdict made longer;
			       "given_back" and "idle_since", see reinstate.h; "held" */
	uint32_t next_look; /* in the table of jobs */
};

/* What is to become of the job; all malloc'ed, release with pm_rejection_verdict_done(). */
struct pm_rejection_verdict {
	char *sentence; /* it is to be held, and this is why; NULL: it is not */
	char *excluded; /* its list of excluded nodes from now on */
};

/* A file that cannot be understood is said, set aside, and begun anew. `path` is copied. */
int pm_rejected_open(struct pm_rejected_jobs *rejected, const char *path, struct pm_err *err);

/*
 * Notes it and writes the file. The job is to be held after `limit` different nodes, or, where it
 * has no others to go to or once had to be given nodes back, after `limit` times. Else it goes to
 * other nodes: Slurm would choose the same one again. When all have turned it away it may try all
 * again.
 */
int pm_rejected_add(struct pm_rejected_jobs *rejected, const struct pm_cluster *cluster,
	const slurm_job_info_t *job, const char *node, const char *sentence, unsigned limit,
	struct pm_rejection_verdict *ret, struct pm_err *err);

void pm_rejection_verdict_done(struct pm_rejection_verdict *verdict);

/* It was held: the next node that turns it away is the first again. Writes the file. */
void pm_rejected_set_held(struct pm_rejected_jobs *rejected, const slurm_job_info_t *job);
bool pm_rejected_is_held(const struct pm_rejected_jobs *rejected, const slurm_job_info_t *job);

void pm_rejected_forget(struct pm_rejected_jobs *rejected, uint32_t job_id);

/* Forgets those that the table of jobs does not have any more. */
void pm_rejected_sweep(struct pm_rejected_jobs *rejected, const struct pm_cluster *cluster);

/* Is its list of excluded nodes still the one that a verdict made longer than its user's? Else all
 * of it is its user's, also where it names a node that has turned the job away. */
bool pm_rejected_has_exclusions(
	const struct pm_rejected_jobs *rejected, const slurm_job_info_t *job);

/* For a job of which pm_rejected_has_exclusions() holds: its user's own list in *ret_excluded,
 * malloc'ed. Notes that the nodes were given back and writes the file. */
int pm_rejected_begin_reinstatement(struct pm_rejected_jobs *rejected, const slurm_job_info_t *job,
	char **ret_excluded, struct pm_err *err);

/* Slurm has that list now. */
void pm_rejected_end_reinstatement(struct pm_rejected_jobs *rejected, const slurm_job_info_t *job);

/* Since when other nodes have been idle beside it, in seconds since 1970; 0: they have not. */
uint64_t pm_rejected_idle_since(
	const struct pm_rejected_jobs *rejected, const slurm_job_info_t *job);
void pm_rejected_set_idle_since(
	struct pm_rejected_jobs *rejected, const slurm_job_info_t *job, uint64_t since);

void pm_rejected_done(struct pm_rejected_jobs *rejected);

#endif
