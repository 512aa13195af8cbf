/* SPDX-License-Identifier: Apache-2.0 */
#include "base/directory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/cleanup.h"

int pm_directory_each(int root_fd, const char *path, const char *prefix, pm_entry_action *each,
	void *context, struct pm_err *err)
{
	cleanup_dir DIR *dir = NULL;
	int fd = openat(root_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const struct dirent *entry;
	int rc = 0;

	if (fd < 0 && errno == ENOENT)
		return 0;
	dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir)
		return pm_err_sys(err, -errno, "open '%s'", path);
	while (!rc && (entry = readdir(dir)))
		if (!strncmp(entry->d_name, prefix, strlen(prefix)))
			rc = each(dirfd(dir), entry->d_name, context, err);
	return rc;
}
