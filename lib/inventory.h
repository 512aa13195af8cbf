/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_INVENTORY_H
#define PM_INVENTORY_H

/*
 * What the operating system has made of the App Direct regions: namespaces, DAX devices, file
 * systems and mounts, put together from what ndctl, daxctl and the kernel show. Nothing in it is
 * remembered: it is looked at again after each step.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/daxctl.h"
#include "lib/err.h"
#include "lib/modes.h"
#include "lib/ndctl.h"
#include "lib/superblock.h"

#define PM_PLACE_MAX 256

/* A file system on a namespace is ours when its UUID is that of the namespace's label. */
struct pm_stored {
	struct pm_namespace nd;
	bool is_ours;	   /* its name begins with "slurm-" */
	bool is_pinned;	   /* an administrator wants its bytes kept */
	bool is_clean;	   /* known to hold nothing but zeros */
	struct pm_dax dax; /* of mode devdax; chardev "" while it has no device */
	struct pm_superblock fs;
	bool is_mounted;	      /* at the place of its region, with DAX and project quota */
	bool is_mounted_here;	      /* at the place of its region, with whatever options */
	char elsewhere[PM_PLACE_MAX]; /* where it is mounted besides, "" if nowhere */
};

struct pm_pmem {
	struct pm_nd_region nd;
	int socket;		  /* physical package of its NUMA node */
	char place[PM_PLACE_MAX]; /* where its file system is mounted: MountDir/socket0 */
	struct pm_stored *list;	  /* namespaces; idle seeds are left out */
	size_t n;
};

/* Ordered by socket, then by interleave set: the order of PM_DIR0, PM_DAX0, PM_NODE0, ... */
struct pm_inventory {
	struct pm_pmem *list;
	size_t n;
};

/* "slurm-fsdax", "slurm-devdax", "slurm-flat": what our namespace for a sub-state is called; NULL
 * for PM_SUBSTATE_EMPTY. */
const char *pm_substate_namespace(enum pm_substate substate);

/* The namespace of ours that serves `substate` on this region; NULL when there is none. */
const struct pm_stored *pm_pmem_serving(const struct pm_pmem *pmem, enum pm_substate substate);

void pm_inventory_done(struct pm_inventory *inventory);

#endif
