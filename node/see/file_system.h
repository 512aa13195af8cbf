/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_AGENT_FILE_SYSTEM_H
#define PM_AGENT_FILE_SYSTEM_H

/* The mounted file system of ours on a region. */
#include <stdbool.h>

#include "base/err.h"
#include "node/see/inventory.h"
#include "node/tools/quota.h"

bool pm_file_system_is_mounted(const struct pm_inventory_region *region);

/* Its root, or a negative errno, with the sentence, when it is not what is mounted at the region's
 * mount point. */
int pm_file_system_open(const struct pm_inventory_region *region, struct pm_err *err);

struct pm_space {
	struct pm_share total, left;
};

/* Of the file system of the open file. */
int pm_file_system_space(int fd, struct pm_space *ret, struct pm_err *err);

#endif
