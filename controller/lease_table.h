/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_LEASE_TABLE_H
#define PM_LEASE_TABLE_H

/*
 * The input of the hold rule (controller/hold_rule.h) for the jobs that are submitted to the same
 * partitions, from the tables of slurmctld.
 */
#include <stddef.h>

#include "controller/cluster.h"
#include "controller/hold_rule.h"
#include "controller/lease_note.h"
#include "controller/reboots.h"

/*
 * A pending job with a mode, in the order of priority. Of an array's record with many tasks as many
 * are looked at as there are nodes.
 */
struct pm_lease_job {
	const slurm_job_info_t *job;
	size_t first, count; /* its elements of pm_lease_table.jobs */
	size_t tasks;	     /* of the record; 1 without an array */
};

struct pm_lease_table {
	struct pm_lease_clock clock; /* of the caller */
	struct pm_hold_rule rule;
	struct pm_hold_node *nodes;
	struct pm_hold_job *jobs;
	struct pm_hold_answer *answers;
	struct pm_lease_job *records;
	size_t n_nodes, n_jobs, n_records;
	unsigned off[PM_HOLD_MODES_MAX]; /* nodes that power saving has turned off, by mode */
};

/*
 * Fills a table that is zeroed but for its clock for the jobs of job->partition and decides.
 * `used_of_limit`: the share of their time limits that jobs use. -ENOMEM.
 */
int pm_lease_table_fill(struct pm_lease_table *table, const struct pm_cluster *cluster,
	const struct pm_reboots *reboots, const char *partitions, double used_of_limit,
	uint64_t now_s);

void pm_lease_table_done(struct pm_lease_table *table);

/* True if the job is pending and has a mode: pm_lease_table_fill() looks at it. */
bool pm_lease_table_has(const slurm_job_info_t *job);

/*
 * True if the job may be held as far as Slurm is concerned: it is eligible, has its nodes to itself
 * and names none of them, has no reservation, no deadline and no alternative licences, and is
 * neither a part of a hetjob, nor of a federation, nor of scrontab, nor was it requeued.
 */
bool pm_lease_suits(const slurm_job_info_t *job, uint64_t now_s);

#endif
