/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One measurement for tests/speed/malloc-speed, with whatever allocator is preloaded: for each size
 * and number of threads a line "BYTES THREADS NANOSECONDS", of processor time of a malloc, a write
 * to the object and a free. "mixed" in place of the bytes: 1000 objects of 16 B to 4 KiB at a time,
 * freed in another order. Wall time would measure who else is on the machine.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define THREADS 2
#define BATCH	1000
#define REPEATS 5

static const size_t sizes[] = {16, 64, 256, 1024, 4096, 16384, 65536, 262144, (size_t)1 << 20,
	(size_t)8 << 20, (size_t)64 << 20};

struct work {
	size_t bytes; /* 0: mixed */
	long rounds;
	double ns; /* the least of all repeats */
};

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void pairs(const struct work *work)
{
	for (long i = 0; i < work->rounds; i++) {
		char *object = malloc(work->bytes);

		*(char *volatile *)&object = object;
		*(volatile char *)object = 1;
		free(object);
	}
}

static void mixed(const struct work *work)
{
	char *objects[BATCH];

	for (long round = 0; round < work->rounds; round += BATCH) {
		for (size_t i = 0; i < BATCH; i++) {
			objects[i] = malloc(16 + (i * 7919 + (size_t)round) % 4080);
			*(volatile char *)objects[i] = 1;
		}
		for (size_t i = 0; i < BATCH; i++)
			free(objects[i * 389 % BATCH]);
	}
}

static void *run(void *argument)
{
	struct work *work = argument;

	work->ns = 1e18;
	for (int i = 0; i < REPEATS; i++) {
		double start = now_ns(), ns;

		(work->bytes ? pairs : mixed)(work);
		ns = (now_ns() - start) / (double)work->rounds;
		work->ns = ns < work->ns ? ns : work->ns;
	}
	return NULL;
}

/* The mean of the threads. */
static double measure(size_t bytes, long rounds, int threads)
{
	struct work work[THREADS];
	pthread_t ids[THREADS];
	double sum = 0;

	for (int i = 0; i < threads; i++) {
		work[i] = (struct work){bytes, rounds, 0};
		pthread_create(&ids[i], NULL, run, &work[i]);
	}
	for (int i = 0; i < threads; i++) {
		pthread_join(ids[i], NULL);
		sum += work[i].ns;
	}
	return sum / threads;
}

int main(void)
{
	for (int threads = 1; threads <= THREADS; threads++) {
		printf("mixed %d %.1f\n", threads, measure(0, 200000, threads));
		for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
			long rounds = sizes[i] <= 16384 ? 200000 : 2000;

			printf("%zu %d %.1f\n", sizes[i], threads,
				measure(sizes[i], rounds, threads));
		}
	}
	return 0;
}
