/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_OVERVIEW_H
#define PM_OVERVIEW_H

/*
 * The reply to 'pmctl cluster': the nodes that have modes, counted by mode, and one by one. It is
 * made from the tables that the service has anyway.
 */
#include "base/json.h"
#include "controller/cluster.h"
#include "controller/reboots.h"
#include "controller/rejected_jobs.h"
#include "controller/substates.h"

enum pm_node_use {
	PM_NODE_IDLE,	   /* a job can start there at once */
	PM_NODE_BUSY,	   /* in service, with jobs, reserved or planned */
	PM_NODE_REBOOTING, /* Slurm waits for it */
	PM_NODE_OUT,	   /* down, drained, silent, or its registration was refused */
	PM_NODE_USES,
};

enum pm_node_use pm_node_use(uint32_t node_state);

/*
 * An array with an object for each feature of a mode, and a last one, "feature": "", for nodes that
 * can have a mode and have none:
 *
 *	feature, nodes, idle, busy, rebooting, out: nodes that have the feature active
 *	could       other nodes in service that can have it, after a reboot
 *	jobs        jobs that wait for nodes with it
 *	reboot_s    median seconds of the last reboots into it; missing: none are known
 *	reboots, failures: into it in the last 24 hours
 *
 * NULL when out of memory.
 */
json_object *pm_overview_modes(
	const struct pm_cluster *cluster, const struct pm_reboots *reboots, uint64_t now_s);

/* The tables that rows of nodes are made of. */
struct pm_overview {
	const struct pm_cluster *cluster;
	const struct pm_reboots *reboots;
	const struct pm_rejected_jobs *rejected;
	const struct pm_substates *substates; /* NULL: none are known */
	const uid_t *only;		      /* names jobs of this uid alone; NULL: all */
	uint64_t now_s;
};

/*
 * An array with an object for each node that can have a mode, or that Slurm has refused for its
 * memory before it knew its features, in the order of their names, from the
 * first one behind `after` (NULL: all), as many as a reply holds; the rest begins behind the last:
 *
 *	node, feature ("": none), state: "idle", "busy", "rebooting", "out"
 *	substate: that the node has told since its boot; missing: none
 *	from, to, start, seconds, failure, job, uid: of its last reboot, where there is one
 *	reboots, failures: in the last 24 hours, where there are any
 *	reason, since, by: of a node that Slurm gives a reason for; `by` is a uid
 *
 * and of a node that does not serve (out, or in no mode and not rebooting):
 *
 *	comment: pmctl's sentence in the node's comment, without its "pm: "
 *	running, waiting, turned_away, more: see controller/affected.h
 *
 * NULL when out of memory.
 */
json_object *pm_overview_nodes(const struct pm_overview *overview, const char *after);

#endif
