/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_LOST_PROLOG_H
#define PM_LOST_PROLOG_H

/*
 * A job loses its prolog when slurmd ends while it runs the prolog, or when the node is down as
 * slurmctld sends the order for it. slurmctld sends the order once and waits for the prolog. It
 * misses a batch job at one of the node's next registrations, up to half an hour later, and an
 * interactive job never. A slurmd that starts also does not know of a prolog that ended before,
 * while those of the job's other nodes went on: it would wait for the order.
 */
#include "lib/config.h"

/* For a slurmd that starts on a node that has jobs: those go back to the queue, or end. */
void pm_lost_prologs(const struct pm_config *config, unsigned timeout_ms);

#endif
