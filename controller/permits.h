/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_PERMITS_H
#define PM_PERMITS_H

/*
 * Reboots within the limits of pmem.conf (controller/permit_rule.h). Slurm itself reboots no node
 * for a job before its DelayBoot is over, and pmem.lua adds nine years to that of each job for
 * which a limit holds (pmem_reboots.lua). Here they are taken off the jobs that may have nodes
 * rebooted now, and added again when they may no longer. State is in Slurm's records of the jobs
 * alone. While this service is dead nothing more is permitted.
 */
#include <stdbool.h>
#include <stdint.h>

#include "controller/cluster.h"
#include "controller/permit_limits.h"
#include "controller/reboots.h"

/* A job that waits for a permit. */
struct pm_permit_wait {
	uint32_t job_id;
	enum pm_permit why;
};

struct pm_permits {
	struct pm_permit_site site;
	bool wanted;		      /* pmem.conf has a limit */
	struct pm_permit_wait *waits; /* of the last look */
	size_t n_waits;
};

/*
 * Takes the configuration, which may be an empty struct afterwards, and reads the users of groups
 * that controller/groups_file.h has written into `run_dir`.
 */
void pm_permits_configure(
	struct pm_permits *permits, struct pm_config *config, const char *run_dir);

/*
 * After each load of the jobs and, behind it, of the nodes: changes DelayBoot of jobs, also in the
 * table. Jobs that have none of the limits any more get theirs back.
 * `settled`: slurmctld knows its nodes (pm_cluster_is_settled()); else nothing more is permitted.
 */
void pm_permits_look(struct pm_permits *permits, const struct pm_cluster *cluster,
	const struct pm_reboots *reboots, bool settled, uint64_t now_s);

/* A sentence about the job, malloc'ed; NULL: no limit keeps it. */
char *pm_permits_explain(struct pm_permits *permits, const slurm_job_info_t *job, uint64_t now_s);

void pm_permits_done(struct pm_permits *permits);

/* True if Slurm reboots nothing for the job until it gets a permit. */
bool pm_permit_is_awaited(const slurm_job_info_t *job);

/* True if Slurm never reboots a node for it. */
bool pm_permit_is_never(const slurm_job_info_t *job);

#endif
