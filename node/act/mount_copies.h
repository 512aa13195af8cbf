/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_MOUNT_COPIES_H
#define PM_MOUNT_COPIES_H

/*
 * A new mount namespace begins with a copy of each mount (mount_namespaces(7)). If the copies are
 * private, an unmount outside is not propagated to them, and the device stays busy until the
 * namespace ends. Slurm's job_container/tmpfs makes such a namespace for each job, unless it has
 * Shared=true (23.02 and later), also for jobs that have no persistent memory.
 */
#include "base/err.h"

/*
 * Detaches all mounts of the file system with this device number ("259:0") from the mount
 * namespaces of other processes, and from those that a file keeps (nsfs). Runs as root. -EIO, or
 * the error with which a namespace cannot be opened: a copy is left, with a sentence that names a
 * process in that namespace.
 */
int pm_mount_copies_detach(const char *device, struct pm_err *err);

/* The same for a block device by its name in /dev, such as "pmem0"; 0 if there is none. */
int pm_mount_copies_free(const char *blockdev, struct pm_err *err);

#endif
