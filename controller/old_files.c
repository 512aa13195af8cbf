/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/old_files.h"

#include <fcntl.h>
#include <sys/stat.h>

#define HOUR_S 3600
#define DAY_S  86400

bool pm_old_files_are_due(uint64_t *swept_s, uint64_t now_s)
{
	if (*swept_s && now_s < *swept_s + HOUR_S)
		return false;
	*swept_s = now_s;
	return true;
}

bool pm_old_files_has(int dir_fd, const char *name, unsigned keep_days, uint64_t now_s)
{
	struct stat info;

	return !fstatat(dir_fd, name, &info, AT_SYMLINK_NOFOLLOW) && S_ISREG(info.st_mode) &&
	       (uint64_t)info.st_mtime + (uint64_t)keep_days * DAY_S < now_s;
}
