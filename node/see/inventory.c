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

static int take_namespaces(
	struct pm_pmem *pmem, const struct pm_namespaces *from, const struct pm_daxes *daxes)
{
	pmem->list = calloc(from->n + 1, sizeof(*pmem->list));
	if (!pmem->list)
		return -ENOMEM;
	for (; pmem->n < from->n; pmem->n++) {
		struct pm_stored *stored = &pmem->list[pmem->n];
		const struct pm_dax *dax = find_dax(daxes, from->list[pmem->n].chardev);

		stored->nd = from->list[pmem->n];
		stored->is_own = !strncmp(stored->nd.name, prefix, strlen(prefix));
		if (dax)
			stored->dax = *dax;
	}
	return 0;
}

static int compare(const void *a_, const void *b_)
{
	const struct pm_pmem *a = a_, *b = b_;

	if (a->socket != b->socket)
		return a->socket < b->socket ? -1 : 1;
	if (a->nd.iset_id != b->nd.iset_id)
		return a->nd.iset_id < b->nd.iset_id ? -1 : 1;
	return strcmp(a->nd.dev, b->nd.dev);
}

/* How many regions of the same socket stand in front of this one, and how many there are. */
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
		struct pm_pmem *pmem = &inventory->list[i];
		size_t all, rank = rank_in_socket(inventory, i, &all);
		char suffix[24] = "";
		int length;

		if (all > 1)
			snprintf(suffix, sizeof(suffix), "-%zu", rank);
		length = snprintf(pmem->mount_point, sizeof(pmem->mount_point), "%s/socket%d%s",
			mount_dir, pmem->socket, suffix);
		if ((size_t)length >= sizeof(pmem->mount_point))
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
		struct pm_pmem *pmem = &made.list[made.n];

		pmem->nd = regions->list[made.n];
		pmem->nd.namespaces = (struct pm_namespaces){0};
		pmem->socket = socket_of(context, pmem->nd.numa_node);
		if (take_namespaces(pmem, &regions->list[made.n].namespaces, daxes))
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

static void add_mounts(
	struct pm_pmem *pmem, struct pm_stored *stored, const struct pm_mounts *mounts)
{
	for (size_t i = 0; *stored->device && i < mounts->n; i++) {
		const struct pm_mount *mount = &mounts->list[i];

		if (strcmp(mount->device, stored->device))
			continue;
		if (strcmp(mount->point, pmem->mount_point))
			snprintf(stored->elsewhere, sizeof(stored->elsewhere), "%s", mount->point);
		else if (is_right(mount))
			stored->is_mounted = true;
		else
			stored->has_other_options = true;
	}
}

void pm_inventory_add_mounts(struct pm_inventory *inventory, const struct pm_mounts *mounts)
{
	for (struct pm_pmem *pmem = inventory->list; pmem < inventory->list + inventory->n;
		pmem++) {
		const struct pm_mount *top = pm_mounts_at(mounts, pmem->mount_point);
		bool is_known = !top;

		for (size_t i = 0; i < pmem->n; i++) {
			add_mounts(pmem, &pmem->list[i], mounts);
			is_known |= top && !strcmp(top->device, pmem->list[i].device);
		}
		if (!is_known)
			snprintf(pmem->occupant, sizeof(pmem->occupant), "%s", top->source);
	}
}

static bool is_there(const struct pm_inventory *inventory, const char *uuid)
{
	pm_inventory_foreach(stored, pmem, inventory)
	{
		if (!strcmp(stored->nd.uuid, uuid))
			return true;
	}
	return false;
}

const struct pm_pin *pm_pins_apply(const struct pm_pins *pins, struct pm_inventory *inventory)
{
	pm_inventory_foreach(stored, pmem, inventory)
	{
		stored->is_pinned = pm_pins_find(pins, stored->nd.uuid) != NULL;
	}
	for (size_t i = 0; i < pins->n; i++)
		if (!is_there(inventory, pins->list[i].uuid))
			return &pins->list[i];
	return NULL;
}

const struct pm_stored *pm_pmem_serving(const struct pm_pmem *pmem, enum pm_substate substate)
{
	for (size_t i = 0; rows[substate].namespace && i < pmem->n; i++)
		if (!strcmp(pmem->list[i].nd.name, rows[substate].namespace) &&
			!strcmp(pmem->list[i].nd.mode, rows[substate].mode))
			return &pmem->list[i];
	return NULL;
}

bool pm_stored_is_formatted(const struct pm_stored *stored)
{
	return *stored->fs.type && *stored->nd.uuid && !strcmp(stored->fs.uuid, stored->nd.uuid);
}

struct pm_stored *pm_inventory_find(
	const struct pm_inventory *inventory, const char *name, const struct pm_pmem **ret_pmem)
{
	struct pm_stored *found = NULL;

	if (!*name)
		return NULL;
	pm_inventory_foreach(stored, pmem, inventory)
	{
		bool is_exact = !strcmp(stored->nd.dev, name) || !strcmp(stored->nd.uuid, name);

		if (!is_exact && strcmp(stored->nd.name, name))
			continue;
		if (found && !is_exact)
			return NULL;
		found = stored;
		*ret_pmem = pmem;
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
