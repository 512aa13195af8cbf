/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_REJECTED_JOBS_H
#define PM_REJECTED_JOBS_H

/*
 * Jobs that nodes have rejected: by which nodes, and why. They are in a file that survives the
 * service. A job is removed when it has ended, when Slurm does not know it any more, or when its
 * hold is seen in the queue (user_hold.h).
 */
#include "base/json.h"
#include "controller/cluster.h"

/* Limit of jobs in the file; beyond it no job is added. */
#define PM_REJECTED_JOBS_MAX 10000

/* Start of the sentence in AdminComment of a held job; pmem_nodes.lua matches it, too. */
#define PM_REJECTED_HELD "pm: held, as nodes have turned it away"

struct pm_rejected_jobs {
	char *path;
	/*
	 * By job id: "uid", "restarts", "times" (rejections), "excluded" (the user's own list),
	 * "nodes" (the sentence of each), "made" (the longer list that a verdict made),
	 * "given_back" and "idle_since" (reinstate.h), "held".
	 */
	json_object *jobs;
	uint32_t next_look; /* where the next scan of pm_reinstate_scan() begins */
};

/*
 * The decision about a rejected job; both members are malloc'ed, release with
 * pm_rejection_verdict_done().
 */
struct pm_rejection_verdict {
	char *sentence; /* why the job is held; NULL: it is not held */
	char *excluded; /* the job's excluded nodes from now on, "" for none */
};

/*
 * Reads the file, which may be missing. If the file cannot be read, that is logged and the list
 * starts empty; a file with wrong contents is renamed first. `path` is copied. Only -ENOMEM is an
 * error.
 */
int pm_rejected_open(struct pm_rejected_jobs *rejected, const char *path, struct pm_err *err);

/*
 * Records that `node` rejected the job, decides, and writes the file. The job is held after
 * rejections by `limit` different nodes. If too few other nodes are candidates, or if the job was
 * reinstated before, it is held after `limit` rejections by any nodes. Else the nodes that rejected
 * it are excluded, as Slurm would choose the same node again; if too few other nodes are
 * candidates, only the user's own list stays. -ENOSPC: the list is full.
 */
int pm_rejected_add(struct pm_rejected_jobs *rejected, const struct pm_cluster *cluster,
	const slurm_job_info_t *job, const char *node, const char *sentence, unsigned limit,
	struct pm_rejection_verdict *ret, struct pm_err *err);

void pm_rejection_verdict_done(struct pm_rejection_verdict *verdict);

/*
 * Marks the job as held and writes the file: after a release its next rejection counts as the
 * first.
 */
void pm_rejected_set_held(struct pm_rejected_jobs *rejected, const slurm_job_info_t *job);
bool pm_rejected_is_held(const struct pm_rejected_jobs *rejected, const slurm_job_info_t *job);

/* True if the node has rejected the job. */
bool pm_rejected_by(
	const struct pm_rejected_jobs *rejected, const slurm_job_info_t *job, const char *node);

void pm_rejected_forget(struct pm_rejected_jobs *rejected, uint32_t job_id);

/* Removes jobs that have ended or are not in the table of jobs any more. */
void pm_rejected_sweep(struct pm_rejected_jobs *rejected, const struct pm_cluster *cluster);

/*
 * True if the job's list of excluded nodes is the longer one that a verdict made. Else the whole
 * list is the user's own, even if a node in it has rejected the job.
 */
bool pm_rejected_has_exclusions(
	const struct pm_rejected_jobs *rejected, const slurm_job_info_t *job);

/*
 * Reinstatement in two steps, as the service may end in between. Only for a job with
 * pm_rejected_has_exclusions(). The first step records the reinstatement and writes the file;
 * *ret_excluded is the user's own list, malloc'ed. Until the second step the longer list counts as
 * the service's.
 */
int pm_rejected_begin_reinstatement(struct pm_rejected_jobs *rejected, const slurm_job_info_t *job,
	char **ret_excluded, struct pm_err *err);

/* Call it when Slurm has the user's own list again. */
void pm_rejected_end_reinstatement(struct pm_rejected_jobs *rejected, const slurm_job_info_t *job);

/*
 * Time since which enough other nodes have been idle while the job waits, in seconds since 1970; 0:
 * not enough are idle.
 */
uint64_t pm_rejected_idle_since(
	const struct pm_rejected_jobs *rejected, const slurm_job_info_t *job);
void pm_rejected_set_idle_since(
	struct pm_rejected_jobs *rejected, const slurm_job_info_t *job, uint64_t since);

void pm_rejected_done(struct pm_rejected_jobs *rejected);

#endif
