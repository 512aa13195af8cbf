/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One measurement for tests/speed/end-speed: a job's directory with some files below the root of a
 * file system, and its end: removed at once, or made trash that is removed behind the job's back.
 * Prints the milliseconds of the end, and those of the removal after it.
 *
 *	end_speed remove|trash ROOT FILES
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "node/wipe/rmtree.h"
#include "node/wipe/trash.h"

#define FILES_PER_DIRECTORY 1000

static double now_ms(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

static void need(bool condition, const char *what)
{
	if (condition)
		return;
	perror(what);
	exit(1);
}

static int make_directory(int parent, const char *name)
{
	int fd;

	need(!mkdirat(parent, name, 0700), "mkdir");
	fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	need(fd >= 0, "open");
	return fd;
}

/* A block each. */
static void make_files(int job, long n)
{
	char name[24];
	int fd = -1;

	for (long i = 0; i < n; i++) {
		int file;

		snprintf(name, sizeof(name), "%ld", i);
		if (i % FILES_PER_DIRECTORY == 0) {
			if (fd >= 0)
				close(fd);
			fd = make_directory(job, name);
		}
		file = openat(fd, name, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
		need(file >= 0 && write(file, name, sizeof(name)) > 0, "write");
		close(file);
	}
	close(fd);
}

static void end(int root, const char *path, bool makes_trash)
{
	struct pm_err err = {0};
	bool is_left;
	int rc = makes_trash ? pm_trash_make(root, path, "job_1", &is_left, &err)
			     : pm_rmtree(root, "job_1", &err);

	if (rc)
		fprintf(stderr, "%s\n", err.text);
	need(!rc, "end");
}

int main(int argc, char **argv)
{
	double begun, ended;
	int root, job;

	if (argc != 4)
		return 2;
	root = open(argv[2], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	need(root >= 0, argv[2]);
	job = make_directory(root, "job_1");
	make_files(job, atol(argv[3]));
	close(job);
	syncfs(root);
	begun = now_ms();
	end(root, argv[2], !strcmp(argv[1], "trash"));
	ended = now_ms();
	need(!pm_trash_empty(root, argv[2], NULL), "empty the trash");
	printf("%.3f %.3f\n", ended - begun, now_ms() - ended);
	return 0;
}
