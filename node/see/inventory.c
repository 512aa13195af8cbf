/* SPDX-License-Identifier: Apache-2.0 */
#include "node/see/inventory.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"

static const char prefix[] = "slurm-";

static const struct {
	const char *namespace, *mode;
} rows[] = {
	[PM_SUBSTATE_EMPTY] = {NULL, NULL},
	[PM_SUBSTATE_FSDAX] = {"slurm-fsdax", "fsdax"},
	[PM_SUBSTATE_DEVDAX] = {"slurm-devdax", "devdax"},
	[PM_SUBSTATE_FLAT] = {"slurm-flat", "devdax"},
};

const char *pm_substate_namespace(enum pm_substate substate)
{
	return rows[substate].namespace;
}

static const struct pm_dax *find_dax(const struct pm_daxes *daxes, const char *chardev)
{
	for (size_t i = 0; *chardev && i < daxes->n; i++)
		if (!strcmp(daxes->list[i].chardev, chardev))
			return &daxes->list[i];
	return NULL;
}

static int copy_namespaces(struct pm_inventory_region *region, const struct pm_namespaces *from,
	const struct pm_daxes *daxes)
{
	region->list = calloc(from->n + 1, sizeof(*region->list));
	if (!region->list)
		return -ENOMEM;
	for (; region->n < from->n; region->n++) {
		struct pm_inventory_ns *ns = &region->list[region->n];
		const struct pm_dax *dax = find_dax(daxes, from->list[region->n].chardev);

		ns->nd = from->list[region->n];
		ns->is_own = !strncmp(ns->nd.name, prefix, strlen(prefix));
		if (dax)
			ns->dax = *dax;
	}
	return 0;
}

static int compare(const void *a_, const void *b_)
{
	const struct pm_inventory_region *a = a_, *b = b_;

	if (a->socket != b->socket)
		return a->socket < b->socket ? -1 : 1;
	if (a->nd.iset_id != b->nd.iset_id)
		return a->nd.iset_id < b->nd.iset_id ? -1 : 1;
	return strcmp(a->nd.dev, b->nd.dev);
}

/* The number of regions of the same socket before region `at`; *ret_all counts all of them. */
static size_t rank_in_socket(const struct pm_inventory *inventory, size_t at, size_t *ret_all)
{
	size_t before = 0;

	*ret_all = 0;
	for (size_t i = 0; i < inventory->n; i++) {
		if (inventory->list[i].socket != inventory->list[at].socket)
			continue;
		before += i < at;
		*ret_all += 1;
	}
	return before;
}

static int name_mount_points(
	struct pm_inventory *inventory, const char *mount_dir, struct pm_err *err)
{
	for (size_t i = 0; i < inventory->n; i++) {
		struct pm_inventory_region *region = &inventory->list[i];
		size_t all, rank = rank_in_socket(inventory, i, &all);
		char suffix[24] = "";
		int length;

		if (all > 1)
			snprintf(suffix, sizeof(suffix), "-%zu", rank);
		length = snprintf(region->mount_point, sizeof(region->mount_point), "%s/socket%d%s",
			mount_dir, region->socket, suffix);
		if ((size_t)length >= sizeof(region->mount_point))
			return pm_err_set(
				err, -ENAMETOOLONG, "MountDir=%.80s... is too long", mount_dir);
	}
	return 0;
}

int pm_inventory_make(const struct pm_nd_regions *regions, const struct pm_daxes *daxes,
	const char *mount_dir, int (*socket_of)(void *context, int numa_node), void *context,
	struct pm_inventory *ret, struct pm_err *err)
{
	cleanup_with(pm_inventory_done) struct pm_inventory made = {0};
	int rc;

	made.list = calloc(regions->n + 1, sizeof(*made.list));
	if (!made.list)
		return pm_err_nomem(err);
	for (; made.n < regions->n; made.n++) {
		struct pm_inventory_region *region = &made.list[made.n];

		region->nd = regions->list[made.n];
		region->nd.namespaces = (struct pm_namespaces){0};
		region->socket = socket_of(context, region->nd.numa_node);
		if (copy_namespaces(region, &regions->list[made.n].namespaces, daxes))
			return pm_err_nomem(err);
	}
	qsort(made.list, made.n, sizeof(*made.list), compare);
	rc = name_mount_points(&made, mount_dir, err);
	if (rc)
		return rc;
	*ret = made;
	made = (struct pm_inventory){0};
	return 0;
}

static bool is_right(const struct pm_mount *mount)
{
	return (pm_mount_has(mount, "dax=always") || pm_mount_has(mount, "dax")) &&
	       pm_mount_has(mount, "prjquota");
}

static void add_mounts(struct pm_inventory_region *region, struct pm_inventory_ns *ns,
	const struct pm_mounts *mounts)
{
	for (size_t i = 0; *ns->device && i < mounts->n; i++) {
		const struct pm_mount *mount = &mounts->list[i];

		if (strcmp(mount->device, ns->device))
			continue;
		if (strcmp(mount->point, region->mount_point))
			snprintf(ns->elsewhere, sizeof(ns->elsewhere), "%s", mount->point);
		else if (is_right(mount))
			ns->is_mounted = true;
		else
			ns->has_other_options = true;
	}
}

void pm_inventory_add_mounts(struct pm_inventory *inventory, const struct pm_mounts *mounts)
{
	for (struct pm_inventory_region *region = inventory->list;
		region < inventory->list + inventory->n; region++) {
		const struct pm_mount *top = pm_mounts_at(mounts, region->mount_point);
		bool is_known = !top;

		for (size_t i = 0; i < region->n; i++) {
			add_mounts(region, &region->list[i], mounts);
			is_known |= top && !strcmp(top->device, region->list[i].device);
		}
		if (!is_known)
			snprintf(region->occupant, sizeof(region->occupant), "%s", top->source);
	}
}

static bool is_there(const struct pm_inventory *inventory, const char *uuid)
{
	pm_inventory_foreach(ns, region, inventory)
	{
		if (!strcmp(ns->nd.uuid, uuid))
			return true;
	}
	return false;
}

const struct pm_pin *pm_pins_apply(const struct pm_pins *pins, struct pm_inventory *inventory)
{
	pm_inventory_foreach(ns, region, inventory)
	{
		ns->is_pinned = pm_pins_find(pins, ns->nd.uuid) != NULL;
	}
	for (size_t i = 0; i < pins->n; i++)
		if (!is_there(inventory, pins->list[i].uuid))
			return &pins->list[i];
	return NULL;
}

const struct pm_inventory_ns *pm_inventory_serving(
	const struct pm_inventory_region *region, enum pm_substate substate)
{
	for (size_t i = 0; rows[substate].namespace && i < region->n; i++)
		if (!strcmp(region->list[i].nd.name, rows[substate].namespace) &&
			!strcmp(region->list[i].nd.mode, rows[substate].mode))
			return &region->list[i];
	return NULL;
}

bool pm_inventory_is_formatted(const struct pm_inventory_ns *ns)
{
	return *ns->fs.type && *ns->nd.uuid && !strcmp(ns->fs.uuid, ns->nd.uuid);
}

struct pm_inventory_ns *pm_inventory_find(const struct pm_inventory *inventory, const char *name,
	const struct pm_inventory_region **ret_region)
{
	struct pm_inventory_ns *found = NULL;

	if (!*name)
		return NULL;
	pm_inventory_foreach(ns, region, inventory)
	{
		bool is_exact = !strcmp(ns->nd.dev, name) || !strcmp(ns->nd.uuid, name);

		if (!is_exact && strcmp(ns->nd.name, name))
			continue;
		if (found && !is_exact)
			return NULL;
		found = ns;
		*ret_region = region;
		if (is_exact)
			break;
	}
	return found;
}

void pm_inventory_done(struct pm_inventory *inventory)
{
	for (size_t i = 0; i < inventory->n; i++)
		free(inventory->list[i].list);
	free(inventory->list);
	*inventory = (struct pm_inventory){0};
}
