/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_ANNOUNCE_H
#define PM_ANNOUNCE_H

/*
 * Tells a waiting srun or salloc which of its nodes reboot, and which are back, by Slurm's own
 * message (scontrol notify). A batch job has no terminal and is told nothing.
 */
#include "controller/cluster.h"
#include "controller/reboots.h"

/* Jobs that are told at the same time; others are not. */
#define PM_ANNOUNCED_MAX 64

struct pm_announced {
	uint32_t job_id;    /* 0: a free place */
	uint64_t since_s;   /* Unix time of the first of its reboots */
	uint64_t told_s;    /* of the last message; 0: none */
	unsigned told_open; /* nodes that were not back then */
};

struct pm_announcements {
	struct pm_announced jobs[PM_ANNOUNCED_MAX];
};

/*
 * After pm_reboots_look(). A job that the table of jobs does not have yet is told with a later
 * table; *ret_unknown is true then. Failures of Slurm are dropped: nothing depends on the messages.
 */
void pm_announce(struct pm_announcements *announcements, const struct pm_cluster *cluster,
	const struct pm_reboots *reboots, uint64_t now_s, bool *ret_unknown);

/* The clock was set by so many seconds. */
void pm_announce_shift(struct pm_announcements *announcements, int64_t by_s);

/*
 * The message; malloc'ed, NULL when out of memory. `open` of `total` nodes are not back; `one` is
 * one of these, or the last that came back. For tests.
 */
char *pm_announce_text(const struct pm_announced *job, const struct pm_reboot *one, unsigned open,
	unsigned total, uint64_t median_s, uint64_t now_s);

#endif
