/* SPDX-License-Identifier: Apache-2.0 */
#include "node/act/cpusets.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <string.h>
#include <unistd.h>

#include "base/asprintf.h"
#include "base/cleanup.h"
#include "base/file.h"

#define LIST_BYTES 4096
#define PLACE	   "sys/fs/cgroup/cpuset"

static int write_list(const char *path, const char *list, struct pm_err *err)
{
	cleanup_close int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);

	if (fd < 0 || write(fd, list, strlen(list)) < 0)
		return pm_err_sys(err, -errno, "write '%s'", path);
	return 0;
}

static int write_all(const char *pattern, const char *list, struct pm_err *err)
{
	glob_t matches = {0};
	int rc = 0;

	if (!glob(pattern, GLOB_NOSORT, NULL, &matches))
		for (size_t i = 0; !rc && i < matches.gl_pathc; i++)
			rc = write_list(matches.gl_pathv[i], list, err);
	globfree(&matches);
	return rc;
}

int pm_cpusets_follow(const char *root, struct pm_err *err)
{
	cleanup_free char *own = pm_asprintf("%s/" PLACE "/cpuset.mems", root);
	cleanup_free char *slurms = pm_asprintf("%s/" PLACE "/slurm*/cpuset.mems", root);
	cleanup_free char *list = NULL;
	int rc;

	if (!own || !slurms)
		return pm_err_nomem(err);
	rc = pm_file_read(AT_FDCWD, own, LIST_BYTES, &list, NULL, err);
	if (rc == -ENOENT)
		return 0;
	return rc ? rc : write_all(slurms, list, err);
}
