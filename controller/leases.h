/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_LEASES_H
#define PM_LEASES_H

/*
 * Fewer reboots: which pending jobs wait for nodes of their mode. pmem.lua marks the jobs that may
 * (controller/lease_note.h), the rule decides (controller/hold_rule.h), and the licence holds
 * (controller/lease_licence.h). State is in Slurm's records of the jobs alone.
 */
#include <stdbool.h>
#include <stdint.h>

#include "controller/cluster.h"
#include "controller/lease_licence.h"
#include "controller/lease_note.h"
#include "controller/reboots.h"
#include "site/config.h"

struct pm_leases {
	struct pm_lease_licence licence;
	struct pm_lease_clock clock;
	bool configured;      /* pmem.conf has been read */
	bool wanted;	      /* it has HoldTime or limits; the cluster is in no federation */
	bool said_federation; /* that it is in one */
	uint64_t looked_ms;
	double used_of_limit; /* the share of their time limits that jobs use; 0: not learnt */
	time_t learnt_s;      /* jobs that ended later are not learnt from */
};

/*
 * Looks for HoldTime, which may have changed, for limits of reboots (controller/permits.h), and for
 * jobs for which none is rebooted, if slurmctld wakes nodes for them.
 */
void pm_leases_configure(
	struct pm_leases *leases, const struct pm_config *config, const struct pm_cluster *cluster);

/* True if jobs may be held, so that the tables are to be loaded more often. */
bool pm_leases_are_wanted(const struct pm_leases *leases);

/*
 * The clock was set by so many seconds, and is `now_s` now: no job is held longer because of that,
 * and the lease is renewed in the next look.
 */
void pm_leases_shift(struct pm_leases *leases, int64_t by_s, uint64_t now_s);

/*
 * After each load of the jobs: renews the lease, and gives it to jobs or takes it from them. If it
 * is not wanted or cannot be renewed, it is taken from all: a licence that slurm.conf no longer has
 * would keep a job for good. `settled`: slurmctld knows its nodes (pm_cluster_is_settled()); else
 * jobs keep what they have.
 */
void pm_leases_look(struct pm_leases *leases, const struct pm_cluster *cluster,
	const struct pm_reboots *reboots, const char *run_dir, bool settled, uint64_t now_s);

#endif
