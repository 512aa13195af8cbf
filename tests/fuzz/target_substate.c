/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Three texts with NULs between them: what `ndctl list` and `daxctl list` print, and mountinfo.
 * From them the inventory, and from that the way to each sub-state. Whatever a tool prints, no step
 * may touch a namespace that is not ours, or destroy one that is pinned.
 */
#include "node/act/steps.h"
#include "tests/fuzz/fuzz.h"

static int socket_of(void *context, int numa_node)
{
	(void)context;
	return numa_node;
}

static bool destroys(enum pm_step_kind kind)
{
	return kind == PM_STEP_WIPE || kind == PM_STEP_REMOVE || kind == PM_STEP_FORMAT ||
	       kind == PM_STEP_CLEAR || kind == PM_STEP_RAM;
}

static void check_plan(
	const struct pm_inventory *inventory, enum pm_substate wanted, bool leftovers)
{
	const struct pm_target target = {.substate = wanted, .only_leftovers = leftovers};
	cleanup_with(pm_steps_done) struct pm_steps steps = {0};
	struct pm_err err = {0};
	int rc = pm_steps_plan(inventory, &target, &steps, &err);

	CHECK_RESULT(rc, err);
	for (size_t i = 0; i < steps.n; i++) {
		const struct pm_inventory_ns *ns = steps.list[i].ns;

		CHECK(pm_step_name(steps.list[i].kind));
		CHECK(!ns || ns->is_own);
		CHECK(!ns || !ns->is_pinned || !destroys(steps.list[i].kind));
	}
}

static void check_plans(struct pm_inventory *inventory)
{
	pm_inventory_foreach(ns, region, inventory)
	{
		CHECK_FITS(ns->device);
		CHECK_FITS(ns->elsewhere);
		ns->is_pinned = ns->nd.uuid[0] & 1;
	}
	for (int wanted = PM_SUBSTATE_EMPTY; wanted <= PM_SUBSTATE_FLAT; wanted++)
		check_plan(inventory, (enum pm_substate)wanted, false);
	check_plan(inventory, PM_SUBSTATE_EMPTY, true);
}

static void fuzz(const char *regions_text, const char *daxes_text, const char *mounts_text)
{
	cleanup_with(pm_nd_regions_done) struct pm_nd_regions regions = {0};
	cleanup_with(pm_daxes_done) struct pm_daxes daxes = {0};
	cleanup_with(pm_mounts_done) struct pm_mounts mounts = {0};
	cleanup_with(pm_inventory_done) struct pm_inventory inventory = {0};
	struct pm_err err = {0};
	int rc = pm_ndctl_regions(regions_text, strlen(regions_text), &regions, &err);

	CHECK_RESULT(rc, err);
	if (!rc)
		rc = pm_daxctl_devices(daxes_text, strlen(daxes_text), &daxes, &err);
	if (!rc)
		rc = pm_inventory_make(
			&regions, &daxes, "/mnt/slurm-pmem", socket_of, NULL, &inventory, &err);
	CHECK_RESULT(rc, err);
	if (rc)
		return;
	if (!pm_mounts_read(mounts_text, &mounts, &err))
		pm_inventory_add_mounts(&inventory, &mounts);
	check_plans(&inventory);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_free char *text = pm_fuzz_text(data, size);
	const char *texts[3] = {text, "", ""};
	size_t at = 0;

	for (int i = 1; i < 3; i++) {
		at += strlen(text + at) + 1;
		if (at > size)
			break;
		texts[i] = text + at;
	}
	fuzz(texts[0], texts[1], texts[2]);
	return 0;
}
