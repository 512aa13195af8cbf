/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Walks arrays by the streams of pmplace.h and prints a sum over all of their bytes: it is the same
 *with and without the runtime, and with any number of helpers.
 *
 *	streams [BYTES [BATCH_BYTES [ITERATIONS [abandon|clean|lie|threads|fork|spin]...]]]
 *
 * abandon: every second walk ends half way. clean: every second batch is handed back as PM_CLEAN,
 *as it is. lie: the first is handed back as PM_CLEAN and has changed. threads: four of them, each
 *with streams of its own. fork: a child goes on with an open stream, and so does the parent. spin:
 *computes for a millisecond a batch.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "runtime/pmplace.h"

#define THREADS 4

struct work {
	size_t bytes, batch_bytes;
	unsigned iterations;
	bool marks, abandons, hands_back_clean, lies, forks, spins;
	unsigned char *written, *read;
	uint64_t sum;
};

static uint64_t sum_of(const unsigned char *at, size_t bytes)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < bytes; i++)
		sum = (sum ^ at[i]) * UINT64_C(0x100000001b3);
	return sum;
}

static void spin(void)
{
	struct timespec from, now;

	clock_gettime(CLOCK_MONOTONIC, &from);
	do
		clock_gettime(CLOCK_MONOTONIC, &now);
	while ((now.tv_sec - from.tv_sec) * 1000000000 + now.tv_nsec - from.tv_nsec < 1000000);
}

static void change(unsigned char *at, size_t bytes, unsigned by)
{
	for (size_t i = 0; i < bytes; i++)
		at[i] = (unsigned char)(at[i] * 3 + by + i);
}

/* In the child, and in its parent, the batch that is handed out goes on. */
static void go_on_in_child(
	struct work *work, struct pm_stream *stream, unsigned char *batch, size_t n)
{
	pid_t child = fork();
	int status;

	if (!child) {
		change(batch, n, 200);
		for (size_t bytes; (batch = pm_stream_next(stream, PM_DIRTY, &bytes));)
			change(batch, bytes, 201);
		pm_stream_close(stream);
		printf("child %016llx\n", (unsigned long long)sum_of(work->written, work->bytes));
		fflush(stdout);
		_exit(0);
	}
	waitpid(child, &status, 0);
}

static void write_pass(struct work *work, unsigned iteration)
{
	size_t n, number = 0, last = work->bytes / work->batch_bytes / 2;
	enum pm_batch_state state = PM_DIRTY;
	struct pm_stream stream;
	unsigned char *batch;

	pm_stream_open(&stream, work->written, work->bytes, work->batch_bytes, PM_READ_WRITE);
	for (; (batch = pm_stream_next(&stream, state, &n)); number++) {
		bool clean = work->hands_back_clean && number % 2;

		if (work->forks && iteration == 3 && number == 2)
			go_on_in_child(work, &stream, batch, n);
		if (!clean)
			change(batch, n, iteration);
		if (work->spins)
			spin();
		state = clean || (work->lies && !number) ? PM_CLEAN : PM_DIRTY;
		if (work->abandons && iteration % 2 && number == last)
			break;
	}
	pm_stream_close(&stream);
}

/* Two streams at once: one is read, the other written. */
static void read_pass(struct work *work)
{
	struct pm_stream from, to;
	unsigned char *source, *target;
	size_t n, m;

	pm_stream_open(&from, work->read, work->bytes, work->batch_bytes, PM_READ_ONLY);
	pm_stream_open(&to, work->written, work->bytes, work->batch_bytes, PM_READ_WRITE);
	while ((source = pm_stream_next(&from, PM_CLEAN, &n)) &&
		(target = pm_stream_next(&to, PM_DIRTY, &m)))
		for (size_t i = 0; i < n; i++)
			target[i] = (unsigned char)(target[i] + source[i]);
	pm_stream_close(&to);
	pm_stream_close(&from);
}

static void *run(void *context)
{
	struct work *work = context;

	work->written = malloc(work->bytes);
	work->read = malloc(work->bytes);
	if (!work->written || !work->read)
		abort();
	for (size_t i = 0; i < work->bytes; i++) {
		work->written[i] = (unsigned char)(i * 7);
		work->read[i] = (unsigned char)(i >> 8);
	}
	for (unsigned i = 0; i < work->iterations; i++) {
		if (work->marks)
			pm_iteration();
		write_pass(work, i);
		read_pass(work);
	}
	work->sum = sum_of(work->written, work->bytes);
	free(work->read);
	free(work->written);
	return NULL;
}

static void run_threads(const struct work *work)
{
	struct work each[THREADS];
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++) {
		each[i] = *work;
		each[i].marks = !i;
		each[i].bytes -= (size_t)i * 1000;
		if (pthread_create(&threads[i], NULL, run, &each[i]))
			abort();
	}
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		printf("sum %016llx\n", (unsigned long long)each[i].sum);
	}
}

int main(int argc, char **argv)
{
	struct work work = {.marks = true,
		.bytes = argc > 1 ? strtoul(argv[1], NULL, 0) : 20 << 20,
		.batch_bytes = argc > 2 ? strtoul(argv[2], NULL, 0) : 1 << 20,
		.iterations = argc > 3 ? (unsigned)atoi(argv[3]) : 4};
	bool in_threads = false;

	for (int i = 4; i < argc; i++) {
		work.abandons |= !strcmp(argv[i], "abandon");
		work.hands_back_clean |= !strcmp(argv[i], "clean");
		work.lies |= !strcmp(argv[i], "lie");
		work.forks |= !strcmp(argv[i], "fork");
		work.spins |= !strcmp(argv[i], "spin");
		in_threads |= !strcmp(argv[i], "threads");
	}
	if (in_threads) {
		run_threads(&work);
		return 0;
	}
	run(&work);
	printf("sum %016llx\n", (unsigned long long)work.sum);
	return 0;
}
