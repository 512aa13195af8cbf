/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "tests/unit/scratch.h"

#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

#define MAX_FIXTURES 256

static char directory[PATH_MAX];
static char *fixtures[MAX_FIXTURES];
static size_t n_fixtures;

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static void clean_up(void)
{
	if (directory[0])
		nftw(directory, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static void free_fixtures(void)
{
	while (n_fixtures)
		free(fixtures[--n_fixtures]);
}

static void die(const char *what)
{
	perror(what);
	exit(2);
}

const char *scratch_dir(void)
{
	const char *base = getenv("TMPDIR");

	if (directory[0])
		return directory;
	base = geteuid() == 0 ? "/run" : base ? base : "/tmp";
	snprintf(directory, sizeof(directory), "%s/pm-unit.XXXXXX", base);
	if (!mkdtemp(directory))
		die(directory);
	atexit(clean_up);
	return directory;
}

const char *scratch_path(const char *name)
{
	static char paths[16][PATH_MAX];
	static unsigned next;
	char *path = paths[next++ % 16];

	snprintf(path, PATH_MAX, "%s/%s", scratch_dir(), name);
	return path;
}

static void make_parents(char *path)
{
	for (char *at = path + strlen(scratch_dir()) + 1; (at = strchr(at, '/')); at++) {
		*at = '\0';
		(void)mkdir(path, 0755);
		*at = '/';
	}
}

const char *scratch_file(const char *name, const char *text)
{
	const char *path = scratch_path(name);
	FILE *file;

	make_parents((char *)path);
	file = fopen(path, "w");
	if (!file || fputs(text, file) < 0 || fclose(file))
		die(path);
	return path;
}

const char *scratch_link(const char *name, const char *target)
{
	const char *path = scratch_path(name);

	make_parents((char *)path);
	if (symlink(target, path))
		die(path);
	return path;
}

const char *fixture(const char *name, size_t *ret_length)
{
	char path[PATH_MAX];
	size_t length;

	if (n_fixtures == MAX_FIXTURES)
		die("too many fixtures");
	if (!n_fixtures)
		atexit(free_fixtures);
	snprintf(path, sizeof(path), "tests/fixtures/%s", name);
	if (pm_file_read(AT_FDCWD, path, 1024 * 1024, &fixtures[n_fixtures], &length, NULL))
		die(path);
	if (ret_length)
		*ret_length = length;
	return fixtures[n_fixtures++];
}

char *replaced(const char *text, const char *old, const char *new)
{
	const char *at = strstr(text, old);
	char *result;

	if (!at || asprintf(&result, "%.*s%s%s", (int)(at - text), text, new, at + strlen(old)) < 0)
		die(old);
	return result;
}
