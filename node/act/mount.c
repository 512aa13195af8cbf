/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "node/act/mount.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/secure.h"
#include "node/wipe/trash.h"

static bool is_of_a_job(const char *name)
{
	const char *number = name + strlen(PM_JOB_DIRECTORY_PREFIX);

	return !strncmp(name, PM_JOB_DIRECTORY_PREFIX, strlen(PM_JOB_DIRECTORY_PREFIX)) &&
	       *number && !number[strspn(number, "0123456789")];
}

bool pm_is_of_mkfs(const char *name)
{
	return !strcmp(name, ".") || !strcmp(name, "..") || !strcmp(name, "lost+found");
}

static bool is_expected(const char *name)
{
	return pm_is_of_mkfs(name) || is_of_a_job(name) || pm_trash_is_name(name);
}

static int check_content(int root_fd, const char *mount_point, struct pm_err *err)
{
	cleanup_dir DIR *dir = NULL;
	cleanup_close int fd = openat(root_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const struct dirent *entry;

	dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir)
		return pm_err_sys(err, -errno, "open '%s'", mount_point);
	fd = -1; /* the stream's now */
	while ((entry = readdir(dir)))
		if (!is_expected(entry->d_name))
			return pm_err_set(err, -EPERM,
				"the file system of '%s' has the entry '%.100s', which no job "
				"made; mount the file system by hand and move the entry away",
				mount_point, entry->d_name);
	return 0;
}

static int restrict_root(const char *mount_point, struct pm_err *err)
{
	cleanup_close int fd = open(mount_point, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);

	if (fd < 0)
		return pm_err_sys(err, -errno, "open '%s'", mount_point);
	if (fchown(fd, 0, 0) || fchmod(fd, 0711))
		return pm_err_sys(err, -errno, "set owner and mode of '%s'", mount_point);
	return check_content(fd, mount_point, err);
}

static int make_mount_point(const char *mount_dir, const char *mount_point, struct pm_err *err)
{
	int rc = pm_file_make_dir(mount_dir, 0755, err);

	if (!rc)
		rc = pm_secure_path(mount_dir, err);
	if (!rc)
		rc = pm_file_make_dir(mount_point, 0711, err);
	return rc ? rc : pm_secure_path(mount_point, err);
}

int pm_file_system_mount(const struct pm_config *config, const struct pm_inventory_region *region,
	const struct pm_inventory_ns *ns, struct pm_err *err)
{
	char device[64];
	int rc = make_mount_point(config->mount_dir, region->mount_point, err);

	if (rc)
		return rc;
	snprintf(device, sizeof(device), "/dev/%s", ns->nd.blockdev);
	if (mount(device, region->mount_point, ns->fs.type, MS_NOSUID | MS_NODEV, PM_MOUNT_OPTIONS))
		return pm_err_sys(err, -errno, "mount '%s' on '%s' as %s (%s)", device,
			region->mount_point, ns->fs.type, PM_MOUNT_OPTIONS);
	rc = restrict_root(region->mount_point, err);
	if (rc)
		(void)umount2(region->mount_point, UMOUNT_NOFOLLOW);
	return rc;
}

int pm_file_system_unmount(const struct pm_inventory_region *region, struct pm_err *err)
{
	if (!umount2(region->mount_point, UMOUNT_NOFOLLOW))
		return 0;
	if (errno != EBUSY)
		return pm_err_sys(err, -errno, "unmount '%s'", region->mount_point);
	return pm_err_set(err, -EBUSY,
		"unmount '%s': a process still uses it; 'fuser -vm %s' shows it",
		region->mount_point, region->mount_point);
}
