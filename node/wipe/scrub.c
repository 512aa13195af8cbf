/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "node/wipe/scrub.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/cond.h"
#include "base/cpulist.h"
#include "node/wipe/scrub_device.h"

/*
 * Writes to the persistent memory of a socket get no faster with more threads: published
 * measurements of Optane show a peak at four to eight.
 */
#define MAX_THREADS_PER_DEVICE 8

struct work;

/* A device and its progress. */
struct share {
	struct work *work;
	struct pm_scrub_device device;
	bool has_cpus;
	cpu_set_t cpus;
	_Atomic uint64_t
		next; /* offset of the next piece; threads take pieces with an atomic add */
};

struct work {
	struct share *shares;
	size_t n;
	pthread_mutex_t mutex; /* protects the members below */
	pthread_cond_t changed;
	unsigned running;
	uint64_t done_bytes, written_bytes;
	int failed;
	struct pm_err err; /* of the first failure */
};

static uint64_t now_ms(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000 + (uint64_t)time.tv_nsec / 1000000;
}

uint64_t pm_scrub_mb_per_s(uint64_t bytes, uint64_t elapsed_ms)
{
	return bytes / 1000 / (elapsed_ms ? elapsed_ms : 1);
}

static void fail(struct work *work, const struct pm_err *err)
{
	pthread_mutex_lock(&work->mutex);
	if (!work->failed) {
		work->failed = err->code;
		work->err = *err;
	}
	pthread_mutex_unlock(&work->mutex);
}

/* Counts a piece; false: a thread has failed, and all stop. */
static bool account(struct work *work, size_t length, uint64_t written_bytes)
{
	bool go_on;

	pthread_mutex_lock(&work->mutex);
	work->done_bytes += length;
	work->written_bytes += written_bytes;
	go_on = !work->failed;
	pthread_mutex_unlock(&work->mutex);
	return go_on;
}

/* Takes the next piece; 0: there is none left. */
static size_t take(struct share *share, uint64_t *ret_offset)
{
	uint64_t size = share->device.size_bytes;
	uint64_t offset = atomic_fetch_add(&share->next, PM_SCRUB_PIECE_BYTES);

	*ret_offset = offset;
	if (offset >= size)
		return 0;
	return size - offset < PM_SCRUB_PIECE_BYTES ? size - offset : PM_SCRUB_PIECE_BYTES;
}

static void run_pieces(struct share *share, struct pm_scrub_buffer *buffer)
{
	uint64_t offset;
	struct pm_err err;
	size_t length;

	while ((length = take(share, &offset))) {
		uint64_t written_bytes = 0;

		if (pm_scrub_device_piece(
			    &share->device, offset, length, buffer, &written_bytes, &err))
			fail(share->work, &err);
		if (!account(share->work, length, written_bytes))
			return;
	}
}

static void *thread_main(void *context)
{
	struct share *share = context;
	struct work *work = share->work;
	cleanup_free struct pm_scrub_buffer *buffer = NULL;
	struct pm_err err;

	if (share->has_cpus)
		(void)pthread_setaffinity_np(pthread_self(), sizeof(share->cpus), &share->cpus);
	if (!share->device.map) {
		buffer = aligned_alloc(PM_SCRUB_PAGE_BYTES, sizeof(*buffer));
		if (buffer)
			memset(buffer->zeros, 0, sizeof(buffer->zeros));
	}
	if (share->device.map || buffer) {
		run_pieces(share, buffer);
	} else {
		pm_err_nomem(&err);
		fail(work, &err);
	}
	pthread_mutex_lock(&work->mutex);
	work->running--;
	pthread_cond_signal(&work->changed);
	pthread_mutex_unlock(&work->mutex);
	return NULL;
}

static unsigned thread_count(const struct share *share)
{
	uint64_t pieces =
		(share->device.size_bytes + PM_SCRUB_PIECE_BYTES - 1) / PM_SCRUB_PIECE_BYTES;
	cpu_set_t mine;
	unsigned n = 1;

	if (share->has_cpus)
		n = (unsigned)CPU_COUNT(&share->cpus);
	else if (!sched_getaffinity(0, sizeof(mine), &mine))
		n = (unsigned)CPU_COUNT(&mine);
	n = n < MAX_THREADS_PER_DEVICE ? n : MAX_THREADS_PER_DEVICE;
	return n < pieces ? n : (unsigned)pieces;
}

/* Threads are detached: `running` counts them, under the mutex. */
static void start(struct work *work, struct share *share)
{
	unsigned n = thread_count(share);
	pthread_attr_t attr;
	pthread_t thread;
	int rc = 0;

	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	for (unsigned i = 0; i < n && !rc; i++) {
		pthread_mutex_lock(&work->mutex);
		rc = pthread_create(&thread, &attr, thread_main, share);
		work->running += !rc;
		pthread_mutex_unlock(&work->mutex);
		if (rc && !i) {
			struct pm_err err;

			pm_err_sys(&err, -rc, "wipe '%s': start a thread", share->device.path);
			fail(work, &err);
		}
	}
	pthread_attr_destroy(&attr);
}

static uint64_t total_bytes(const struct work *work)
{
	uint64_t total = 0;

	for (size_t i = 0; i < work->n; i++)
		total += work->shares[i].device.size_bytes;
	return total;
}

/* Waits until all threads have ended, and reports their progress. */
static void wait_for_all(struct work *work, const struct pm_scrub_options *options)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += options->report_s;
	pthread_mutex_lock(&work->mutex);
	while (work->running) {
		if (!options->report_s || !options->progress) {
			pthread_cond_wait(&work->changed, &work->mutex);
		} else if (pthread_cond_timedwait(&work->changed, &work->mutex, &until) ==
			   ETIMEDOUT) {
			options->progress(options->context, work->done_bytes, total_bytes(work));
			until.tv_sec += options->report_s;
		}
	}
	pthread_mutex_unlock(&work->mutex);
}

/* If the node has no known CPUs, threads run on any. */
static void find_cpus(struct share *share, int root_fd, int numa_node)
{
	share->has_cpus = numa_node >= 0 &&
			  !pm_cpulist_of_node(root_fd, numa_node, &share->cpus, NULL) &&
			  CPU_COUNT(&share->cpus) > 0;
}

static int open_all(struct work *work, const struct pm_scrub_target *targets,
	const struct pm_scrub_options *options, struct pm_err *err)
{
	cleanup_close int root_fd = open(options->fs_root, O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (root_fd < 0)
		return pm_err_sys(err, -errno, "open '%s'", options->fs_root);
	for (size_t i = 0; i < work->n; i++) {
		struct share *share = &work->shares[i];
		int rc = pm_scrub_device_open(&targets[i], options, &share->device, err);

		if (rc)
			return rc;
		share->work = work;
		find_cpus(share, root_fd, targets[i].numa_node);
	}
	return 0;
}

static int sync_all(const struct work *work, struct pm_err *err)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < work->n; i++)
		rc = pm_scrub_device_sync(&work->shares[i].device, err);
	return rc;
}

static int run_all(struct work *work, const struct pm_scrub_options *options, struct pm_err *err)
{
	for (size_t i = 0; i < work->n; i++)
		start(work, &work->shares[i]);
	wait_for_all(work, options);
	if (!work->failed)
		return sync_all(work, err);
	if (err)
		*err = work->err;
	return work->failed;
}

static void done(struct work *work)
{
	for (size_t i = 0; i < work->n; i++)
		pm_scrub_device_close(&work->shares[i].device);
	free(work->shares);
	pthread_cond_destroy(&work->changed);
	pthread_mutex_destroy(&work->mutex);
}

static size_t count_discarded(const struct work *work)
{
	size_t n = 0;

	for (size_t i = 0; i < work->n; i++)
		n += work->shares[i].device.discarded;
	return n;
}

int pm_scrub(const struct pm_scrub_target *targets, size_t n,
	const struct pm_scrub_options *options, struct pm_scrub_result *ret, struct pm_err *err)
{
	cleanup_with(done) struct work work = {
		.mutex = PTHREAD_MUTEX_INITIALIZER, .shares = calloc(n + 1, sizeof(struct share))};
	uint64_t started_ms = now_ms();
	int rc;

	if (!work.shares)
		return pm_err_nomem(err);
	pm_cond_init(&work.changed);
	for (size_t i = 0; i < n; i++)
		work.shares[i].device.fd = -1;
	work.n = n;
	rc = open_all(&work, targets, options, err);
	if (!rc)
		rc = run_all(&work, options, err);
	if (!rc)
		*ret = (struct pm_scrub_result){.size_bytes = total_bytes(&work),
			.written_bytes = work.written_bytes,
			.elapsed_ms = now_ms() - started_ms,
			.n_discarded = count_discarded(&work)};
	return rc;
}
