/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names an object of BYTES in PM_SLOW for promotion, and marks iterations. Prints on which nodes
 *its pages are at the end, and how many bytes were not in DRAM: those that pm_move() then moves.
 *
 *	advise BYTES [free|stay|threads]
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/pmplace.h"
#include "tests/runtime/pages.h"
#include "tests/runtime/threads.h"

#define ITERATIONS 40
#define THREADS	   4
#define ROUNDS	   100

static char *named(size_t bytes, unsigned char value)
{
	char *object = pm_alloc(bytes, PM_SLOW);

	memset(object, value, bytes);
	pm_advise(object, bytes, PM_PROMOTE);
	return object;
}

static void check(const char *object, size_t bytes, unsigned char value)
{
	for (size_t i = 0; i < bytes; i++) {
		if ((unsigned char)object[i] == value)
			continue;
		printf("byte %zu has changed\n", i);
		exit(1);
	}
}

static void iterate(void)
{
	for (int i = 0; i < ITERATIONS; i++) {
		usleep(2000);
		pm_iteration();
	}
}

static void *churn(void *arg)
{
	unsigned char seed = (unsigned char)(uintptr_t)arg;
	size_t bytes = 300000 + seed * 70000;

	for (int i = 0; i < ROUNDS; i++) {
		char *object = named(bytes, seed);

		if (i % 2)
			pm_advise(object + bytes / 2, 1, PM_STAY);
		if (i % 5 == 0)
			pm_iteration();
		check(object, bytes, seed);
		free(object);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	size_t bytes = strtoull(argv[1], NULL, 10);
	const char *what = argc > 2 ? argv[2] : "";
	char *object = named(bytes, 1);

	if (!strcmp(what, "threads"))
		run_threads(THREADS, churn);
	if (!strcmp(what, "stay"))
		pm_advise(object + bytes - 1, 1, PM_STAY);
	if (!strcmp(what, "free")) { /* the next object has its addresses */
		free(object);
		object = pm_alloc(bytes, PM_SLOW);
		memset(object, 1, bytes);
	}
	iterate();
	check(object, bytes, 1);
	printf("pages");
	print_nodes(object, bytes);
	printf("left %zu\n", pm_move(object, bytes, PM_FAST));
	check(object, bytes, 1);
	free(object);
	return 0;
}
