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
 *
 * The launch of a batch job can be lost as well: with DeferBatch slurmctld sends it when the prolog
 * has ended, and a slurmd that gives way to a new one at that moment (24.11, at `scontrol
 * reconfigure`) takes it and does not start it. The job stays RUNNING until slurmctld misses it at
 * one of the node's next registrations.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "site/config.h"

/* Running jobs of this node with a mode that are in state reason Prolog; and batch jobs that are
 * past it, and have their batch step here. */
struct pm_unprepared {
	struct pm_unprepared_job {
		uint32_t id;
		bool was_prepared;
	} jobs[64];
	size_t count;
};

/*
 * At slurmd's start, on a node with jobs: requeues or cancels jobs with a prolog that began under
 * an earlier slurmd.
 */
void pm_lost_prologs(const struct pm_config *config, unsigned timeout_ms);

/*
 * Finds jobs with a prolog that has not begun under this slurmd, and jobs with a lost launch.
 * slurmd waits a minute at most for a prolog when it ends, so a prolog may mark itself after the
 * new slurmd's start.
 */
void pm_unprepared_find(
	const struct pm_config *config, unsigned timeout_ms, struct pm_unprepared *ret);

/* Requeues or cancels those of `before` that are still found. */
void pm_unprepared_requeue(
	const struct pm_config *config, unsigned timeout_ms, const struct pm_unprepared *before);

#endif
