/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "agent/pmctl.h"
#include "agent/print.h"
#include "node/see/observe.h"

static const char *source(const struct pm_observation *seen)
{
	return seen->from_record ? "record" : "ipmctl";
}

static void print_json(const struct pm_observation *seen)
{
	json_object *root = json_object_new_object();
	const struct pm_kernel *kernel = &seen->record.kernel;

	pm_json_add_string(root, "mode", pm_mode_name(seen->record.verdict.mode));
	pm_json_add_string(root, "platform", pm_platform_name(seen->record.verdict.platform));
	pm_json_add_string(root, "why", seen->record.verdict.why);
	pm_json_add_string(root, "source", source(seen));
	if (seen->from_record)
		pm_json_add_string(root, "recorded", seen->record.time);
	pm_json_add_string(root, "boot_id", kernel->boot_id);
	pm_json_add_u64(root, "mem_total_bytes", kernel->mem_total_bytes);
	pm_json_add_u64(root, "n_regions", kernel->n_regions);
	pm_json_add_u64(root, "region_bytes", kernel->region_bytes);
	pm_json_add_u64(root, "n_flat_regions", kernel->n_flat_regions);
	pm_json_add_u64(root, "flat_bytes", kernel->flat_bytes);
	pm_json_add_u64(root, "side_cache_bytes", kernel->side_cache_bytes);
	pm_print_json(root);
}

static void print_text(const struct pm_agent *agent, const struct pm_observation *seen)
{
	const struct pm_kernel *kernel = &seen->record.kernel;

	puts(pm_mode_name(seen->record.verdict.mode));
	if (!(agent->given & PM_OPT_VERBOSE))
		return;
	printf("seen by: %s\n", seen->record.verdict.why);
	if (kernel->n_flat_regions)
		printf("system-ram: %llu of %llu regions, %.1f GiB\n",
			(unsigned long long)kernel->n_flat_regions,
			(unsigned long long)kernel->n_regions,
			(double)kernel->flat_bytes / (1 << 30));
	if (seen->from_record)
		printf("source: record of %s\n", seen->record.time);
	else
		printf("source: ipmctl and the kernel, now\n");
	printf("boot: %s\n", seen->record.kernel.boot_id);
}

int pm_verb_mode(struct pm_agent *agent)
{
	struct pm_observation seen;
	struct pm_err err;

	if (pm_observe(&agent->op.config, agent->given & PM_OPT_FRESH, &seen, &err))
		return pm_fail(agent, &err);
	if (agent->given & PM_OPT_JSON)
		print_json(&seen);
	else
		print_text(agent, &seen);
	return PM_EXIT_DONE;
}
