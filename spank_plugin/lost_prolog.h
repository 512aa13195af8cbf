/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_LOST_PROLOG_H
#define PM_LOST_PROLOG_H

/*
 * A job loses its prolog when slurmd ends while it runs the prolog, or when the node is down as
 * slurmctld sends the order for it. slurmctld sends the order once, which a slurmd that comes up in
 * the next seconds (MessageTimeout) still gets, and waits for the prolog. It misses a batch job at
 * one of the node's next registrations, up to half an hour later, and an interactive job never. A
 * slurmd that starts also does not know of a prolog that ended before, while those of the job's
 * other nodes went on: it would wait for the order.
 */
#include <stddef.h>
#include <stdint.h>

#include "site/config.h"

/* Running jobs of this node in reason Prolog. */
struct pm_unprepared {
	uint32_t jobs[64];
	size_t count;
};

/*
 * For a slurmd that starts on a node that has jobs: those with a prolog that began under an earlier
 * slurmd go back to the queue, or end.
 */
void pm_lost_prologs(const struct pm_config *config, unsigned timeout_ms);

/*
 * The jobs with a prolog that has not begun under this slurmd, either: slurmd ends with a prolog
 * that takes longer than a minute, and the prolog may begin its work after that.
 */
void pm_unprepared_find(
	const struct pm_config *config, unsigned timeout_ms, struct pm_unprepared *ret);

/* Those of them that still are: they go back to the queue, or end. */
void pm_unprepared_requeue(
	const struct pm_config *config, unsigned timeout_ms, const struct pm_unprepared *before);

#endif
