/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_LOST_PROLOG_H
#define PM_LOST_PROLOG_H

/*
 * A job loses its prolog if slurmd ends while it runs the prolog, or if the node is down when
 * slurmctld sends the prolog's launch. slurmctld sends it once, which a slurmd that comes up within
 * MessageTimeout still gets, and waits for the prolog. It misses a batch job at one of the node's
 * next registrations, up to half an hour later, and an interactive job never. Also a slurmd that
 * starts does not know of prologs that ended under the earlier one while those of the job's other
 * nodes still ran: it would wait for the launch.
 */
#include <stddef.h>
#include <stdint.h>

#include "site/config.h"

/* Running jobs of this node with a mode, in state reason Prolog. */
struct pm_unprepared {
	uint32_t jobs[64];
	size_t count;
};

/*
 * At slurmd's start, on a node with jobs: requeues or cancels jobs with a prolog that began under
 * an earlier slurmd.
 */
void pm_lost_prologs(const struct pm_config *config, unsigned timeout_ms);

/*
 * Finds jobs with a prolog that has not begun under this slurmd. slurmd waits a minute at most for
 * a prolog when it ends, so a prolog may mark itself after the new slurmd's start.
 */
void pm_unprepared_find(
	const struct pm_config *config, unsigned timeout_ms, struct pm_unprepared *ret);

/* Requeues or cancels those of `before` that are still found. */
void pm_unprepared_requeue(
	const struct pm_config *config, unsigned timeout_ms, const struct pm_unprepared *before);

#endif
