/* SPDX-License-Identifier: Apache-2.0 */
#include "node/act/cpusets.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <string.h>

#include "base/asprintf.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "node/tools/knob.h"

#define LIST_BYTES 4096
#define PLACE	   "sys/fs/cgroup/cpuset"

/* `pattern` is below FsRoot. */
static int write_all(
	const struct pm_config *config, const char *pattern, const char *list, struct pm_err *err)
{
	size_t root = strlen(config->fs_root);
	glob_t matches = {0};
	int rc = 0;

	if (!glob(pattern, GLOB_NOSORT, NULL, &matches))
		for (size_t i = 0; !rc && i < matches.gl_pathc; i++)
			rc = pm_knob_write(config, matches.gl_pathv[i] + root, list, err);
	globfree(&matches);
	return rc;
}

int pm_cpusets_follow(const struct pm_config *config, struct pm_err *err)
{
	cleanup_free char *own = pm_asprintf("%s/" PLACE "/cpuset.mems", config->fs_root);
	cleanup_free char *slurms = pm_asprintf("%s/" PLACE "/slurm*/cpuset.mems", config->fs_root);
	cleanup_free char *list = NULL;
	int rc;

	if (!own || !slurms)
		return pm_err_nomem(err);
	rc = pm_file_read(AT_FDCWD, own, LIST_BYTES, &list, NULL, err);
	if (rc == -ENOENT)
		return 0;
	return rc ? rc : write_all(config, slurms, list, err);
}
