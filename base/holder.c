/* SPDX-License-Identifier: Apache-2.0 */
#include "base/holder.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/run.h"

#define MAX_BYTES  65536
#define LINE_BYTES 120

/* A process that only waits for the lock has the file open, too. Its fdinfo has no lock. */
static bool has_lock(int pid, const char *fd)
{
	cleanup_free char *text = NULL;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/fdinfo/%.16s", pid, fd);
	return !pm_file_read(AT_FDCWD, path, MAX_BYTES, &text, NULL, NULL) &&
	       strstr(text, "FLOCK") != NULL;
}

static bool is_file(int dir_fd, const char *name, const struct stat *file)
{
	struct stat is;

	return !fstatat(dir_fd, name, &is, 0) && is.st_dev == file->st_dev &&
	       is.st_ino == file->st_ino;
}

bool pm_holder_is(int pid, int fd)
{
	const struct dirent *entry;
	struct stat file;
	cleanup_dir DIR *dir = NULL;
	bool found = false;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	dir = fstat(fd, &file) ? NULL : opendir(path);
	while (dir && !found && (entry = readdir(dir)))
		found = is_file(dirfd(dir), entry->d_name, &file) && has_lock(pid, entry->d_name);
	return found;
}

static char *command_line(int pid)
{
	cleanup_free char *text = NULL;
	char path[64];
	size_t length;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", pid);
	if (pm_file_read(AT_FDCWD, path, MAX_BYTES, &text, &length, NULL))
		return NULL;
	for (size_t i = 0; i + 1 < length; i++)
		text[i] = text[i] ? text[i] : ' ';
	return pm_quote(text, strlen(text), LINE_BYTES);
}

void pm_holder_each(int fd, bool (*each)(void *context, int pid), void *context)
{
	cleanup_dir DIR *dir = opendir("/proc");
	const struct dirent *entry;
	bool goes_on = true;

	while (dir && goes_on && (entry = readdir(dir))) {
		int pid = atoi(entry->d_name);

		if (pid > 0 && pm_holder_is(pid, fd))
			goes_on = each(context, pid);
	}
}

/* A keeper (base/spawn.h), as it runs our program. */
static bool is_ours(int pid)
{
	struct stat its, ours;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	return !stat(path, &its) && !stat("/proc/self/exe", &ours) && its.st_dev == ours.st_dev &&
	       its.st_ino == ours.st_ino;
}

/* The first child; 0: none, or the kernel does not tell. */
static int child_of(int pid)
{
	cleanup_free char *text = NULL;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", pid, pid);
	return pm_file_read(AT_FDCWD, path, MAX_BYTES, &text, NULL, NULL) ? 0 : atoi(text);
}

struct found {
	int tool, keeper;
};

static bool take_tool(void *context, int pid)
{
	struct found *found = context;
	bool ours = is_ours(pid);

	*(ours ? &found->keeper : &found->tool) = pid;
	return ours;
}

char *pm_holder_find(int fd, int *ret_pid)
{
	struct found found = {0};

	pm_holder_each(fd, take_tool, &found);
	if (!found.tool && found.keeper)
		found.tool = child_of(found.keeper);
	*ret_pid = found.tool ? found.tool : found.keeper;
	return *ret_pid ? command_line(*ret_pid) : NULL;
}
