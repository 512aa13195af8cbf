/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>

#include "node/tools/ndctl.h"
#include "tests/unit/scratch.h"
#include "tests/unit/tap.h"

static const struct {
	const char *file;
	int rc;
	size_t n;
} cases[] = {
	{"nothing", 0, 0},
	{"seed-only.json", 0, 0},
	{"hand-made/empty-array.json", 0, 0},
	{"one-object.json", 0, 1},
	{"array-with-seed.json", 0, 2},
	{"hand-made/truncated.json", -EBADMSG, 0},
	{"hand-made/no-size.json", -EBADMSG, 0},
	{"hand-made/no-dev.json", -EBADMSG, 0},
	{"hand-made/negative.json", -EBADMSG, 0},
	{"hand-made/size-string.json", -EBADMSG, 0},
	{"hand-made/number.json", -EBADMSG, 0},
	{"hand-made/trailing.json", -EBADMSG, 0},
	{"hand-made/words.txt", -EBADMSG, 0},
};

static const char *recorded(const char *name, size_t *ret_length)
{
	char path[200];

	snprintf(path, sizeof(path), "ndctl/%s", name);
	return fixture(path, ret_length);
}

static void test_forms(void)
{
	FOR_EACH(row, cases)
	{
		struct pm_namespaces got = {0};
		struct pm_err err = {0};
		size_t length;
		const char *text = recorded(row->file, &length);

		is_number(pm_ndctl_namespaces(text, length, &got, &err), row->rc, row->file);
		is_number((long long)got.n, (long long)row->n, "how many");
		if (row->rc)
			has_text(err.text, "it printed: '", "what was printed is quoted");
		pm_namespaces_done(&got);
	}
}

static void test_fields(void)
{
	struct pm_namespaces got = {0};
	size_t length;
	const char *text = recorded("array-with-seed.json", &length);

	pm_ndctl_namespaces(text, length, &got, NULL);
	is_text(got.list[0].dev, "namespace1.0", "device");
	is_text(got.list[0].mode, "fsdax", "mode");
	is_text(got.list[0].name, "slurm-17", "name");
	is_text(got.list[1].name, "", "no name");
	is_number((long long)got.list[1].size_bytes, 4225761280, "size");
	pm_namespaces_done(&got);
}

static const char *of_regions(const char *file, size_t *ret_length)
{
	char path[200];

	snprintf(path, sizeof(path), "substate/%s", file);
	return fixture(path, ret_length);
}

static const struct {
	const char *file;
	int rc;
	size_t n, n_namespaces; /* of all regions */
} region_cases[] = {
	{"ndctl-81/empty.regions.json", 0, 2, 0},
	{"ndctl-81/foreign.regions.json", 0, 2, 2},
	{"ndctl-81/fsdax.regions.json", 0, 2, 2},
	{"ndctl-81/flat.regions.json", 0, 2, 2},
	{"ndctl-81/one-region.regions.json", 0, 1, 1},
	{"ndctl-81/plain-array.regions.json", 0, 2, 0},
	{"ndctl-81/plain-object.regions.json", 0, 1, 0},
	{"ndctl-81/empty.daxes.json", 0, 0, 0},
	{"hand-made/volatile-region.json", 0, 1, 0},
	{"hand-made/one-namespace-object.json", 0, 1, 1},
	{"hand-made/no-available-size.json", -EBADMSG, 0, 0},
	{"hand-made/region-number.json", -EBADMSG, 0, 0},
	{"hand-made/node-too-large.json", -EBADMSG, 0, 0},
	{"hand-made/second-namespace-bad.json", -EBADMSG, 0, 0},
	{"hand-made/truncated.json", -EBADMSG, 0, 0},
};

static void test_region_forms(void)
{
	FOR_EACH(row, region_cases)
	{
		struct pm_nd_regions got = {0};
		struct pm_err err = {0};
		size_t length, n = 0;
		const char *text = of_regions(row->file, &length);

		is_number(pm_ndctl_regions(text, length, &got, &err), row->rc, row->file);
		for (size_t i = 0; i < got.n; i++)
			n += got.list[i].namespaces.n;
		is_number((long long)got.n, (long long)row->n, "regions");
		is_number((long long)n, (long long)row->n_namespaces, "namespaces");
		if (row->rc)
			has_text(err.text, "regions of ndctl expected", "what was expected");
		pm_nd_regions_done(&got);
	}
}

static void test_region_fields(void)
{
	struct pm_nd_regions got = {0};
	const struct pm_nd_region *region;
	size_t length;
	const char *text = of_regions("ndctl-81/disabled.regions.json", &length);

	pm_ndctl_regions(text, length, &got, NULL);
	region = &got.list[0];
	is_text(region->dev, "region1", "device");
	is_number(region->numa_node, 1, "numa_node");
	is_number(region->target_node, 3, "target_node");
	ok(region->iset_id == 16271752734322008903ULL, "iset_id beyond INT64_MAX");
	is_number((long long)region->size_bytes, 4294967296, "size");
	is_number((long long)region->available_bytes, 0, "available");
	is_text(region->namespaces.list[0].chardev, "dax1.0", "device of the dax region");
	ok(!region->namespaces.list[0].is_disabled, "enabled");
	ok(got.list[1].namespaces.list[0].is_disabled, "disabled");
	is_text(got.list[1].namespaces.list[0].name, "slurm-devdax", "the name stays");
	is_text(got.list[1].namespaces.list[0].chardev, "", "no device");
	pm_nd_regions_done(&got);
}

/* The label's UUID is printed as raw_uuid while it is enabled, and as uuid while it is not. */
static void test_uuid_of_the_label(void)
{
	struct pm_nd_regions on = {0}, off = {0};
	size_t length;
	const char *text = of_regions("ndctl-81/devdax.regions.json", &length);

	pm_ndctl_regions(text, length, &on, NULL);
	text = of_regions("ndctl-81/disabled.regions.json", &length);
	pm_ndctl_regions(text, length, &off, NULL);
	is_number((long long)strlen(on.list[1].namespaces.list[0].uuid), 36, "there is one");
	is_text(on.list[1].namespaces.list[0].uuid, off.list[1].namespaces.list[0].uuid,
		"enabled and disabled");
	pm_nd_regions_done(&on);
	pm_nd_regions_done(&off);
}

int main(void)
{
	test_region_forms();
	test_region_fields();
	test_uuid_of_the_label();
	test_forms();
	test_fields();
	return tap_done();
}
