/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_NODE_H
#define PM_NODE_H

/*
 * What the controller knows of this node, asked and changed by scontrol. Slurm's name for the node
 * is SLURMD_NODENAME, which the prolog has, else the host's name up to its first dot.
 */
#include "lib/config.h"
#include "lib/err.h"

struct pm_node_update {
	const struct pm_config *config; /* NULL: scontrol's default path, when there is none */
	const char *reason;		/* drains the node with this line; NULL leaves its state */
	const char *active;		/* its active features; NULL leaves them */
	unsigned timeout_ms;
};

/*
 * One 'scontrol update'. A job that waits for the node's boot is requeued by a drain; the node may
 * then be drained already.
 */
int pm_node_update(const struct pm_node_update *update, struct pm_err *err);

/* The features that the controller takes for active, "rack1,pm_memory"; "" for none. malloc'ed. */
int pm_node_active(
	const struct pm_config *config, unsigned timeout_ms, char **ret, struct pm_err *err);

#endif
