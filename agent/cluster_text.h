/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_AGENT_CLUSTER_TEXT_H
#define PM_AGENT_CLUSTER_TEXT_H

/* Tables of what pm-controller tells of the cluster; controller/overview.h has the objects. */
#include "base/json.h"
#include "site/config.h"

/* A line for each mode's feature; the memory of a job is that of pmem.conf. */
void pm_print_cluster_modes(const struct pm_config *config, json_object *list);

/* A line for each node. */
void pm_print_cluster_nodes(json_object *list);

/* A paragraph for each node that does not serve, the oldest first. */
void pm_print_cluster_problems(json_object *list);

#endif
