/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_PLAN_SITE_H
#define PM_PLAN_SITE_H

/* The keys of pmem.conf for plans. */
#include "plan/plan.h"
#include "site/config.h"

/* Sets the reserve, the spaces and allow_remote of a request. */
void pm_plan_heed_site(struct pm_plan_request *request, const struct pm_config *config);

/* Sets the hints of a source from MemoryNodes=; free(*ret_hints) when the topology is loaded. */
int pm_topology_heed_site(struct pm_topology_source *source, const struct pm_config *config,
	struct pm_memory_hint **ret_hints, struct pm_err *err);

#endif
