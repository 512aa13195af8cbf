/* SPDX-License-Identifier: Apache-2.0 */
/*
 * touch SECONDS [fork]: objects that differ in how they are accessed, in iterations of a tenth of a
 * second, which it marks. Of 4 MiB: written at the start, and not touched again. 5 MiB: read all
 * the time. 6 MiB: written all the time. 7 MiB: read once in an iteration. With `fork`, it forks in
 * each iteration, and the child writes to all of them.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "runtime/pmplace.h"

#define MIB  ((size_t)1 << 20)
#define PAGE 4096

static volatile char *cold, *read_often, *written, *read_once;
static uint64_t sum;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static volatile char *make(size_t bytes)
{
	char *object = malloc(bytes);

	if (!object)
		exit(1);
	memset(object, 1, bytes);
	return object;
}

static void read_all(const volatile char *object, size_t bytes)
{
	for (size_t at = 0; at < bytes; at += PAGE)
		sum += (uint64_t)object[at];
}

static void write_all(volatile char *object, size_t bytes)
{
	for (size_t at = 0; at < bytes; at += PAGE)
		object[at] = (char)at;
}

static void fork_once(void)
{
	pid_t child = fork();

	if (!child) {
		write_all(cold, 4 * MIB);
		write_all(read_often, 5 * MIB);
		_exit(0);
	}
	if (child < 0 || waitpid(child, NULL, 0) != child)
		exit(1);
}

int main(int argc, char **argv)
{
	double end = now() + (argc > 1 ? atof(argv[1]) : 1);

	cold = make(4 * MIB);
	read_often = make(5 * MIB);
	written = make(6 * MIB);
	read_once = make(7 * MIB);
	while (now() < end) {
		double next = now() + 0.1;

		pm_iteration();
		read_all(read_once, 7 * MIB);
		if (argc > 2)
			fork_once();
		while (now() < next) {
			read_all(read_often, 5 * MIB);
			write_all(written, 6 * MIB);
		}
	}
	printf("cold %d\n", cold[PAGE]);
	return sum == 1;
}
