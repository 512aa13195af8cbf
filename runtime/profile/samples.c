/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "runtime/profile/samples.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/param.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/common/clock.h"
#include "runtime/heap/heap.h"
#include "runtime/profile/access_events.h"
#include "runtime/profile/live_objects.h"
#include "runtime/profile/loop_clock.h"
#include "runtime/profile/profile.h"
#include "runtime/profile/site_accesses.h"

#define MILLISECOND  UINT64_C(1000000)
#define DRAIN	     (10 * MILLISECOND)
#define LOOK	     10			  /* drains from one look for threads to the next */
#define WINDOW	     (1000 * MILLISECOND) /* at least, and a part of the run: few records */
#define WINDOW_SHARE 32

struct sampled {
	pid_t tid; /* 0: unused */
	bool is_seen;
	int fds[PM_ACCESS_EVENTS];
	uint64_t ids[PM_ACCESS_EVENTS];
	struct pm_ring ring;
};

static struct {
	struct pm_access_event events[PM_ACCESS_EVENTS];
	unsigned n_events;
	struct sampled threads[PM_SAMPLED_THREADS];
	const struct sampled *current; /* the one that is drained */
	pid_t own;
	uint64_t events_counted;
	struct pm_record_source *record;
} samples;

/* --- counting --- */

static enum pm_access_kind kind_of(uint64_t id)
{
	for (unsigned i = 0; i < samples.n_events; i++)
		if (samples.current->ids[i] == id)
			return samples.events[i].kind;
	return samples.events[0].kind;
}

/* A small object that the profile has stands for as many bytes as a sample of the profile does. */
static uint64_t stands_for(const struct pm_live_view *live, uint64_t bytes)
{
	return live->bytes >= PM_LARGE ? bytes
				       : bytes * MAX(PM_PROFILE_SAMPLE_BYTES / live->bytes, 1);
}

static void count(const struct pm_sample *sample, void *context)
{
	struct pm_live_view live;
	bool is_store;
	uint64_t bytes = pm_access_bytes(kind_of(sample->id), sample, &is_store);

	(void)context;
	samples.record->count++;
	samples.events_counted += sample->period;
	if (!bytes)
		return;
	if (!pm_heap_owns((void *)sample->address)) {
		samples.record->elsewhere++;
		return;
	}
	if (!pm_live_objects_covering(sample->address, &live))
		live = (struct pm_live_view){.bytes = 0};
	if (live.bytes)
		bytes = stands_for(&live, bytes);
	(void)pm_site_accesses_add(live.site, live.bytes >= PM_LARGE, bytes, is_store ? bytes : 0);
}

/* --- threads --- */

static int open_event(const struct pm_access_event *event, pid_t tid)
{
	int fd = (int)syscall(SYS_perf_event_open, &event->attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static void close_thread(struct sampled *thread)
{
	pm_ring_close(&thread->ring);
	for (unsigned i = 0; i < samples.n_events; i++)
		if (thread->fds[i] >= 0)
			close(thread->fds[i]);
	thread->tid = 0;
}

/* The ring is the first event's; the others write into it, too. */
static int open_thread(struct sampled *thread, pid_t tid)
{
	int rc = 0;

	*thread = (struct sampled){.tid = tid, .is_seen = true, .fds = {-1, -1}};
	for (unsigned i = 0; !rc && i < samples.n_events; i++) {
		thread->fds[i] = open_event(&samples.events[i], tid);
		rc = MIN(thread->fds[i], 0);
		if (!rc && ioctl(thread->fds[i], PERF_EVENT_IOC_ID, &thread->ids[i]))
			rc = -errno;
		if (!rc && !i)
			rc = pm_ring_open(&thread->ring, thread->fds[0]);
		else if (!rc && ioctl(thread->fds[i], PERF_EVENT_IOC_SET_OUTPUT, thread->fds[0]))
			rc = -errno;
	}
	if (rc)
		close_thread(thread);
	return rc;
}

static void drain(struct sampled *thread)
{
	samples.current = thread;
	pm_ring_drain(&thread->ring, count, NULL);
	samples.record->lost += thread->ring.lost + thread->ring.bad;
	samples.record->throttled += thread->ring.throttled;
	thread->ring.lost = thread->ring.bad = thread->ring.throttled = 0;
}

static void drain_all(void)
{
	for (int i = 0; i < PM_SAMPLED_THREADS; i++)
		if (samples.threads[i].tid)
			drain(&samples.threads[i]);
}

/* The thread's entry, or an unused one; NULL: there are too many. */
static struct sampled *find(pid_t tid)
{
	struct sampled *unused = NULL;

	for (int i = 0; i < PM_SAMPLED_THREADS; i++) {
		if (samples.threads[i].tid == tid)
			return &samples.threads[i];
		if (!samples.threads[i].tid && !unused)
			unused = &samples.threads[i];
	}
	return unused;
}

static int see(pid_t tid)
{
	struct sampled *thread = tid == samples.own ? NULL : find(tid);

	if (thread && !thread->tid)
		return open_thread(thread, tid);
	if (thread)
		thread->is_seen = true;
	return 0;
}

/* Threads that have ended are drained a last time. */
static void close_ended(void)
{
	for (int i = 0; i < PM_SAMPLED_THREADS; i++) {
		struct sampled *thread = &samples.threads[i];

		if (thread->tid && !thread->is_seen) {
			drain(thread);
			close_thread(thread);
		}
		thread->is_seen = false;
	}
}

/* getdents64(2): opendir(3) would allocate. Returns the first error of a thread that is there. */
static int look_for_threads(void)
{
	struct entry {
		uint64_t inode, offset;
		unsigned short length;
		unsigned char type;
		char name[];
	};
	_Alignas(struct entry) char entries[4096];
	int fd = open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC), rc = 0;
	long n;

	if (fd < 0)
		return -errno;
	while ((n = syscall(SYS_getdents64, fd, entries, sizeof(entries))) > 0) {
		for (long at = 0; at < n;) {
			const struct entry *entry = (const struct entry *)(entries + at);
			pid_t tid = (pid_t)strtol(entry->name, NULL, 10);
			int one = tid > 0 ? see(tid) : 0;

			rc = rc || one == -ESRCH ? rc : one;
			at += entry->length;
		}
	}
	close(fd);
	close_ended();
	return rc;
}

/* --- public --- */

static enum pm_access_source source_of(enum pm_profile_source source)
{
	return source == PM_PROFILE_FAULTS ? PM_ACCESSES_BY_FAULTS : PM_ACCESSES_BY_SAMPLES;
}

int pm_samples_open(enum pm_profile_source source, struct pm_record_source *record)
{
	int rc;

	samples.own = gettid();
	samples.record = record;
	samples.n_events = pm_access_events(source, samples.events);
	if (!samples.n_events)
		return -ENODEV;
	rc = look_for_threads();
	if (rc) {
		for (int i = 0; i < PM_SAMPLED_THREADS; i++)
			if (samples.threads[i].tid)
				close_thread(&samples.threads[i]);
		return rc;
	}
	record->head.number = source_of(source);
	record->event = samples.events[0].attr.config;
	return 0;
}

/* Writes what was counted since `from_ns`. Returns the end of the next window. */
static uint64_t write_window(uint64_t start_ns, uint64_t from_ns, uint32_t number)
{
	uint64_t at_ns = pm_clock_now();
	struct pm_loop loop = pm_loop_get(true);
	struct pm_record_accesses record = {.head = {PM_RECORD_ACCESSES, sizeof(record), number},
		.iteration = loop.number,
		.phases = loop.phases,
		.from_ns = from_ns - start_ns,
		.length_ns = at_ns - from_ns};

	pm_site_accesses_write(&record);
	return at_ns + MAX(WINDOW, (at_ns - start_ns) / WINDOW_SHARE);
}

void pm_samples_run(uint64_t start_ns, struct pm_record_source *record)
{
	uint64_t begin_ns = pm_clock_now(), from_ns = begin_ns, until_ns = begin_ns + WINDOW;
	uint32_t number = 0, drains = 0;
	bool goes_on;

	do {
		goes_on = pm_loop_wait(pm_clock_now() + DRAIN);
		drain_all();
		if (++drains % LOOK == 0)
			(void)look_for_threads();
		if (!goes_on || pm_clock_now() >= until_ns) {
			until_ns = write_window(start_ns, from_ns, ++number);
			from_ns = pm_clock_now();
		}
	} while (goes_on);
	record->running_ns = pm_clock_now() - begin_ns;
	record->cpu_ns = pm_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	record->period = record->count ? samples.events_counted / record->count : 0;
}
