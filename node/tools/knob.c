/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "node/tools/knob.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"

int pm_knob_read(
	const struct pm_config *config, const char *file, char ret[PM_KNOB_MAX], struct pm_err *err)
{
	cleanup_free char *text = NULL;
	char path[PATH_MAX];
	int rc;

	snprintf(path, sizeof(path), "%s/%s", config->fs_root, file);
	rc = pm_file_read(AT_FDCWD, path, 4096, &text, NULL, err);
	if (!rc)
		snprintf(ret, PM_KNOB_MAX, "%.*s", (int)strcspn(text, "\n"), text);
	return rc;
}

int pm_knob_write(
	const struct pm_config *config, const char *file, const char *value, struct pm_err *err)
{
	char path[PATH_MAX];
	cleanup_close int fd = -1;
	ssize_t written;

	snprintf(path, sizeof(path), "%s/%s", config->fs_root, file);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	written = fd < 0 ? -1 : write(fd, value, strlen(value));
	if (written == (ssize_t)strlen(value))
		return 0;
	return pm_err_sys(err, written < 0 ? -errno : -EIO, "write '%s' to '%s'", value, path);
}
