/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_AGENT_MOUNT_H
#define PM_AGENT_MOUNT_H

/*
 * The file systems of regions: mounted with DAX for all files and with project quota, without
 * devices and set-uid programs, their root 0711 and root's, so that users reach what is theirs and
 * list nothing.
 */
#include "node/operation.h"
#include "node/see/inventory.h"

/* Of `mount -o`, in front of them nosuid and nodev. */
#define PM_MOUNT_OPTIONS "dax=always,prjquota,usrquota"

/* "job_": directories of jobs are called so, with the job's number behind it. */
#define PM_JOB_DIRECTORY_PREFIX "job_"

/* Has mkfs made this entry of a root? */
bool pm_is_of_mkfs(const char *name);

/*
 * -EPERM: there is something in its root that no job of ours made; -EBUSY and others of mount(2).
 * After a failure it is not mounted.
 */
int pm_file_system_mount(const struct pm_config *config, const struct pm_inventory_region *region,
	const struct pm_inventory_ns *ns, struct pm_err *err);

/* -EBUSY: somebody uses it. */
int pm_file_system_unmount(const struct pm_inventory_region *region, struct pm_err *err);

#endif
