/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_KERNEL_DAX_H
#define PM_KERNEL_DAX_H

/*
 * Which regions are system-ram now? As daxctl sees it: a device in sys/bus/dax/devices whose driver
 * is "kmem" and which hangs below a region. It is online when its target_node has memory. Read
 * without privileges.
 */
#include "node/tools/kernel.h"

/* Fills in n_flat_regions and flat_bytes. A kernel without dax devices has none. */
int pm_kernel_add_dax(int root_fd, struct pm_kernel *kernel, struct pm_err *err);

#endif
