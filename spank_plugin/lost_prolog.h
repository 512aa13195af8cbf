/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_LOST_PROLOG_H
#define PM_LOST_PROLOG_H

/*
 * A job loses its prolog if slurmd ends while it runs the prolog, or if the node is down when
 * slurmctld sends the prolog's launch. slurmctld sends the launch once; a slurmd that comes up
 * within MessageTimeout still gets it. Then slurmctld waits for the prolog. It notices the loss
 * of a batch job at one of the node's next registrations, up to half an hour later, and the loss of
 * an interactive job never. A new slurmd also does not know of a prolog that ended under the
 * earlier slurmd while prologs of the job still ran on other nodes: the new slurmd would wait for
 * the launch.
 *
 * The launch of a batch job can be lost as well. With DeferBatch slurmctld sends it when the prolog
 * has ended. A slurmd that gives way to a new one at that moment (24.11, at `scontrol reconfigure`)
 * accepts the launch and does not start the job. The job stays RUNNING until slurmctld notices the
 * loss at one of the node's next registrations.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "site/config.h"

/*
 * Running jobs with a mode on this node: jobs with the state reason Prolog, and batch jobs past
 * their prolog (`was_prepared`) that have their batch step here.
 */
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
 * Finds jobs with a prolog that has not begun under this slurmd, and jobs with a lost launch. A
 * slurmd that ends waits a minute at most for its prologs, so a prolog may mark itself after the
 * new slurmd's start.
 */
void pm_unprepared_find(
	const struct pm_config *config, unsigned timeout_ms, struct pm_unprepared *ret);

/* Requeues or cancels the jobs of `before` that are still found. */
void pm_unprepared_requeue(
	const struct pm_config *config, unsigned timeout_ms, const struct pm_unprepared *before);

#endif
