/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_PERMIT_RULE_H
#define PM_PERMIT_RULE_H

/*
 * Whether nodes may be rebooted for a pending job now: RebootHours, RebootsPerDay, LeastNodes and
 * MostNodes of pmem.conf. Pure functions: the caller asks for one job after the other in the order
 * of their priority, and reboots that it has been permitted count for the jobs behind.
 *
 * Slurm chooses the nodes that it reboots, among idle ones of any mode. So all nodes that a job
 * misses count as if Slurm took them from the mode that can spare the fewest.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "site/policy.h"

enum pm_permit {
	PM_PERMIT_NOT_NEEDED, /* enough idle nodes are in the job's mode */
	PM_PERMIT_GIVEN,
	PM_PERMIT_USERS,  /* RebootUsers or RebootTimeLimit */
	PM_PERMIT_HOURS,  /* RebootHours */
	PM_PERMIT_DAY,	  /* RebootsPerDay */
	PM_PERMIT_MOST,	  /* MostNodes of the job's mode */
	PM_PERMIT_LEAST,  /* LeastNodes of another mode */
	PM_PERMIT_BEHIND, /* jobs before it could take all nodes of the partition */
};

/* The reboots of the last 24 hours that count for a line with RebootsPerDay. */
struct pm_permit_day {
	struct pm_permit_day *next;
	const char *origin; /* of the line */
	unsigned used;
};

/* By which a job is judged; modes by enum pm_mode. */
struct pm_permit_limits {
	bool may_reboot;	   /* by RebootUsers and RebootTimeLimit */
	bool is_open;		   /* by RebootHours */
	unsigned per_day;	   /* 0: no limit */
	struct pm_permit_day *day; /* NULL: no limit */
	uint64_t least[PM_POLICY_MODES], most[PM_POLICY_MODES]; /* 0: no limit */
};

/* The nodes of a job's partitions. Modes of the same feature count as the first of them. */
struct pm_permit_nodes {
	unsigned idle[PM_POLICY_MODES],
		total[PM_POLICY_MODES]; /* `total` without nodes out of service */
	unsigned out[PM_POLICY_MODES];	/* of service, but in the mode */
	unsigned all;			/* in service */
	unsigned promised;		/* nodes of jobs that have a permit */
};

/* What has been permitted to the jobs before. */
struct pm_permit_sum {
	unsigned into[PM_POLICY_MODES]; /* nodes that reboot into a mode */
	unsigned reboots;
};

/* A job's request: `mode` is the first one with its feature, `usable` the most idle nodes in that
 * mode that it may take, since it names or excludes nodes; UINT_MAX: any. */
struct pm_permit_job {
	unsigned mode, needed, usable;
};

/* Counts the job, if it gets what it asks for. */
enum pm_permit pm_permit_decide(const struct pm_permit_limits *limits,
	struct pm_permit_nodes *nodes, struct pm_permit_sum *sum, const struct pm_permit_job *job);

#endif
