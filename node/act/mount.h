/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_AGENT_MOUNT_H
#define PM_AGENT_MOUNT_H

/*
 * Mounts and unmounts the file system of a region: DAX for all files, project and user quota, no
 * devices and no set-uid programs. Its root directory belongs to root, 0711, so that users reach
 * their own directory and list nothing.
 */
#include "node/operation.h"
#include "node/see/inventory.h"

/* Options of mount(8) after nosuid and nodev. */
#define PM_MOUNT_OPTIONS "dax=always,prjquota,usrquota"

/* The directory of job 12 is "job_12". */
#define PM_JOB_DIRECTORY_PREFIX "job_"

/* True for the entries that mkfs makes in a root, ".", ".." and "lost+found". */
bool pm_is_of_mkfs(const char *name);

/*
 * Makes the mount point and mounts on it. -EPERM: the root has an entry that no job made; else an
 * errno of mount(2). After a failure nothing is mounted.
 */
int pm_file_system_mount(const struct pm_config *config, const struct pm_inventory_region *region,
	const struct pm_inventory_ns *ns, struct pm_err *err);

/* -EBUSY: a process uses it. */
int pm_file_system_unmount(const struct pm_inventory_region *region, struct pm_err *err);

#endif
