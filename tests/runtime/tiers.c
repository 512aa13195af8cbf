/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Allocates an object of BYTES in PM_SLOW, where it is, and moves it to PM_FAST and back. Prints
 *how many bytes each call moved, and on which nodes the kernel has the object's pages. Its bytes
 *are checked after each step.
 *
 *	tiers BYTES [hold|fork|threads|small|realloc]
 */
#define _GNU_SOURCE
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/pmplace.h"
#include "tests/runtime/pages.h"
#include "tests/runtime/threads.h"

#define THREADS 8
#define ROUNDS	60

static void fill(char *object, size_t bytes, unsigned seed)
{
	for (size_t i = 0; i < bytes; i += sizeof(uint32_t))
		*(uint32_t *)(void *)(object + i) = (uint32_t)(i * 2654435761U + seed);
}

static void check(const char *object, size_t bytes, unsigned seed)
{
	for (size_t i = 0; i < bytes; i += sizeof(uint32_t)) {
		if (*(const uint32_t *)(const void *)(object + i) ==
			(uint32_t)(i * 2654435761U + seed))
			continue;
		printf("byte %zu has changed\n", i);
		exit(1);
	}
}

static void move(char *object, size_t bytes, enum pm_tier tier)
{
	size_t n = pm_move(object, bytes, tier);

	check(object, bytes, 1);
	printf("%s %zu, pages", tier == PM_FAST ? "fast" : "slow", n);
	print_nodes(object, bytes);
}

static void in_child(char *object, size_t bytes)
{
	pid_t child = fork();

	if (!child) {
		check(object, bytes, 1);
		fill(object, bytes, 2);
		printf("child: %s\n", pm_move(object, bytes, PM_SLOW) ? "moved" : "not moved");
		check(object, bytes, 2);
		free(object);
		exit(0);
	}
	waitpid(child, NULL, 0);
}

/* Objects of its own, moved and freed beside those of the other threads, in the same chunks. */
static void *churn(void *arg)
{
	unsigned seed = (unsigned)(uintptr_t)arg;
	size_t bytes = 300000 + seed * 70000;

	for (int i = 0; i < ROUNDS; i++) {
		char *object = pm_alloc(bytes, i % 3 ? PM_SLOW : PM_FAST);

		fill(object, bytes, seed);
		(void)pm_move(object + bytes / 4, bytes / 2, PM_FAST);
		check(object, bytes, seed);
		(void)pm_move(object, bytes / 2, PM_SLOW);
		check(object, bytes, seed);
		free(object);
	}
	return NULL;
}

static void alloc_small(void)
{
	for (size_t bytes = 0; bytes < 100000; bytes = bytes * 3 + 1) {
		char *fast = pm_alloc(bytes, PM_FAST), *slow = pm_alloc(bytes, PM_SLOW);

		memset(fast, 1, bytes);
		memset(slow, 1, bytes);
		if (malloc_usable_size(fast) < bytes || malloc_usable_size(slow) < bytes)
			exit(1);
		free(fast);
		free(slow);
	}
}

static char *grow(char *object, size_t bytes)
{
	object = realloc(object, 2 * bytes);
	check(object, bytes, 1);
	return realloc(object, bytes);
}

static void run(char **object, size_t bytes, const char *what)
{
	if (!strcmp(what, "fork"))
		in_child(*object, bytes);
	else if (!strcmp(what, "threads"))
		run_threads(THREADS, churn);
	else if (!strcmp(what, "small"))
		alloc_small();
	else if (!strcmp(what, "realloc"))
		*object = grow(*object, bytes);
	else if (!strcmp(what, "hold"))
		pause();
}

int main(int argc, char **argv)
{
	size_t bytes = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;
	char *object = pm_alloc(bytes, PM_SLOW);

	setvbuf(stdout, NULL, _IOLBF, 0);
	fill(object, bytes, 1);
	move(object, bytes, PM_SLOW);
	move(object, bytes, PM_FAST);
	for (int i = 2; i < argc; i++)
		run(&object, bytes, argv[i]);
	move(object, bytes, PM_SLOW);
	move(object, bytes, PM_FAST);
	free(object);
	return 0;
}
