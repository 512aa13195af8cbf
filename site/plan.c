/* SPDX-License-Identifier: Apache-2.0 */
#include "site/plan.h"

void pm_plan_heed_site(struct pm_plan_request *request, const struct pm_config *config)
{
	request->reserve_bytes = config->dram_reserve.bytes;
	request->reserve_percent = config->dram_reserve.percent;
	request->spaces.metadata = config->metadata_space_bytes;
	request->spaces.temporary = config->temporary_space_bytes;
	request->spaces.migration = config->migration_space_bytes;
	request->allow_remote = config->remote_memory;
}

int pm_topology_heed_site(struct pm_topology_source *source, const struct pm_config *config,
	struct pm_memory_hint **ret_hints, struct pm_err *err)
{
	size_t n;
	int rc = pm_memory_hints_parse(config->memory_nodes, ret_hints, &n, err);

	if (rc)
		return rc;
	source->hints = *ret_hints;
	source->n_hints = n;
	return 0;
}
