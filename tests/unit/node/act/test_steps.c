/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>

#include "node/act/steps.h"
#include "tests/unit/recorded.h"
#include "tests/unit/tap.h"

/* "unmount wipe remove": the kinds, each for both regions; "wipe:0" for one of them alone. */
static const char *describe(const struct pm_inventory *inventory, const struct pm_steps *steps)
{
	static char text[400];
	size_t used = 0;

	text[0] = '\0';
	for (size_t i = 0; i < steps->n; i++) {
		const struct pm_step *step = &steps->list[i];
		bool is_pair = i + 1 < steps->n && steps->list[i + 1].kind == step->kind &&
			       steps->list[i + 1].region != step->region;
		char region[24] = "";

		if (!is_pair)
			snprintf(region, sizeof(region), ":%d",
				(int)(step->region - inventory->list));
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s%s",
			used ? " " : "", pm_step_name(step->kind), region);
		i += is_pair;
	}
	return text;
}

static const char *way(
	const struct pm_inventory *inventory, struct pm_target target, int rc, struct pm_err *err)
{
	struct pm_steps steps = {0};
	const char *text;
	int got = pm_steps_plan(inventory, &target, &steps, err);

	if (got != rc)
		return got ? err->text : "it may be done";
	text = describe(inventory, &steps);
	pm_steps_done(&steps);
	return text;
}

/* Facts: what is mounted or memory cannot be destroyed; memory has no bytes to wipe. */
static const struct {
	const char *from;
	enum pm_substate to;
	const char *steps;
} transitions[] = {
	{"empty", PM_SUBSTATE_EMPTY, ""},
	{"empty", PM_SUBSTATE_FSDAX, "make format mount"},
	{"empty", PM_SUBSTATE_DEVDAX, "make clear"},
	{"empty", PM_SUBSTATE_FLAT, "make ram"},
	{"fsdax", PM_SUBSTATE_EMPTY, "unmount wipe remove"},
	{"fsdax", PM_SUBSTATE_FSDAX, ""},
	{"fsdax", PM_SUBSTATE_DEVDAX, "unmount remove make clear"},
	{"fsdax", PM_SUBSTATE_FLAT, "unmount remove make ram"},
	{"devdax", PM_SUBSTATE_EMPTY, "wipe remove"},
	{"devdax", PM_SUBSTATE_FSDAX, "remove make format mount"},
	{"devdax", PM_SUBSTATE_DEVDAX, "clear"},
	{"devdax", PM_SUBSTATE_FLAT, "remove make ram"},
	{"flat", PM_SUBSTATE_EMPTY, "offline wipe remove"},
	{"flat", PM_SUBSTATE_FSDAX, "offline remove make format mount"},
	{"flat", PM_SUBSTATE_DEVDAX, "offline remove make clear"},
	{"flat", PM_SUBSTATE_FLAT, ""},
	/* Half done. */
	{"flat-offline", PM_SUBSTATE_FLAT, "online:0"},
	{"flat-offline", PM_SUBSTATE_EMPTY, "offline wipe remove"},
	{"flat-disabled", PM_SUBSTATE_FLAT, "repair:0 ram:0"},
	{"flat-disabled", PM_SUBSTATE_EMPTY, "offline:1 repair:0 wipe remove"},
	{"disabled", PM_SUBSTATE_EMPTY, "enable:0 wipe:1 remove:1"},
	{"disabled", PM_SUBSTATE_DEVDAX, "enable:0 clear:1"},
};

static void test_transitions(const char *set)
{
	FOR_EACH(row, transitions)
	{
		const struct pm_target target = {.substate = row->to};
		struct pm_inventory inventory = {0};
		struct pm_err err = {0};
		char name[80];

		recorded_inventory(set, row->from, &inventory);
		snprintf(name, sizeof(name), "%s: %s to %s", set, row->from,
			pm_substate_name(row->to));
		is_text(way(&inventory, target, 0, &err), row->steps, name);
		pm_inventory_done(&inventory);
	}
}

/* --- states that take a change by hand ----------------------------------------------------- */

static void unformatted(struct pm_inventory *inventory)
{
	inventory->list[1].list[0].fs.uuid[0] = 'x';
	inventory->list[1].list[0].is_mounted = false;
}

static void unmounted(struct pm_inventory *inventory)
{
	inventory->list[0].list[0].is_mounted = false;
}

static void without_dax(struct pm_inventory *inventory)
{
	inventory->list[0].list[0].is_mounted = false;
	inventory->list[0].list[0].has_other_options = true;
}

static void half_made(struct pm_inventory *inventory)
{
	unmounted(inventory);
	strcpy(inventory->list[0].list[0].nd.mode, "raw");
}

static void first_clean(struct pm_inventory *inventory)
{
	inventory->list[0].list[0].is_clean = true;
}

static void unmovable(struct pm_inventory *inventory)
{
	inventory->list[0].list[0].dax.is_movable = false;
}

static void dirty(struct pm_inventory *inventory)
{
	inventory->list[1].is_dirty = true;
}

static void clean_and_disabled(struct pm_inventory *inventory)
{
	first_clean(inventory);
	inventory->list[0].list[0].nd.is_disabled = true;
}

static const struct {
	const char *from;
	void (*change)(struct pm_inventory *inventory);
	struct pm_target target;
	const char *steps, *name;
} odd_cases[] = {
	{"flat", NULL, {PM_SUBSTATE_EMPTY, true, true, NULL, false, true, false, false}, "offline",
		"the kernel gives memory back, and nothing is wiped"},
	{"fsdax", unformatted, {PM_SUBSTATE_EMPTY, true, true, NULL, false, true, false, false}, "",
		"only memory is given back"},
	{"flat", NULL, {PM_SUBSTATE_FLAT, false, true, NULL, false, false, false, false}, "",
		"flat memory is used as it is"},
	{"fsdax", unformatted, {PM_SUBSTATE_FSDAX, false, false, NULL, false, false, false, false},
		"format:1 mount:1", "a namespace with the file system of an earlier one"},
	{"fsdax", unmounted, {PM_SUBSTATE_FSDAX, false, false, NULL, false, false, false, false},
		"mount:0", "after a reboot: mounted again, not made again"},
	{"fsdax", without_dax, {PM_SUBSTATE_FSDAX, false, false, NULL, false, false, false, false},
		"unmount:0 mount:0", "mounted by hand, without DAX"},
	{"fsdax", half_made, {PM_SUBSTATE_FSDAX, false, false, NULL, false, false, false, false},
		"remove:0 make:0 format:0 mount:0", "killed while it was made"},
	{"fsdax", NULL, {PM_SUBSTATE_EMPTY, true, false, NULL, false, false, false, false}, "",
		"leftovers: file systems stay"},
	{"fsdax", NULL, {PM_SUBSTATE_EMPTY, false, true, NULL, false, false, false, false},
		"unmount convert wipe remove", "wiped as devices"},
	{"fsdax", NULL, {PM_SUBSTATE_FLAT, false, true, NULL, false, false, false, false},
		"unmount remove make ram", "what stays ours is not wiped"},
	{"empty", dirty, {PM_SUBSTATE_EMPTY, false, true, NULL, false, false, false, false},
		"convert:1 wipe:1 remove:1", "lost while it was converted"},
	{"empty", dirty, {PM_SUBSTATE_EMPTY, true, true, NULL, false, false, false, false},
		"convert:1 wipe:1 remove:1", "leftovers: lost while it was converted"},
	{"empty", dirty, {PM_SUBSTATE_DEVDAX, false, true, NULL, false, false, false, false},
		"make clear", "dirty: devices are wiped anyway"},
	{"fsdax", half_made, {PM_SUBSTATE_EMPTY, true, false, NULL, false, false, false, false},
		"wipe:0 remove:0", "leftovers: half made"},
	{"fsdax", unformatted, {PM_SUBSTATE_EMPTY, true, false, NULL, false, false, false, false},
		"wipe:1 remove:1", "leftovers: not formatted"},
	{"flat", NULL, {PM_SUBSTATE_EMPTY, true, false, NULL, false, false, false, false},
		"offline wipe remove", "leftovers: flat memory"},
	{"foreign", NULL, {PM_SUBSTATE_EMPTY, true, false, NULL, false, false, false, false}, "",
		"leftovers: nothing foreign"},
	{"devdax", first_clean,
		{PM_SUBSTATE_DEVDAX, false, false, NULL, false, false, false, false}, "clear:1",
		"one was wiped already"},
	{"devdax", first_clean, {PM_SUBSTATE_EMPTY, false, false, NULL, false, false, false, false},
		"wipe:1 remove", "one was wiped and not removed"},
	{"devdax", clean_and_disabled,
		{PM_SUBSTATE_EMPTY, false, false, NULL, false, false, false, false},
		"wipe:1 remove", "its keys were changed"},
	{"flat", unmovable, {PM_SUBSTATE_FLAT, false, false, NULL, false, false, false, false},
		"offline:0 ram:0", "online in the wrong zone"},
};

static void test_odd_states(void)
{
	FOR_EACH(row, odd_cases)
	{
		struct pm_inventory inventory = {0};
		struct pm_err err = {0};

		recorded_inventory("ndctl-81", row->from, &inventory);
		if (row->change)
			row->change(&inventory);
		is_text(way(&inventory, row->target, 0, &err), row->steps, row->name);
		pm_inventory_done(&inventory);
	}
}

/* --- refusals ------------------------------------------------------------------------------ */

static void pinned(struct pm_inventory *inventory)
{
	inventory->list[1].list[0].is_pinned = true;
}

static void elsewhere(struct pm_inventory *inventory)
{
	strcpy(inventory->list[0].list[0].elsewhere, "/srv");
}

static void occupied(struct pm_inventory *inventory)
{
	strcpy(inventory->list[0].occupant, "/dev/sda1");
}

static void no_target_node(struct pm_inventory *inventory)
{
	inventory->list[1].nd.target_node = -1;
}

static void same_target_node(struct pm_inventory *inventory)
{
	inventory->list[1].nd.target_node = inventory->list[0].nd.target_node;
}

static void target_is_dram(struct pm_inventory *inventory)
{
	inventory->list[0].nd.target_node = inventory->list[0].nd.numa_node;
}

static void stale_labels(struct pm_inventory *inventory)
{
	inventory->list[0].nd.available_bytes = 0;
}

static void disabled_region(struct pm_inventory *inventory)
{
	inventory->list[0].nd.is_disabled = true;
}

static void no_regions(struct pm_inventory *inventory)
{
	pm_inventory_done(inventory);
}

static const struct {
	const char *from;
	void (*change)(struct pm_inventory *inventory);
	struct pm_target target;
	int rc;
	const char *text;
} refusals[] = {
	{"foreign", NULL, {PM_SUBSTATE_EMPTY, false, false, NULL, false, false, false, false},
		-EPERM,
		"namespace0.0 named 'data' of region0 (4225761280 bytes) is not slurm-pmem's; "
		"save"},
	{"foreign", NULL, {PM_SUBSTATE_FSDAX, false, false, NULL, false, false, false, false},
		-EPERM, "'ndctl destroy-namespace -f namespace0.0'"},
	{"devdax", pinned, {PM_SUBSTATE_EMPTY, false, false, NULL, false, false, false, false},
		-EPERM,
		"namespace1.0 named 'slurm-devdax' of region1 (4225761280 bytes) is pinned"},
	{"devdax", pinned, {PM_SUBSTATE_DEVDAX, false, false, NULL, false, false, false, false},
		-EPERM, "'pmctl unpin namespace1.0'"},
	{"flat", pinned, {PM_SUBSTATE_FSDAX, false, false, NULL, false, false, false, false},
		-EPERM, "is pinned"},
	{"empty", NULL, {PM_SUBSTATE_EMPTY, false, false, "c4708bbc", false, false, false, false},
		-EPERM, "pinned namespace c4708bbc is missing"},
	{"empty", NULL, {PM_SUBSTATE_FSDAX, false, false, "c4708bbc", false, false, false, false},
		-EPERM, "pinned namespace c4708bbc is missing"},
	{"fsdax", elsewhere, {PM_SUBSTATE_EMPTY, false, false, NULL, false, false, false, false},
		-EBUSY, "is mounted on '/srv'; 'umount /srv'"},
	{"empty", occupied, {PM_SUBSTATE_FSDAX, false, false, NULL, false, false, false, false},
		-EBUSY, "'/dev/sda1' is mounted on it; run 'umount /mnt/slurm-pmem/socket"},
	{"empty", no_target_node,
		{PM_SUBSTATE_FLAT, false, false, NULL, false, false, false, false}, -EOPNOTSUPP,
		"region1 cannot be memory"},
	{"empty", same_target_node,
		{PM_SUBSTATE_FLAT, false, false, NULL, false, false, false, false}, -EOPNOTSUPP,
		"it shares NUMA node 2 with region"},
	{"empty", target_is_dram,
		{PM_SUBSTATE_FLAT, false, false, NULL, false, false, false, false}, -EOPNOTSUPP,
		"with its socket's DRAM"},
	{"empty", stale_labels,
		{PM_SUBSTATE_DEVDAX, false, false, NULL, false, false, false, false}, -EIO,
		"region0 has no namespace and yet only 0 of 4294967296 bytes free"},
	{"empty", disabled_region,
		{PM_SUBSTATE_FSDAX, false, false, NULL, false, false, false, false}, -EIO,
		"region0 is disabled"},
	{"empty", no_regions, {PM_SUBSTATE_FSDAX, false, false, NULL, false, false, false, false},
		-ENODEV, "no persistent regions"},
};

static void test_refusals(void)
{
	FOR_EACH(row, refusals)
	{
		struct pm_inventory inventory = {0};
		struct pm_steps steps = {0};
		struct pm_err err = {0};

		recorded_inventory("ndctl-81", row->from, &inventory);
		if (row->change)
			row->change(&inventory);
		is_number(
			pm_steps_plan(&inventory, &row->target, &steps, &err), row->rc, row->text);
		has_text(err.text, row->text, "the sentence");
		ok(!steps.list, "nothing is returned");
		pm_inventory_done(&inventory);
	}
}

/* What does not touch the pinned bytes may be done. */
static const struct {
	const char *from;
	void (*change)(struct pm_inventory *inventory);
	struct pm_target target;
	const char *steps, *name;
} allowed[] = {
	{"fsdax", pinned, {PM_SUBSTATE_FSDAX, false, false, NULL, false, false, false, false}, "",
		"pinned and as wanted"},
	{"fsdax", NULL, {PM_SUBSTATE_FSDAX, false, false, "c4708bbc", false, false, false, false},
		"", "a pin is lost, as wanted"},
	{"devdax", pinned, {PM_SUBSTATE_EMPTY, true, false, NULL, false, false, false, false},
		"wipe:0 remove:0", "leftovers: the pinned one stays"},
	{"fsdax", elsewhere, {PM_SUBSTATE_FSDAX, false, false, NULL, false, false, false, false},
		"", "mounted elsewhere too"},
	{"empty", no_regions, {PM_SUBSTATE_EMPTY, false, false, NULL, false, false, false, false},
		"", "no regions are empty"},
	{"empty", no_target_node,
		{PM_SUBSTATE_DEVDAX, false, false, NULL, false, false, false, false}, "make clear",
		"a device needs no node"},
};

static void test_allowed(void)
{
	FOR_EACH(row, allowed)
	{
		struct pm_inventory inventory = {0};
		struct pm_err err = {0};

		recorded_inventory("ndctl-81", row->from, &inventory);
		if (row->change)
			row->change(&inventory);
		is_text(way(&inventory, row->target, 0, &err), row->steps, row->name);
		pm_inventory_done(&inventory);
	}
}

int main(void)
{
	test_transitions("ndctl-81");
	test_transitions("ndctl-76");
	test_odd_states();
	test_refusals();
	test_allowed();
	return tap_done();
}
