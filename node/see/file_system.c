/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "node/see/file_system.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>

#include "base/cleanup.h"

/* The own namespace with a file system at the mount point; NULL: there is none. */
static const struct pm_inventory_ns *mounted_on(const struct pm_inventory_region *region)
{
	const struct pm_inventory_ns *ns = pm_inventory_serving(region, PM_SUBSTATE_FSDAX);

	return ns && (ns->is_mounted || ns->has_other_options) ? ns : NULL;
}

bool pm_file_system_is_mounted(const struct pm_inventory_region *region)
{
	return mounted_on(region) != NULL;
}

int pm_file_system_open(const struct pm_inventory_region *region, struct pm_err *err)
{
	const struct pm_inventory_ns *ns = mounted_on(region);
	cleanup_close int fd = -1;
	char device[PM_DEVICE_MAX];
	struct stat st;
	int ret;

	if (!ns)
		return pm_err_set(err, -EIO, "there is no file system on %s", region->nd.dev);
	fd = open(region->mount_point, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0 || fstat(fd, &st))
		return pm_err_sys(err, -errno, "open '%s'", region->mount_point);
	snprintf(device, sizeof(device), "%u:%u", major(st.st_dev), minor(st.st_dev));
	if (strcmp(device, ns->device))
		return pm_err_set(err, -EIO, "'%s' is not on %s (device %s, not %s)",
			region->mount_point, ns->nd.dev, device, ns->device);
	ret = fd;
	fd = -1;
	return ret;
}

int pm_file_system_space(int fd, struct pm_fs_space *ret, struct pm_err *err)
{
	struct statvfs st;

	if (fstatvfs(fd, &st))
		return pm_err_sys(err, -errno, "read the free space of a file system");
	ret->total = (struct pm_fs_amount){(uint64_t)st.f_blocks * st.f_frsize, st.f_files};
	ret->left = (struct pm_fs_amount){(uint64_t)st.f_bavail * st.f_frsize, st.f_favail};
	return 0;
}
