/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "agent/own_topology.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "site/plan.h"

int pm_own_topology(const struct pm_config *config, struct pm_topology **ret, struct pm_err *err)
{
	cleanup_free struct pm_memory_hint *hints = NULL;
	struct pm_topology_source source = {0};
	cpu_set_t allowed;
	int rc = pm_topology_heed_site(&source, config, &hints, err);

	if (rc)
		return rc;
	if (sched_getaffinity(0, sizeof(allowed), &allowed))
		return pm_err_sys(err, -errno, "ask for the allowed CPUs");
	source.cpus = &allowed;
	return pm_topology_load(ret, &source, err);
}
