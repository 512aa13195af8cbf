/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "plan/apply/memory_limit.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/strv.h"
#include "base/units.h"

#define MAX_TABLE (1024 * 1024)
#define MAX_VALUE 64
#define NO_LIMIT  (UINT64_C(1) << 60) /* version 1 shows no limit as LONG_MAX rounded to pages */

/* A version of cgroups: its entries in /proc/self/cgroup and mountinfo, and its file. */
struct version {
	const char *controller; /* second field of /proc/self/cgroup, cgroups(7) */
	const char *type;	/* of the file system */
	const char *option;	/* super option in mountinfo; NULL: any */
	const char *file;
};

static const struct version versions[] = {
	{"memory", "cgroup", "memory", "memory.limit_in_bytes"},
	{"", "cgroup2", NULL, "memory.max"},
};

static bool has_word(const char *list, const char *word)
{
	cleanup_with(pm_strv_cleanup) char **words = pm_strv_split(list, ",");

	return pm_strv_contains(words, word);
}

/* Path of a line "4:memory:/slurm/uid_0"; NULL: the line is of another version or controller. */
static const char *path_in(char *line, const struct version *version)
{
	char *controllers = strchr(line, ':');
	char *path = controllers ? strchr(controllers + 1, ':') : NULL;

	if (!path)
		return NULL;
	*path++ = '\0';
	controllers++;
	if (*version->controller ? has_word(controllers, version->controller) : !*controllers)
		return path;
	return NULL;
}

/*
 * Parses a line of mountinfo, proc(5), "36 25 0:31 /root /sys/fs/cgroup rw shared:9 - cgroup2
 * cgroup rw,opts": the directory of the file system that is mounted, and the mount point. Cuts
 * `line`.
 */
static bool read_mount(
	char *line, const struct version *version, char **ret_root, char **ret_mount_point)
{
	char *rest = strstr(line, " - "), *type, *source, *options;

	if (!rest)
		return false;
	*rest = '\0';
	type = strtok_r(rest + 3, " ", &rest);
	source = strtok_r(NULL, " ", &rest);
	options = strtok_r(NULL, " ", &rest);
	if (!source || !options || strcmp(type, version->type) ||
		(version->option && !has_word(options, version->option)))
		return false;
	for (int i = 0; i < 3; i++)
		if (!strtok_r(i ? NULL : line, " ", &rest))
			return false;
	*ret_root = strtok_r(NULL, " ", &rest);
	*ret_mount_point = strtok_r(NULL, " ", &rest);
	return *ret_root && *ret_mount_point;
}

/* The rest of the cgroup's path below the mounted directory; NULL: the cgroup is not below it. */
static const char *below(const char *path, const char *root)
{
	size_t length = strcmp(root, "/") ? strlen(root) : 0;

	if (strncmp(path, root, length) || (path[length] && path[length] != '/'))
		return NULL;
	return path + length;
}

static int read_limit(int root_fd, const char *dir, const char *file, uint64_t *least)
{
	cleanup_free char *text = NULL;
	char path[PATH_MAX];
	uint64_t bytes;

	if (snprintf(path, sizeof(path), "%s/%s", dir + strspn(dir, "/"), file) >=
		(int)sizeof(path))
		return -ENAMETOOLONG;
	/* The root cgroup of version 2 has no such file; in a container ancestors may be hidden. */
	if (pm_file_read(root_fd, path, MAX_VALUE, &text, NULL, NULL))
		return 0;
	text[strcspn(text, "\n")] = '\0';
	if (!strcmp(text, "max") || pm_parse_u64(text, &bytes) == -ERANGE)
		return 0;
	if (pm_parse_u64(text, &bytes))
		return -EBADMSG;
	if (bytes < NO_LIMIT && (!*least || bytes < *least))
		*least = bytes;
	return 0;
}

/* Reads the limits of a cgroup and of its ancestors up to the mount point. */
static int climb(int root_fd, const char *mount_point, const char *path,
	const struct version *version, uint64_t *least)
{
	char dir[PATH_MAX];
	int rc = 0;

	if (snprintf(dir, sizeof(dir), "%s%s", mount_point, path) >= (int)sizeof(dir))
		return -ENAMETOOLONG;
	while (!rc && strlen(dir) >= strlen(mount_point)) {
		char *slash;

		rc = read_limit(root_fd, dir, version->file, least);
		slash = strrchr(dir, '/');
		if (!slash || slash == dir)
			break;
		*slash = '\0';
	}
	return rc;
}

static int look_in_mounts(int root_fd, const char *path, const struct version *version,
	const char *mounts, uint64_t *least)
{
	cleanup_with(pm_strv_cleanup) char **lines = pm_strv_split(mounts, "\n");

	for (size_t i = 0; lines && lines[i]; i++) {
		char *root, *mount_point;
		const char *rest;

		if (!read_mount(lines[i], version, &root, &mount_point))
			continue;
		rest = below(path, root);
		if (rest)
			return climb(root_fd, mount_point, rest, version, least);
	}
	return lines ? 0 : -ENOMEM;
}

static int look(int root_fd, const struct version *version, const char *cgroups, const char *mounts,
	uint64_t *least)
{
	cleanup_with(pm_strv_cleanup) char **lines = pm_strv_split(cgroups, "\n");

	for (size_t i = 0; lines && lines[i]; i++) {
		const char *path = path_in(lines[i], version);

		if (path)
			return look_in_mounts(root_fd, path, version, mounts, least);
	}
	return lines ? 0 : -ENOMEM;
}

int pm_memory_limit(int root_fd, uint64_t *ret_bytes, struct pm_err *err)
{
	cleanup_free char *cgroups = NULL, *mounts = NULL;
	uint64_t least = 0;
	int rc = pm_file_read(root_fd, "proc/self/cgroup", MAX_TABLE, &cgroups, NULL, err);

	if (!rc)
		rc = pm_file_read(root_fd, "proc/self/mountinfo", MAX_TABLE, &mounts, NULL, err);
	if (rc)
		return rc;
	for (size_t i = 0; !rc && i < sizeof(versions) / sizeof(versions[0]); i++)
		rc = look(root_fd, &versions[i], cgroups, mounts, &least);
	if (rc)
		return pm_err_sys(err, rc, "read the memory limit of this cgroup");
	*ret_bytes = least;
	return 0;
}
