/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "base/secure.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/file.h"

#define MAX_LINKS 40

static int check_path(const char *path, const char *whole, int depth, struct pm_err *err);

static int check_owner(
	const struct stat *st, const char *component, const char *whole, struct pm_err *err)
{
	if (st->st_uid != 0)
		return pm_err_set(err, -EPERM,
			"use '%s' as root: '%s' belongs to user %u, not to root", whole, component,
			(unsigned)st->st_uid);
	if (!S_ISLNK(st->st_mode) && (st->st_mode & (S_IWGRP | S_IWOTH)))
		return pm_err_set(err, -EPERM,
			"use '%s' as root: '%s' is writable by group or others (mode %04o)", whole,
			component, (unsigned)(st->st_mode & 07777));
	return 0;
}

static int follow_link(const char *link, const char *whole, int depth, struct pm_err *err)
{
	char target[PATH_MAX], joined[2 * PATH_MAX];
	const char *slash = strrchr(link, '/');
	ssize_t length = readlink(link, target, sizeof(target) - 1);

	if (length < 0)
		return pm_err_sys(err, -errno, "read link '%s'", link);
	target[length] = '\0';
	if (target[0] == '/')
		return check_path(target, whole, depth + 1, err);
	snprintf(joined, sizeof(joined), "%.*s/%s", (int)(slash - link), link, target);
	return check_path(joined, whole, depth + 1, err);
}

static int check_component(const char *component, const char *whole, int depth, struct pm_err *err)
{
	struct stat st;
	int rc;

	if (lstat(component, &st))
		return pm_err_sys(err, -errno, "use '%s': look at '%s'", whole, component);
	rc = check_owner(&st, component, whole, err);
	if (!rc && S_ISLNK(st.st_mode))
		rc = follow_link(component, whole, depth, err);
	return rc;
}

/* After a link, the components before it are checked again: harmless, and none is left out. */
static int check_path(const char *path, const char *whole, int depth, struct pm_err *err)
{
	char prefix[PATH_MAX];
	const char *end = path;
	int rc = check_component("/", whole, depth, err);

	if (depth > MAX_LINKS)
		return pm_err_sys(err, -ELOOP, "use '%s'", whole);
	while (!rc && *(end += strspn(end, "/"))) {
		end += strcspn(end, "/");
		if ((size_t)(end - path) >= sizeof(prefix))
			return pm_err_sys(err, -ENAMETOOLONG, "use '%.100s'", whole);
		memcpy(prefix, path, (size_t)(end - path));
		prefix[end - path] = '\0';
		rc = check_component(prefix, whole, depth, err);
	}
	return rc;
}

int pm_secure_path(const char *path, struct pm_err *err)
{
	if (path[0] != '/')
		return pm_err_set(err, -EINVAL, "use '%s': the path must be absolute", path);
	return check_path(path, path, 0, err);
}

int pm_secure_open(const char *path, int *ret_fd, struct pm_err *err)
{
	cleanup_close int fd = -1;
	struct stat st;
	int rc = pm_secure_path(path, err);

	if (rc)
		return rc;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &st))
		return pm_err_sys(err, -errno, "open '%s'", path);
	if (!S_ISREG(st.st_mode))
		return pm_err_set(err, -EINVAL, "open '%s': not a regular file", path);
	rc = check_owner(&st, path, path, err);
	if (rc)
		return rc;
	*ret_fd = fd;
	fd = -1;
	return 0;
}

int pm_secure_make_dir(const char *path, struct pm_err *err)
{
	int rc = pm_file_make_dir(path, 0755, err);

	return rc ? rc : pm_secure_path(path, err);
}
