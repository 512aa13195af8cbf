/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One measurement for tests/speed/wipe-speed: makes a file on a tmpfs of which some percent of the
 * pages are not zero, makes all of it zero in one of four ways, prints the milliseconds.
 *
 *	wipe_speed scrub|one-thread|memset|write FILE MIB PERCENT
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "node/wipe/scrub.h"

#define PAGE  4096
#define BLOCK ((size_t)1 << 20)

static double now_ms(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

static unsigned char *map(int fd, size_t size)
{
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (at == MAP_FAILED) {
		perror("mmap");
		exit(1);
	}
	return at;
}

/* Every page is touched, so that no way pays for the first touch of a page. */
static void fill(int fd, size_t size, unsigned percent)
{
	unsigned char *at = map(fd, size);

	memset(at, 0, size);
	for (size_t page = 0; page < size / PAGE; page++)
		if (page % 100 < percent)
			memset(at + page * PAGE, 0x5a, PAGE);
	munmap(at, size);
}

static void by_memset(int fd, size_t size)
{
	unsigned char *at = map(fd, size);

	memset(at, 0, size);
	munmap(at, size);
}

static void by_write(int fd, size_t size)
{
	static unsigned char zeros[BLOCK];

	for (size_t at = 0; at < size; at += BLOCK) {
		if (pwrite(fd, zeros, BLOCK, (off_t)at) != (ssize_t)BLOCK) {
			perror("write");
			exit(1);
		}
	}
}

static void by_scrub(const char *path)
{
	const struct pm_scrub_target target = {path, -1};
	const struct pm_scrub_options options = {.fs_root = "/"};
	struct pm_scrub_result result;
	struct pm_err err;

	if (pm_scrub(&target, 1, &options, &result, &err)) {
		fprintf(stderr, "%s\n", err.text);
		exit(1);
	}
}

static void use_one_processor(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(0, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		perror("sched_setaffinity");
}

int main(int argc, char **argv)
{
	size_t size = argc == 5 ? (size_t)atol(argv[3]) << 20 : 0;
	double start;
	int fd;

	if (!size)
		return 2;
	fd = open(argv[2], O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || ftruncate(fd, (off_t)size)) {
		perror(argv[2]);
		return 1;
	}
	fill(fd, size, (unsigned)atoi(argv[4]));
	if (!strcmp(argv[1], "one-thread"))
		use_one_processor();
	start = now_ms();
	if (!strcmp(argv[1], "memset"))
		by_memset(fd, size);
	else if (!strcmp(argv[1], "write"))
		by_write(fd, size);
	else
		by_scrub(argv[2]);
	printf("%.3f\n", now_ms() - start);
	return 0;
}
