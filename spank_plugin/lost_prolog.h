/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_LOST_PROLOG_H
#define PM_LOST_PROLOG_H

/*
 * Jobs whose prolog ended with the slurmd that ran it, or whose order for it met a node that went
 * down. slurmctld waits for that prolog: it sends the order once. It misses a batch job at one of
 * the node's next registrations, which may take half an hour, and an interactive job never. Nor
 * does a slurmd that starts know of a prolog that was over before, while those of the job's other
 * nodes went on: it would wait for the order as well.
 */
#include "lib/config.h"

/* For a slurmd that starts on a node that has jobs: those go back to the queue, or end. */
void pm_lost_prologs(const struct pm_config *config, unsigned timeout_ms);

#endif
