/* SPDX-License-Identifier: Apache-2.0 */
#include "site/site_file.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/secure.h"

int pm_site_file_read(
	const char *path, size_t max_bytes, char **ret, size_t *ret_length, struct pm_err *err)
{
	cleanup_close int fd = -1;
	int rc;

	if (geteuid() != 0)
		return pm_file_read(AT_FDCWD, path, max_bytes, ret, ret_length, err);
	rc = pm_secure_open(path, &fd, err);
	return rc ? rc : pm_file_read_fd(fd, path, max_bytes, ret, ret_length, err);
}
