/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_CLUSTER_H
#define PM_CLUSTER_H

/*
 * The tables of nodes, partitions and jobs that slurmctld sent last, and the configuration that the
 * service needs. Each request has the time of the last change, so that slurmctld does not send an
 * unchanged table again. One thread uses it; a load replaces and frees a table, so pointers into a
 * table are good until its next load.
 */
#include <slurm/slurm.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

/*
 * Of this cluster alone: in a federation slurm_load_job() else takes a job's record from the
 * cluster on which it was submitted, and there it is revoked if it runs here.
 */
#define PM_CLUSTER_SHOWN (SHOW_ALL | SHOW_LOCAL)

struct pm_cluster {
	node_info_msg_t *nodes;
	partition_info_msg_t *partitions;
	job_info_msg_t *jobs;
	const node_info_t **by_name; /* nodes with a name, sorted by it; points into `nodes` */
	uint32_t n_by_name;
	uint64_t node_asks; /* number of successful requests for the nodes */
	uint64_t job_asks;
	int64_t clock_s; /* wall clock minus CLOCK_MONOTONIC since it was last set; 0: not read */

	uid_t slurm_uid;    /* SlurmUser */
	bool private_jobs;  /* PrivateData has jobs: users see their own only */
	bool private_usage; /* PrivateData has usage: the same of what jobs have used */
	bool private_nodes; /* PrivateData has nodes: users see none */
	bool suspends;	    /* PreemptMode has SUSPEND */
	bool runs_in_job;   /* PrologFlags has RunInJob, from Slurm 24.05 on */
	char *munge_socket; /* of AuthInfo; NULL for munge's own default */

	char *health_program; /* HealthCheckProgram; NULL if slurm.conf has none */
	uint16_t health_interval_s;
	uint16_t health_states; /* HEALTH_CHECK_NODE_ of slurm.h */

	unsigned prolog_timeout_s; /* PrologEpilogTimeout; 0: none */

	char *slurmctld_params; /* SlurmctldParameters; NULL: none */

	char *suspend_program; /* of power saving; NULL if slurm.conf has none */
	bool wakes_regardless; /* a node that is off wakes for a job before its DelayBoot is over */
	char *resume_program;
	char *pid_file; /* slurmctld's */
	char *name;	/* ClusterName */
	unsigned suspend_timeout_s;
	unsigned resume_timeout_s;
};

/*
 * Loads the configuration: SlurmUser, PrivateData, AuthInfo, the health check, the prologs and
 * the programs of power saving. The loads return 0, or -EIO or -ENOMEM with a sentence; a failure
 * leaves the last table as it is.
 */
int pm_cluster_load_config(struct pm_cluster *cluster, struct pm_err *err);

/* The same from a configuration that Slurm's library has read. */
void pm_cluster_take_config(struct pm_cluster *cluster, const slurm_conf_t *config);

/*
 * Asks slurmctld since when it runs. False until nodes have had half a minute to register with it,
 * and if it does not answer: nodes that have not registered have no mode in its tables.
 */
bool pm_cluster_is_settled(uint64_t now_s);

int pm_cluster_load_nodes(struct pm_cluster *cluster, struct pm_err *err);
int pm_cluster_load_partitions(struct pm_cluster *cluster, struct pm_err *err);
int pm_cluster_load_jobs(struct pm_cluster *cluster, struct pm_err *err);

/* slurm_free_job_info_msg() of Slurm 22.05 leaves each job's AdminComment, which all jobs with a
 * mode may have. NULL is allowed. */
void pm_cluster_free_jobs(job_info_msg_t *jobs);

/*
 * Called before each load, with the time of this host, which is slurmctld's. slurmctld sends a
 * table only if its last change is newer than ours by the wall clock: when that is set back by an
 * hour, it would send no change for an hour. So after a jump all tables are asked for anew. Returns
 * by how many seconds the clock was set, 0 for none.
 */
int64_t pm_cluster_look_at_clock(struct pm_cluster *cluster, time_t wall_s, uint64_t monotonic_s);

/* NULL if there is no node of that name, or before the first load. */
const node_info_t *pm_cluster_node(const struct pm_cluster *cluster, const char *name);

/* NULL if the table has no such job. For an array: the record with exactly this job id. */
const slurm_job_info_t *pm_cluster_job(const struct pm_cluster *cluster, uint32_t job_id);

/* A job of a federation that another cluster has started: here it is pending without an end. */
static inline bool pm_job_is_elsewhere(const slurm_job_info_t *job)
{
	return job->job_state & JOB_REVOKED;
}

static inline bool pm_job_is_pending(const slurm_job_info_t *job)
{
	return (job->job_state & JOB_STATE_BASE) == JOB_PENDING && !pm_job_is_elsewhere(job);
}

/* For qsort(): the order in which Slurm looks at jobs, by priority, then by number. */
int pm_job_order(const slurm_job_info_t *a, const slurm_job_info_t *b);

/*
 * Expands Slurm's node list into names, with NULL at the end; free with pm_strv_free()
 * (base/strv.h). NULL if the list cannot be read.
 */
char **pm_cluster_names(const char *list);

/* The longest SuspendTimeout of the configuration and of the partitions that were loaded. */
unsigned pm_cluster_suspend_timeout_s(const struct pm_cluster *cluster);

/* Frees the tables, not the configuration: what another slurmctld does next is not in them. */
void pm_cluster_drop_tables(struct pm_cluster *cluster);

void pm_cluster_done(struct pm_cluster *cluster);

#endif
