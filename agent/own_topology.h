/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_AGENT_OWN_TOPOLOGY_H
#define PM_AGENT_OWN_TOPOLOGY_H

/* This machine, as far as this process may use it. */
#include "plan/topology.h"
#include "site/config.h"

/* With the site's MemoryNodes=. Errors of pm_topology_load(). Release with pm_topology_free(). */
int pm_own_topology(const struct pm_config *config, struct pm_topology **ret, struct pm_err *err);

#endif
