/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_KERNEL_DAX_H
#define PM_KERNEL_DAX_H

/*
 * Regions that are system-ram, by daxctl's rule: a device in sys/bus/dax/devices with the driver
 * "kmem", below a region. It is online if its target_node has memory. Needs no privileges.
 */
#include "node/tools/kernel.h"

/* Fills in n_flat_regions and flat_bytes; 0 on a kernel without dax devices. */
int pm_kernel_add_dax(int root_fd, struct pm_kernel *kernel, struct pm_err *err);

#endif
