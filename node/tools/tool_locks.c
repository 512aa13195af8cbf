/* SPDX-License-Identifier: Apache-2.0 */
#include "node/tools/tool_locks.h"

#include <sys/stat.h>

#include "base/asprintf.h"
#include "base/cleanup.h"
#include "base/lock.h"
#include "base/secure.h"

static struct {
	int fd;
	struct stat is; /* the descriptor may have been closed, and its number reused */
} held;

void pm_tool_hold_lock(int fd)
{
	if (fstat(fd, &held.is) == 0)
		held.fd = fd;
}

int pm_tool_held_lock(void)
{
	struct stat now;

	if (!held.fd || fstat(held.fd, &now) || now.st_dev != held.is.st_dev ||
		now.st_ino != held.is.st_ino)
		return 0;
	return held.fd;
}

int pm_tool_lock_ipmctl(const struct pm_config *config, int *ret_fd, struct pm_err *err)
{
	cleanup_free char *path = pm_asprintf("%s/ipmctl.lock", config->run_dir);
	int rc = pm_secure_make_dir(config->run_dir, err);

	if (rc)
		return rc;
	if (!path)
		return pm_err_nomem(err);
	return pm_lock_take(path, "ipmctl", config->tool_timeout_s * 1000, ret_fd, err);
}
