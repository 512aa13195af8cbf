/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_AGENT_CALIBRATE_SOCKETS_H
#define PM_AGENT_CALIBRATE_SOCKETS_H

/* The sockets of this node that can be calibrated, as far as this process may use them. */
#include "measure/calibrate.h"
#include "node/state/jobview.h"
#include "plan/topology.h"

struct pm_calibrate_sockets {
	struct pm_topology *topology;
	struct pm_jobview view; /* owner of the directories' names */
	struct pm_calibrate_socket *list;
	int *cpus; /* of all of them */
	unsigned n;
};

/*
 * Sockets with DRAM, and with persistent memory as a NUMA node (flat) or as the job's directory
 * (App Direct); in a job in Memory Mode all sockets. -ENODEV: none; the sentence says how to get
 * one. Release with pm_calibrate_sockets_done(), also after a failure.
 */
int pm_calibrate_sockets(
	const struct pm_config *config, struct pm_calibrate_sockets *ret, struct pm_err *err);

void pm_calibrate_sockets_done(struct pm_calibrate_sockets *sockets);

#endif
