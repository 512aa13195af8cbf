/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_NODE_FEATURES_H
#define PM_NODE_FEATURES_H

/* The features of nodes and jobs that are modes'. Nothing here allocates. */
#include "controller/cluster.h"

/* Characters between the feature names of a constraint. */
#define PM_CONSTRAINT_OPERATORS "&|()[]*, "

/* True if a list with commas has this word. */
bool pm_features_have(const char *list, const char *word);

/*
 * The feature of a node's mode, by its active features, and as the table of modes has it; NULL: no
 * mode. Slurm shows the next mode as active from the order of a reboot on.
 */
const char *pm_node_feature(const node_info_t *node);

/* True if the node can be in the mode of a feature, perhaps after a reboot. */
bool pm_node_can_be(const node_info_t *node, const char *feature);

/* True if the node can be in any mode. */
bool pm_node_has_modes(const node_info_t *node);

/* Two features are the same, or both are NULL. */
bool pm_feature_is(const char *a, const char *b);

/* The feature of the mode that a job's constraint names, the first one; NULL: none. */
const char *pm_job_feature(const slurm_job_info_t *job);

#endif
