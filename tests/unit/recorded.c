/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/recorded.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "tests/unit/scratch.h"

static const char *recorded(const char *state, const char *file, size_t *ret_length)
{
	char path[200];

	snprintf(path, sizeof(path), "ipmctl/%s%s%s", state, *state ? "/" : "", file);
	return fixture(path, ret_length);
}

static void must(int rc, const struct pm_err *err)
{
	if (!rc)
		return;
	fprintf(stderr, "%s\n", err->text);
	exit(2);
}

static void agree(const struct pm_evidence *evidence, struct pm_kernel *kernel)
{
	const struct pm_resources *r = &evidence->resources;

	strcpy(kernel->boot_id, "11111111-2222-3333-4444-555555555555");
	kernel->mem_total_bytes = (r->volatile_ddr_bytes + r->volatile_pmem_bytes) / 100 * 98;
	kernel->n_regions = evidence->regions.n;
	kernel->region_bytes = r->appdirect_pmem_bytes;
}

void recorded_evidence(const char *state, struct pm_evidence *ret)
{
	struct pm_err err;
	size_t length;
	const char *text = recorded(state, "memoryresources.xml", &length);

	*ret = (struct pm_evidence){0};
	must(pm_ipmctl_resources(text, length, &ret->resources, &err), &err);
	text = recorded(state, "capabilities.xml", &length);
	must(pm_ipmctl_capabilities(text, length, &ret->capabilities, &err), &err);
	text = recorded(state, "dimm.xml", &length);
	must(pm_ipmctl_dimms(text, length, &ret->dimms, &err), &err);
	text = recorded(state, "region.xml", &length);
	must(pm_ipmctl_regions(text, length, &ret->regions, &err), &err);
	agree(ret, &ret->kernel);
}

void recorded_dimms(const char *file, struct pm_dimms *ret)
{
	struct pm_err err;
	size_t length;
	const char *text = recorded("", file, &length);

	must(pm_ipmctl_dimms(text, length, ret, &err), &err);
}

void recorded_goals(const char *file, struct pm_goals *ret)
{
	struct pm_err err;
	size_t length;
	const char *text = recorded("", file, &length);

	must(pm_ipmctl_goals(text, length, ret, &err), &err);
}

static const char *substate_text(const char *set, const char *file, size_t *ret_length)
{
	char path[200];

	snprintf(path, sizeof(path), "substate/%s/%s", set, file);
	return fixture(path, ret_length);
}

static int socket_is_node(void *context, int numa_node)
{
	(void)context;
	return numa_node;
}

/* What sysfs and the devices would tell: pmem0 is 259:0, and so on. */
static void add_file_systems(struct pm_inventory *inventory, bool is_formatted)
{
	pm_inventory_foreach(ns, region, inventory)
	{
		if (*ns->nd.blockdev)
			snprintf(ns->device, sizeof(ns->device), "259:%.8s",
				ns->nd.blockdev + strlen("pmem"));
		if (!is_formatted || !*ns->nd.blockdev)
			continue;
		strcpy(ns->fs.type, "ext4");
		strcpy(ns->fs.uuid, ns->nd.uuid);
	}
}

void recorded_inventory(const char *set, const char *state, struct pm_inventory *ret)
{
	cleanup_with(pm_nd_regions_done) struct pm_nd_regions regions = {0};
	cleanup_with(pm_daxes_done) struct pm_daxes daxes = {0};
	cleanup_with(pm_mounts_done) struct pm_mounts mounts = {0};
	bool is_fsdax = !strcmp(state, "fsdax");
	char file[100];
	struct pm_err err;
	const char *text;
	size_t length;

	snprintf(file, sizeof(file), "%s.regions.json", state);
	text = substate_text(set, file, &length);
	must(pm_ndctl_regions(text, length, &regions, &err), &err);
	snprintf(file, sizeof(file), "%s.daxes.json", state);
	text = substate_text(set, file, &length);
	must(pm_daxctl_devices(text, length, &daxes, &err), &err);
	must(pm_mounts_read(
		     is_fsdax ? substate_text(set, "fsdax.mountinfo", &length) : "", &mounts, &err),
		&err);
	must(pm_inventory_make(
		     &regions, &daxes, "/mnt/slurm-pmem", socket_is_node, NULL, ret, &err),
		&err);
	add_file_systems(ret, is_fsdax);
	pm_inventory_add_mounts(ret, &mounts);
}
