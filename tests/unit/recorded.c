/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/recorded.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
