/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_AREA_H
#define PM_AREA_H

/* Memory of one tier, with all of its pages there. */
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct pm_area {
	char *at;
	size_t bytes;
	bool is_dax; /* a file on persistent memory that stores reach without the page cache */
};

/* Where: a NUMA node, or a directory on a file system of persistent memory. */
struct pm_area_place {
	int node;	 /* the kernel's number; -1: the directory */
	const char *dir; /* NULL: the node */
};

/*
 * Release with pm_area_done(). In a directory it is a file without a name, mapped with MAP_SYNC
 * where the file system can do that (dax), else as any file. -ENOMEM, -ENOSPC, or the errno of the
 * call; the sentence names the place.
 */
int pm_area_make(
	const struct pm_area_place *place, size_t bytes, struct pm_area *ret, struct pm_err *err);

/* Bytes that are free there now; 0 if that is unknown. */
size_t pm_area_room(const struct pm_area_place *place);

void pm_area_done(struct pm_area *area);

#endif
