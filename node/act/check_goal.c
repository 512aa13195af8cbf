/* SPDX-License-Identifier: Apache-2.0 */
#include "node/act/check_goal.h"

#include <errno.h>

#include "base/cleanup.h"
#include "base/strv.h"
#include "node/state/state.h"
#include "node/tools/tools.h"

static int check_version(const struct pm_config *config, struct pm_err *err)
{
	struct pm_ipmctl_version version;
	int rc = pm_tool_version(config, &version, err);

	if (rc || !pm_strv_contains(config->bad_ipmctl_versions, version.text))
		return rc;
	return pm_err_set(err, -EPERM,
		"ipmctl %s is one of BadIpmctlVersions: it loses goals; install another",
		version.text);
}

static int check_roster(
	const struct pm_config *config, const struct pm_dimms *dimms, struct pm_err *err)
{
	cleanup_with(pm_dimms_done) struct pm_dimms roster = {0};
	int rc = pm_state_read_roster(config, &roster, err);

	return rc ? rc : pm_check_roster(&roster, dimms, err);
}

/* ipmctl is asked for slots only if DRAM becomes a cache. */
static int check_sockets(const struct pm_config *config, const struct pm_goal_request *request,
	const struct pm_dimms *dimms, struct pm_err *err)
{
	cleanup_with(pm_slots_done) struct pm_slots slots = {0};
	int rc;

	if (!pm_platform_has_volatile(request->platform))
		return 0;
	rc = pm_tool_slots(config, &slots, err);
	return rc ? rc : pm_check_sockets(request, dimms, &slots, err);
}

int pm_check_goal(const struct pm_config *config, const struct pm_goal_request *request,
	const struct pm_capabilities *capabilities, const struct pm_dimms *dimms,
	struct pm_err *err)
{
	int rc = check_roster(config, dimms, err);

	if (!rc)
		rc = pm_check_dimms(dimms, err);
	if (!rc)
		rc = pm_check_platform(request->platform, capabilities, err);
	if (!rc)
		rc = pm_check_shares(request, dimms, err);
	if (!rc)
		rc = check_sockets(config, request, dimms, err);
	return rc ? rc : check_version(config, err);
}

static int check_namespaces(const struct pm_config *config, struct pm_err *err)
{
	cleanup_with(pm_namespaces_done) struct pm_namespaces found = {0};
	int rc = pm_tool_namespaces(config, &found, err);

	if (rc || !found.n)
		return rc;
	return pm_err_set(err, -EPERM,
		"there are %zu namespaces, the first is %s%s%s%s (%llu bytes); save what is in "
		"them, then remove them with 'ndctl destroy-namespace -f %s'",
		found.n, found.list[0].dev, *found.list[0].name ? " named '" : "",
		found.list[0].name, *found.list[0].name ? "'" : "",
		(unsigned long long)found.list[0].size_bytes, found.list[0].dev);
}

static int check_capacity(const struct pm_config *config, struct pm_err *err)
{
	cleanup_with(pm_regions_done) struct pm_regions regions = {0};
	int rc = pm_tool_regions(config, &regions, err);

	for (size_t i = 0; !rc && i < regions.n; i++) {
		const struct pm_region *region = &regions.list[i];

		if (region->free_bytes != region->capacity_bytes)
			rc = pm_err_set(err, -EPERM,
				"ndctl shows no namespace, but for ipmctl %llu of %llu bytes of "
				"region %s on socket %s are taken; look at the labels with 'ndctl "
				"read-labels'",
				(unsigned long long)(region->capacity_bytes - region->free_bytes),
				(unsigned long long)region->capacity_bytes, region->id,
				region->socket);
	}
	return rc;
}

int pm_check_empty(
	const struct pm_config *config, const struct pm_kernel *kernel, struct pm_err *err)
{
	int rc = check_namespaces(config, err);

	return rc || !kernel->n_regions ? rc : check_capacity(config, err);
}
