/* SPDX-License-Identifier: Apache-2.0 */
#include "node/act/steps.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"

/* Upper bound: all steps of one namespace, and the making of another. */
#define MAX_STEPS_OF_ONE 8
#define DESCRIBE_MAX	 200

static const struct {
	const char *name;
	bool destroys; /* it destroys bytes of its namespace */
} kinds[PM_STEP_KINDS] = {
	[PM_STEP_ENABLE] = {"enable", false},
	[PM_STEP_OFFLINE] = {"offline", false},
	[PM_STEP_REPAIR] = {"repair", false},
	[PM_STEP_UNMOUNT] = {"unmount", false},
	[PM_STEP_CONVERT] = {"convert", true},
	[PM_STEP_WIPE] = {"wipe", true},
	[PM_STEP_REMOVE] = {"remove", true},
	[PM_STEP_MAKE] = {"make", false},
	[PM_STEP_FORMAT] = {"format", true},
	[PM_STEP_MOUNT] = {"mount", false},
	[PM_STEP_CLEAR] = {"clear", true},
	[PM_STEP_RAM] = {"ram", true},
	[PM_STEP_ONLINE] = {"online", false},
};

const char *pm_step_name(enum pm_step_kind kind)
{
	return kinds[kind].name;
}

struct planner {
	const struct pm_inventory *inventory;
	const struct pm_target *target;
	const struct pm_inventory_region *region; /* the region at hand */
	struct pm_steps steps;
};

static void add(struct planner *p, enum pm_step_kind kind, const struct pm_inventory_ns *ns)
{
	p->steps.list[p->steps.n++] = (struct pm_step){
		.kind = kind,
		.substate = p->target->substate,
		.region = p->region,
		.ns = ns,
	};
}

/* "namespace0.0 named 'x' of region0 (4225761280 bytes)" */
static const char *describe(const struct pm_inventory_region *region,
	const struct pm_inventory_ns *ns, char ret[DESCRIBE_MAX])
{
	const struct pm_namespace *nd = &ns->nd;

	snprintf(ret, DESCRIBE_MAX, "%s%s%s%s of %s (%llu bytes)", nd->dev,
		*nd->name ? " named '" : "", nd->name, *nd->name ? "'" : "", region->nd.dev,
		(unsigned long long)nd->size_bytes);
	return ret;
}

static int refuse_foreign(const struct pm_inventory *inventory, struct pm_err *err)
{
	char text[DESCRIBE_MAX];

	pm_inventory_foreach(ns, region, inventory)
	{
		if (!ns->is_own)
			return pm_err_set(err, -EPERM,
				"%s is not slurm-pmem's; save what is in it, then remove it with "
				"'ndctl destroy-namespace -f %s'",
				describe(region, ns, text), ns->nd.dev);
	}
	return 0;
}

static int refuse_pinned(const struct pm_steps *steps, struct pm_err *err)
{
	char text[DESCRIBE_MAX];

	for (size_t i = 0; i < steps->n; i++) {
		const struct pm_step *step = &steps->list[i];

		if (kinds[step->kind].destroys && step->ns && step->ns->is_pinned)
			return pm_err_set(err, -EPERM,
				"%s is pinned; if its data may be destroyed, run 'pmctl unpin %s'",
				describe(step->region, step->ns, text), step->ns->nd.dev);
	}
	return 0;
}

/* A missing module may hide the labels of a pinned namespace: nothing may be written over them. */
static int refuse_lost_pin(
	const struct pm_target *target, const struct pm_steps *steps, struct pm_err *err)
{
	bool writes = target->substate == PM_SUBSTATE_EMPTY;

	for (size_t i = 0; i < steps->n; i++)
		writes |=
			kinds[steps->list[i].kind].destroys || steps->list[i].kind == PM_STEP_MAKE;
	if (!target->lost_pin || !writes)
		return 0;
	return pm_err_set(err, -EPERM,
		"pinned namespace %s is missing; find out why, or 'pmctl unpin' it",
		target->lost_pin);
}

/*
 * The persistent memory of a socket must not share its NUMA node with another socket or with DRAM.
 */
static int check_target_nodes(const struct pm_inventory *inventory, struct pm_err *err)
{
	for (size_t i = 0; i < inventory->n; i++) {
		const struct pm_inventory_region *a = &inventory->list[i];

		if (a->nd.target_node < 0)
			return pm_err_set(err, -EOPNOTSUPP,
				"%s cannot be memory: the firmware's tables give it no NUMA node "
				"(target_node); a newer BIOS may",
				a->nd.dev);
		for (size_t k = 0; k < inventory->n; k++) {
			const struct pm_inventory_region *b = &inventory->list[k];

			if (a->nd.target_node == b->nd.numa_node ||
				(a->socket != b->socket && a->nd.target_node == b->nd.target_node))
				return pm_err_set(err, -EOPNOTSUPP,
					"%s cannot be memory: it shares NUMA node %d with %s",
					a->nd.dev, a->nd.target_node,
					a == b ? "its socket's DRAM" : b->nd.dev);
		}
	}
	return 0;
}

static int check_space(const struct pm_inventory_region *region, struct pm_err *err)
{
	if (region->nd.is_disabled)
		return pm_err_set(err, -EIO,
			"%s is disabled; look at 'dmesg', then 'ndctl enable-region %s'",
			region->nd.dev, region->nd.dev);
	if (!region->n && region->nd.available_bytes < region->nd.size_bytes)
		return pm_err_set(err, -EIO,
			"%s has no namespace and yet only %llu of %llu bytes free: its labels are "
			"of an earlier configuration; stage a mode again and reboot, which blanks "
			"them",
			region->nd.dev, (unsigned long long)region->nd.available_bytes,
			(unsigned long long)region->nd.size_bytes);
	return 0;
}

static int refuse_use(const struct planner *p, const struct pm_inventory_ns *ns, struct pm_err *err)
{
	char text[DESCRIBE_MAX];

	if (!*ns->elsewhere)
		return 0;
	return pm_err_set(err, -EBUSY, "%s is mounted on '%s'; 'umount %s'",
		describe(p->region, ns, text), ns->elsewhere, ns->elsewhere);
}

/* system-ram becomes devdax and file systems are unmounted before any other step. */
static void add_release(struct planner *p, const struct pm_inventory_ns *ns)
{
	if (pm_dax_is_ram(&ns->dax))
		add(p, PM_STEP_OFFLINE, ns);
	else if (ns->dax.is_disabled)
		add(p, PM_STEP_REPAIR, ns);
	if (ns->is_mounted || ns->has_other_options)
		add(p, PM_STEP_UNMOUNT, ns);
}

/*
 * Conversion makes another namespace, which the steps after it do not know yet: their `ns` is NULL.
 */
static void add_conversion(struct planner *p, const struct pm_inventory_ns *ns)
{
	add(p, PM_STEP_CONVERT, ns);
	add(p, PM_STEP_WIPE, NULL);
	add(p, PM_STEP_REMOVE, NULL);
}

static bool frees_bytes(const struct planner *p)
{
	return p->target->substate == PM_SUBSTATE_EMPTY && !p->target->leaves_bytes &&
	       !p->target->only_offline;
}

static int plan_removal(struct planner *p, const struct pm_inventory_ns *ns, struct pm_err *err)
{
	bool wipes = frees_bytes(p) && !ns->is_clean;
	int rc = refuse_use(p, ns, err);

	if (rc)
		return rc;
	add_release(p, ns);
	if (wipes && p->target->converts && !strcmp(ns->nd.mode, "fsdax") &&
		p->region->nd.iset_id) {
		add_conversion(p, ns);
		return 0;
	}
	if (wipes)
		add(p, PM_STEP_WIPE, ns);
	add(p, PM_STEP_REMOVE, ns);
	return 0;
}

/* A namespace of the wrong kind, or half made. */
static int plan_other(struct planner *p, const struct pm_inventory_ns *ns, struct pm_err *err)
{
	bool is_kept = p->target->only_leftovers &&
		       (!ns->is_own || ns->is_pinned ||
			       (pm_inventory_serving(p->region, PM_SUBSTATE_FSDAX) == ns &&
				       pm_inventory_is_formatted(ns)));

	if (p->target->only_offline) {
		if (ns->is_own && pm_dax_is_ram(&ns->dax))
			add(p, PM_STEP_OFFLINE, ns);
		return 0;
	}
	if (is_kept)
		return 0;
	if (ns->nd.is_disabled && !ns->is_clean) {
		add(p, PM_STEP_ENABLE, ns);
		return 0;
	}
	return plan_removal(p, ns, err);
}

static int plan_fsdax(struct planner *p, const struct pm_inventory_ns *ns, struct pm_err *err)
{
	bool is_formatted = ns && pm_inventory_is_formatted(ns);
	bool is_in_use = ns && (ns->is_mounted || ns->has_other_options);

	if (is_formatted && ns->is_mounted)
		return 0;
	if (*p->region->occupant)
		return pm_err_set(err, -EBUSY,
			"'%s' is the mount point of %s, but '%s' is mounted on it; run 'umount %s'",
			p->region->mount_point, p->region->nd.dev, p->region->occupant,
			p->region->mount_point);
	if (is_in_use)
		add(p, PM_STEP_UNMOUNT, ns);
	if (!is_formatted) {
		int rc = ns ? refuse_use(p, ns, err) : 0;

		if (rc)
			return rc;
		add(p, PM_STEP_FORMAT, ns);
	}
	add(p, PM_STEP_MOUNT, ns);
	return 0;
}

static int plan_devdax(struct planner *p, const struct pm_inventory_ns *ns, struct pm_err *err)
{
	(void)err;
	if (ns)
		add_release(p, ns);
	if (!ns || !ns->is_clean)
		add(p, PM_STEP_CLEAR, ns);
	return 0;
}

static int plan_flat(struct planner *p, const struct pm_inventory_ns *ns, struct pm_err *err)
{
	const struct pm_dax *dax = ns ? &ns->dax : NULL;

	(void)err;
	if (!dax || !pm_dax_is_ram(dax)) {
		if (dax && dax->is_disabled)
			add(p, PM_STEP_REPAIR, ns);
		add(p, PM_STEP_RAM, ns);
	} else if (dax->online_blocks && !dax->is_movable) {
		add(p, PM_STEP_OFFLINE, ns);
		add(p, PM_STEP_RAM, ns);
	} else if (dax->online_blocks < dax->total_blocks) {
		add(p, PM_STEP_ONLINE, ns);
	}
	return 0;
}

static int (*const planners[])(
	struct planner *p, const struct pm_inventory_ns *ns, struct pm_err *err) = {
	[PM_SUBSTATE_FSDAX] = plan_fsdax,
	[PM_SUBSTATE_DEVDAX] = plan_devdax,
	[PM_SUBSTATE_FLAT] = plan_flat,
};

static int plan_region(struct planner *p, struct pm_err *err)
{
	enum pm_substate wanted = p->target->substate;
	const struct pm_inventory_ns *serving = pm_inventory_serving(p->region, wanted);
	bool is_hidden = false;
	int rc = 0;

	for (size_t i = 0; !rc && i < p->region->n; i++) {
		is_hidden |= p->region->list[i].nd.is_disabled;
		if (&p->region->list[i] != serving)
			rc = plan_other(p, &p->region->list[i], err);
	}
	if (!rc && frees_bytes(p) && p->region->is_dirty && !p->region->n)
		add_conversion(p, NULL);
	/* A disabled namespace may be the serving one: it is enabled, then all is planned again. */
	if (rc || wanted == PM_SUBSTATE_EMPTY || is_hidden)
		return rc;
	if (!serving) {
		rc = check_space(p->region, err);
		if (rc)
			return rc;
		add(p, PM_STEP_MAKE, NULL);
	}
	return planners[wanted](p, serving, err);
}

static int compare(const void *a_, const void *b_)
{
	const struct pm_step *a = a_, *b = b_;

	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	if (a->region != b->region)
		return a->region < b->region ? -1 : 1;
	return (a->ns > b->ns) - (a->ns < b->ns);
}

static int plan_all(struct planner *p, struct pm_err *err)
{
	const struct pm_inventory *inventory = p->inventory;
	size_t most = 0;
	int rc = 0;

	for (size_t i = 0; i < inventory->n; i++)
		most += (inventory->list[i].n + 1) * MAX_STEPS_OF_ONE;
	p->steps.list = calloc(most + 1, sizeof(*p->steps.list));
	if (!p->steps.list)
		return pm_err_nomem(err);
	for (size_t i = 0; !rc && i < inventory->n; i++) {
		p->region = &inventory->list[i];
		rc = plan_region(p, err);
	}
	qsort(p->steps.list, p->steps.n, sizeof(*p->steps.list), compare);
	return rc;
}

static int check(
	const struct pm_inventory *inventory, const struct pm_target *target, struct pm_err *err)
{
	int rc = target->only_leftovers ? 0 : refuse_foreign(inventory, err);

	if (!rc && !inventory->n && target->substate != PM_SUBSTATE_EMPTY)
		rc = pm_err_set(err, -ENODEV,
			"there are no persistent regions to make %s of; 'pmctl mode' says in which "
			"mode the node is",
			pm_substate_name(target->substate));
	if (!rc && target->substate == PM_SUBSTATE_FLAT)
		rc = check_target_nodes(inventory, err);
	return rc;
}

int pm_steps_plan(const struct pm_inventory *inventory, const struct pm_target *target,
	struct pm_steps *ret, struct pm_err *err)
{
	struct planner p = {.inventory = inventory, .target = target};
	int rc = check(inventory, target, err);

	if (!rc)
		rc = plan_all(&p, err);
	if (!rc)
		rc = refuse_pinned(&p.steps, err);
	if (!rc && !target->only_leftovers)
		rc = refuse_lost_pin(target, &p.steps, err);
	if (rc)
		pm_steps_done(&p.steps);
	else
		*ret = p.steps;
	return rc;
}

void pm_steps_done(struct pm_steps *steps)
{
	free(steps->list);
	*steps = (struct pm_steps){0};
}
