/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "launcher/cache.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "launcher/proc_stat.h"

static const char *base_dir(void)
{
	static const char *const names[] = {"XDG_RUNTIME_DIR", "TMPDIR"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *value = getenv(names[i]);

		if (value && *value == '/')
			return value;
	}
	return "/tmp";
}

/* True: a directory, not a link, of this user, that no other user may access. */
static bool is_private(const char *dir)
{
	struct stat info;

	return !lstat(dir, &info) && S_ISDIR(info.st_mode) && info.st_uid == geteuid() &&
	       !(info.st_mode & (S_IRWXG | S_IRWXO));
}

static int make_dir(char dir[PATH_MAX])
{
	if (snprintf(dir, PATH_MAX, "%s/pmrun-%u", base_dir(), (unsigned)geteuid()) >= PATH_MAX)
		return -ENAMETOOLONG;
	if (mkdir(dir, 0700) && errno != EEXIST)
		return -errno;
	return is_private(dir) ? 0 : -EPERM;
}

/* Process numbers are reused, start times are not: field 22 of proc(5). */
static int start_time(pid_t pid, unsigned long long *ret)
{
	cleanup_free char *stat = pm_proc_stat(pid);

	if (!stat)
		return -ESRCH;
	if (sscanf(stat,
		    " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d "
		    "%*d %*d %llu",
		    ret) != 1)
		return -EBADMSG;
	return 0;
}

/* "DIR/1234-56789" */
static int name_file(pid_t launcher, char ret[PATH_MAX])
{
	char dir[PATH_MAX];
	unsigned long long began;
	int rc = make_dir(dir);

	if (!rc)
		rc = start_time(launcher, &began);
	if (!rc && snprintf(ret, PATH_MAX, "%s/%d-%llu", dir, (int)launcher, began) >= PATH_MAX)
		rc = -ENAMETOOLONG;
	return rc;
}

/* Removes files of launchers that have ended. */
static void sweep(const char *file)
{
	const char *slash = strrchr(file, '/');
	cleanup_free char *path = strndup(file, (size_t)(slash - file));
	cleanup_dir DIR *dir = path ? opendir(path) : NULL;
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		int pid = atoi(entry->d_name);

		if (pid > 0 && kill(pid, 0) && errno == ESRCH)
			(void)unlinkat(dirfd(dir), entry->d_name, 0);
	}
}

static int read_cached(const char *xml, const struct pm_topology_source *source,
	struct pm_topology **ret, struct pm_err *err)
{
	struct pm_topology_source cached = *source;

	cached.xml = xml;
	cached.is_this_machine = true;
	return access(xml, R_OK) ? -ENOENT : pm_topology_load(ret, &cached, err);
}

/* The first rank discovers. The others wait for its lock, and read its file. */
static int discover(const char *file, const char *xml, const struct pm_topology_source *source,
	struct pm_topology **ret, struct pm_err *err)
{
	cleanup_close int fd = open(file, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	int rc;

	if (fd >= 0)
		(void)flock(fd, LOCK_EX);
	if (!read_cached(xml, source, ret, NULL))
		return 0;
	rc = pm_topology_load(ret, source, err);
	if (!rc && fd >= 0) {
		(void)pm_topology_save(*ret, xml, NULL);
		sweep(file);
	}
	return rc;
}

int pm_cache_load(pid_t launcher, const struct pm_topology_source *source, struct pm_topology **ret,
	struct pm_err *err)
{
	char file[PATH_MAX], xml[PATH_MAX + sizeof(".xml")];

	if (launcher <= 0 || name_file(launcher, file))
		return pm_topology_load(ret, source, err);
	snprintf(xml, sizeof(xml), "%s.xml", file);
	if (!read_cached(xml, source, ret, NULL))
		return 0;
	return discover(file, xml, source, ret, err);
}
