/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_AGENT_FILE_SYSTEM_H
#define PM_AGENT_FILE_SYSTEM_H

/* The own file system of a region, while it is mounted. */
#include <stdbool.h>

#include "base/err.h"
#include "node/see/inventory.h"
#include "node/tools/quota.h"

bool pm_file_system_is_mounted(const struct pm_inventory_region *region);

/*
 * Opens its root; the caller closes it. A negative errno, with the sentence, if another file
 * system, or none, is mounted at the region's mount point.
 */
int pm_file_system_open(const struct pm_inventory_region *region, struct pm_err *err);

struct pm_fs_space {
	struct pm_fs_amount total, left;
};

/* Total space of the file system of the open file, and the space that users can still fill. */
int pm_file_system_space(int fd, struct pm_fs_space *ret, struct pm_err *err);

#endif
