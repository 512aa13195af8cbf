/* SPDX-License-Identifier: Apache-2.0 */
/*
 * touch SECONDS [fork]: objects that differ in how they are accessed, in iterations of half a
 * second, which it marks. Of 4 MiB: written at the start, and not touched again. 5 MiB: read all
 * the time. 6 MiB: written all the time. 7 MiB: read once in an iteration. With `fork`, it forks in
 * each iteration, and the child writes to all of them. With `threads`, two threads after each other
 * make and touch an object of 8 MiB each, a page at a time, and live on for a fifth of a second. It
 * has no huge pages.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "runtime/pmplace.h"

#define MIB  ((size_t)1 << 20)
#define PAGE 4096

static volatile char *cold, *read_often, *written, *read_once, *volatile by_thread;
static uint64_t sum;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static unsigned rest_us; /* behind each MiB: a ring of samples has room for the faults of one */

static volatile char *make(size_t bytes)
{
	char *object = malloc(bytes);

	if (!object)
		exit(1);
	for (size_t at = 0; at < bytes; at += MIB) {
		memset(object + at, 1, MIB);
		usleep(rest_us);
	}
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

/* A thread is sampled once it was seen: ten times a second. */
static void *make_in_thread(void *unused)
{
	(void)unused;
	usleep(600000);
	by_thread = make(8 * MIB);
	usleep(200000);
	return NULL;
}

static void run_threads(void)
{
	for (int i = 0; i < 2; i++) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, make_in_thread, NULL) ||
			pthread_join(thread, NULL))
			exit(1);
	}
}

int main(int argc, char **argv)
{
	double end = now() + (argc > 1 ? atof(argv[1]) : 1);
	const char *how = argc > 2 ? argv[2] : "";

	prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
	rest_us = strcmp(how, "threads") ? 0 : 40000;
	free(malloc(MIB)); /* the first large object: now a profile looks for threads */
	usleep(10 * rest_us);
	cold = make(4 * MIB);
	read_often = make(5 * MIB);
	written = make(6 * MIB);
	read_once = make(7 * MIB);
	if (!strcmp(how, "threads"))
		run_threads();
	while (now() < end) {
		double next = now() + 0.5;

		pm_iteration();
		read_all(read_once, 7 * MIB);
		if (!strcmp(how, "fork"))
			fork_once();
		while (now() < next) {
			read_all(read_often, 5 * MIB);
			write_all(written, 6 * MIB);
		}
	}
	printf("cold %d\n", cold[PAGE]);
	return sum == 1;
}
