/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_TURNED_AWAY_H
#define PM_TURNED_AWAY_H

/*
 * Jobs that nodes have turned away: which nodes, and what each said. In a file that survives the
 * service; a job is forgotten when Slurm has forgotten it, it runs, or it was held.
 */
#include "controller/cluster.h"
#include "lib/json.h"

/* Most jobs that are kept; beyond that none is added. */
#define PM_TURNED_JOBS_MAX 10000

struct pm_turned_away {
	char *path;
	json_object *jobs; /* by id: "uid", "restarts", "times", "excluded" by its user, "nodes"
			      with a sentence */
};

/* What is to become of the job; all malloc'ed, release with pm_turned_verdict_done(). */
struct pm_turned_verdict {
	char *sentence; /* it is to be held, and this is why; NULL: it is not */
	char *excluded; /* its list of excluded nodes from now on */
};

/* A file that cannot be understood is said and replaced. `path` is copied. */
int pm_turned_open(struct pm_turned_away *turned, const char *path, struct pm_err *err);

/*
 * Notes it and writes the file. The job is to be held after `limit` different nodes, or, where it
 * has no others to go to, after `limit` times. Else it goes to other nodes: Slurm would choose the
 * same one again. When all have turned it away it may try all again.
 */
int pm_turned_note(struct pm_turned_away *turned, const struct pm_cluster *cluster,
	const slurm_job_info_t *job, const char *node, const char *sentence, unsigned limit,
	struct pm_turned_verdict *ret, struct pm_err *err);

void pm_turned_verdict_done(struct pm_turned_verdict *verdict);

void pm_turned_forget(struct pm_turned_away *turned, uint32_t job_id);

/* Forgets those that the table of jobs does not have any more. */
void pm_turned_sweep(struct pm_turned_away *turned, const struct pm_cluster *cluster);

/* How many nodes could this job run on, but for `excluded`? By its partition, its -w and modes, and
 * of those that serve. */
unsigned pm_turned_candidates(
	const struct pm_cluster *cluster, const slurm_job_info_t *job, const char *excluded);

void pm_turned_done(struct pm_turned_away *turned);

#endif
