/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/apply/runtime_files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "model/profile_request.h"

/* A mistyped source would become a part of the directory's name. */
static int check_source(const char *request, struct pm_err *err)
{
	if (!pm_profile_request_is_odd(request) || !access(request, F_OK))
		return 0;
	return pm_err_set(err, -EINVAL,
		"'%.200s': the word behind the colon is not auto, samples, bursts, faults or none, "
		"and "
		"there is no such directory",
		request);
}

static int check_profile(const char *request, struct pm_err *err)
{
	char dir[PATH_MAX];
	enum pm_profile_source source;
	size_t length = pm_profile_request_parse(request, &source);
	struct stat info;
	int rc = check_source(request, err);

	if (rc)
		return rc;
	if (length >= sizeof(dir))
		return pm_err_sys(err, -ENAMETOOLONG, "the profiles' directory '%.200s'", request);
	memcpy(dir, request, length);
	dir[length] = '\0';
	if (mkdir(dir, 0777) && errno != EEXIST)
		return pm_err_sys(err, -errno, "make the profiles' directory '%.200s'", dir);
	if (stat(dir, &info))
		return pm_err_sys(err, -errno, "the profiles' directory '%.200s'", dir);
	if (!S_ISDIR(info.st_mode))
		return pm_err_sys(err, -ENOTDIR, "the profiles' directory '%.200s'", dir);
	if (access(dir, W_OK | X_OK))
		return pm_err_sys(err, -errno, "write into the profiles' directory '%.200s'", dir);
	return 0;
}

/* O_NONBLOCK: a FIFO without a writer would block. */
static int check_advice(const char *file, struct pm_err *err)
{
	cleanup_close int fd = open(file, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct stat info;

	if (fd < 0 || fstat(fd, &info))
		return pm_err_sys(err, -errno, "read the advice '%.200s'", file);
	if (!S_ISREG(info.st_mode))
		return pm_err_set(err, -EINVAL, "the advice '%.200s' is not a file", file);
	return 0;
}

int pm_runtime_files_check(const char *profile, const char *advice, struct pm_err *err)
{
	int rc = profile && *profile ? check_profile(profile, err) : 0;

	return !rc && advice && *advice ? check_advice(advice, err) : rc;
}
