/* SPDX-License-Identifier: Apache-2.0 */
/*
 * alike [mark]: in each of ten iterations, which it marks if asked to, two objects of 1 MiB that
 * are gone at its end, and one that stays.
 */
#include <stdlib.h>

#include "runtime/pmplace.h"

#define BYTES	   ((size_t)1 << 20)
#define ITERATIONS 10

static char *volatile kept[ITERATIONS];

/* A use that compilers cannot remove. */
static char *make(void)
{
	volatile char *object = malloc(BYTES);

	*object = 1;
	return (char *)object;
}

static __attribute__((noinline)) void work(void)
{
	char *a = make(), *b = make();

	free(a);
	free(b);
}

static __attribute__((noinline)) void keep(int n)
{
	kept[n] = make();
}

int main(int argc, char **argv)
{
	(void)argv;
	for (int n = 0; n < ITERATIONS; n++) {
		if (argc > 1)
			pm_iteration();
		work();
		keep(n);
	}
	return 0;
}
