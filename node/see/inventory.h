/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_INVENTORY_H
#define PM_INVENTORY_H

/*
 * The inventory: namespaces, DAX devices, file systems and mounts of the App Direct regions, from
 * ndctl, daxctl and the kernel. It is read again after each step, and nothing in it is remembered
 * but `is_clean` and `is_dirty`, which a change of the sub-state fills in (node/act/substate.h).
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "node/state/pins.h"
#include "node/tools/daxctl.h"
#include "node/tools/mounts.h"
#include "node/tools/ndctl.h"
#include "node/tools/superblock.h"
#include "site/modes.h"

#define PM_MOUNT_POINT_MAX 256
#define PM_DEVICE_MAX	   24

/* A namespace. A file system on it is own if it has the UUID of the namespace's label. */
struct pm_inventory_ns {
	struct pm_namespace nd;
	bool is_own;		    /* its name begins with "slurm-" */
	bool is_pinned;		    /* an administrator has pinned it */
	bool is_clean;		    /* wiped in this run */
	struct pm_dax dax;	    /* of mode devdax; chardev "" while it has no device */
	char device[PM_DEVICE_MAX]; /* "259:0" of its block device, "" when it has none */
	struct pm_superblock fs;
	bool is_mounted;	/* at its region's mount point, with DAX and project quota */
	bool has_other_options; /* at its region's mount point, with other options */
	char elsewhere[PM_MOUNT_POINT_MAX]; /* another mount point, "" if there is none */
};

struct pm_inventory_region {
	struct pm_nd_region nd;
	int socket;			      /* physical package of its NUMA node */
	char mount_point[PM_MOUNT_POINT_MAX]; /* of its file system: MountDir/socket0 */
	char occupant[PM_MOUNT_POINT_MAX];    /* source of another mount there, "" if none */
	bool is_dirty; /* a crash came before the wipe: free space may hold bytes of jobs */
	struct pm_inventory_ns *list; /* namespaces; idle seeds are left out */
	size_t n;
};

/* Ordered by socket, then by interleave set, as PM_DIR0, PM_DAX0, PM_NODE0, ... are. */
struct pm_inventory {
	struct pm_inventory_region *list;
	size_t n;
};

/*
 * The name of the own namespace for a sub-state: "slurm-fsdax", "slurm-devdax", "slurm-flat"; NULL
 * for PM_SUBSTATE_EMPTY.
 */
const char *pm_substate_namespace(enum pm_substate substate);

/*
 * Copies regions and devices into an inventory. Mount points are named below `mount_dir`:
 * "socket0", or "socket0-0" and so on if a socket has several regions. `socket_of` returns the
 * socket of a NUMA node. -ENOMEM, -ENAMETOOLONG. Release with pm_inventory_done().
 */
int pm_inventory_make(const struct pm_nd_regions *regions, const struct pm_daxes *daxes,
	const char *mount_dir, int (*socket_of)(void *context, int numa_node), void *context,
	struct pm_inventory *ret, struct pm_err *err);

/* Fills in the mounts of namespaces, by their `device`. */
void pm_inventory_add_mounts(struct pm_inventory *inventory, const struct pm_mounts *mounts);

/* Sets is_pinned. Returns the first pin with a missing namespace; NULL: none is missing. */
const struct pm_pin *pm_pins_apply(const struct pm_pins *pins, struct pm_inventory *inventory);

/* The own namespace for `substate` on this region; NULL: there is none. */
const struct pm_inventory_ns *pm_inventory_serving(
	const struct pm_inventory_region *region, enum pm_substate substate);

/* True if it has a complete own file system. */
bool pm_inventory_is_formatted(const struct pm_inventory_ns *ns);

/* Finds a namespace by device, name or UUID; NULL: there is none, or several have that name. */
struct pm_inventory_ns *pm_inventory_find(const struct pm_inventory *inventory, const char *name,
	const struct pm_inventory_region **ret_region);

void pm_inventory_done(struct pm_inventory *inventory);

#define pm_inventory_foreach(ns_, region_, inventory_)                                             \
	for (struct pm_inventory_region *region_ = (inventory_)->list;                             \
		region_ && region_ < (inventory_)->list + (inventory_)->n; region_++)              \
		for (struct pm_inventory_ns *ns_ = region_->list;                                  \
			ns_ < region_->list + region_->n; ns_++)

#endif
