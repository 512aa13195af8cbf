/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "runtime/stream/helpers.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/common/clock.h"
#include "runtime/common/log.h"
#include "runtime/common/nodemask.h"

#define SLICE (UINT64_C(1) << 20) /* long against the locks, short against an interval */

static struct {
	pthread_mutex_t starting; /* taken before the other one, and before an allocator's */
	pthread_mutex_t lock;
	pthread_cond_t posted;	  /* a job was posted, a helper may have work; CLOCK_MONOTONIC */
	pthread_cond_t copied;	  /* all of a job is copied */
	struct pm_copy_job *jobs; /* in the order in which they were posted */
	unsigned n_started;
	atomic_bool cannot_start; /* a thread could not be made, or this is a child of fork(2) */
	int cpus[PM_HELPERS_MAX];
	unsigned n_cpus;
} helpers = {.starting = PTHREAD_MUTEX_INITIALIZER,
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.copied = PTHREAD_COND_INITIALIZER};

static void init_condition(void)
{
	pthread_condattr_t monotonic;

	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&helpers.posted, &monotonic);
	pthread_condattr_destroy(&monotonic);
}

/* The first ones of a list: lists of processors look like those of NUMA nodes. */
static bool read_cpus(const char *text)
{
	struct pm_nodemask cpus;

	if (!pm_nodemask_parse(text, &cpus))
		return false;
	for (unsigned cpu = 0; cpu < CPU_SETSIZE && helpers.n_cpus < PM_HELPERS_MAX; cpu++)
		if (pm_nodemask_isset(&cpus, cpu))
			helpers.cpus[helpers.n_cpus++] = (int)cpu;
	return true;
}

void pm_helpers_prepare(void)
{
	const char *text = getenv("PM_HELPER_CPUS");

	init_condition();
	helpers.n_cpus = 0;
	if (text && *text && !read_cpus(text))
		pm_log("PM_HELPER_CPUS='%.100s' is not a list of processors like 22-23: there are "
		       "no helpers",
			text);
}

unsigned pm_helpers_cpus(void)
{
	return helpers.n_cpus;
}

bool pm_helpers_can_run(void)
{
	return !atomic_load_explicit(&helpers.cannot_start, memory_order_relaxed);
}

/* --- slices, under the lock --- */

/* When the next slice of a paced job is due. */
static uint64_t due_ns(const struct pm_copy_job *job)
{
	return job->posted_ns +
	       (uint64_t)((double)job->pace_ns * (double)job->begun / (double)job->bytes);
}

/* The first job that this helper may go on with; *ret_due_ns: when, if it is not due. */
static struct pm_copy_job *find_job(unsigned helper, uint64_t *ret_due_ns)
{
	uint64_t now = pm_clock_now();

	*ret_due_ns = UINT64_MAX;
	for (struct pm_copy_job *job = helpers.jobs; job; job = job->next) {
		if (!(job->helpers & 1u << helper) || job->begun == job->bytes)
			continue;
		if (due_ns(job) <= now)
			return job;
		if (due_ns(job) < *ret_due_ns)
			*ret_due_ns = due_ns(job);
	}
	return NULL;
}

static void copy_slice(struct pm_copy_job *job)
{
	size_t at = job->begun, left = job->bytes - at, bytes = left < SLICE ? left : SLICE;

	job->begun += bytes;
	pthread_mutex_unlock(&helpers.lock);
	pm_copy(job->to + at, job->from + at, bytes, job->kind);
	pthread_mutex_lock(&helpers.lock);
	job->done += bytes;
	if (job->done == job->bytes)
		pthread_cond_broadcast(&helpers.copied);
}

static void wait_for_job(uint64_t until_ns)
{
	struct timespec until = {(time_t)(until_ns / 1000000000), (long)(until_ns % 1000000000)};

	if (until_ns == UINT64_MAX)
		pthread_cond_wait(&helpers.posted, &helpers.lock);
	else
		pthread_cond_timedwait(&helpers.posted, &helpers.lock, &until);
}

static void *help(void *context)
{
	unsigned helper = (unsigned)(uintptr_t)context;
	uint64_t until_ns;

	pthread_mutex_lock(&helpers.lock);
	for (;;) {
		struct pm_copy_job *job = find_job(helper, &until_ns);

		if (job)
			copy_slice(job);
		else
			wait_for_job(until_ns);
	}
	return NULL;
}

/* --- threads --- */

/* Where the plan has no CPU for it, the kernel finds one among the rank's. */
static void place(pthread_t thread, unsigned helper)
{
	char name[16] = "pm-helper0";
	cpu_set_t cpus;

	name[strlen(name) - 1] = (char)('0' + helper);
	(void)pthread_setname_np(thread, name);
	if (helper >= helpers.n_cpus)
		return;
	CPU_ZERO(&cpus);
	CPU_SET((unsigned)helpers.cpus[helper], &cpus);
	if (pthread_setaffinity_np(thread, sizeof(cpus), &cpus))
		pm_log("helper %u cannot run on processor %d of PM_HELPER_CPUS", helper,
			helpers.cpus[helper]);
}

static bool start_one(unsigned helper)
{
	pthread_attr_t detached;
	sigset_t all, before;
	pthread_t thread;
	bool started;

	pthread_attr_init(&detached);
	pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	started = !pthread_create(&thread, &detached, help, (void *)(uintptr_t)helper);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&detached);
	if (started)
		place(thread, helper);
	return started;
}

/* Starts the helpers of the mask, if they are not there. pthread_create() may allocate. */
static void start_helpers(unsigned mask)
{
	pthread_mutex_lock(&helpers.starting);
	while (pm_helpers_can_run() && mask >> helpers.n_started) {
		if (start_one(helpers.n_started))
			helpers.n_started++;
		else
			atomic_store(&helpers.cannot_start, true);
	}
	pthread_mutex_unlock(&helpers.starting);
}

/* --- jobs --- */

static void add_job(struct pm_copy_job *job)
{
	struct pm_copy_job **at = &helpers.jobs;

	while (*at)
		at = &(*at)->next;
	job->next = NULL;
	*at = job;
}

static void remove_job(const struct pm_copy_job *job)
{
	struct pm_copy_job **at = &helpers.jobs;

	while (*at != job)
		at = &(*at)->next;
	*at = job->next;
}

void pm_helpers_post(struct pm_copy_job *job)
{
	job->begun = job->done = 0;
	job->posted_ns = pm_clock_now();
	start_helpers(job->helpers);
	pthread_mutex_lock(&helpers.lock);
	add_job(job);
	pthread_cond_broadcast(&helpers.posted);
	pthread_mutex_unlock(&helpers.lock);
}

uint64_t pm_helpers_wait(struct pm_copy_job *job)
{
	uint64_t from = pm_clock_now();

	pthread_mutex_lock(&helpers.lock);
	while (job->done < job->bytes) {
		if (job->begun < job->bytes)
			copy_slice(job);
		else
			pthread_cond_wait(&helpers.copied, &helpers.lock);
	}
	remove_job(job);
	pthread_mutex_unlock(&helpers.lock);
	return pm_clock_now() - from;
}

bool pm_helpers_are_busy(void)
{
	bool busy = false;

	pthread_mutex_lock(&helpers.lock);
	for (struct pm_copy_job *job = helpers.jobs; job; job = job->next)
		busy |= job->done < job->bytes;
	pthread_mutex_unlock(&helpers.lock);
	return busy;
}

/* --- fork --- */

void pm_helpers_before_fork(void)
{
	pthread_mutex_lock(&helpers.starting);
	pthread_mutex_lock(&helpers.lock);
}

void pm_helpers_after_fork(void)
{
	pthread_mutex_unlock(&helpers.lock);
	pthread_mutex_unlock(&helpers.starting);
}

/* A slice that a helper had begun is lost: the source of a job is intact until it is copied. */
void pm_helpers_after_fork_in_child(void)
{
	for (struct pm_copy_job *job = helpers.jobs; job; job = job->next)
		if (job->done < job->bytes)
			job->begun = job->done = 0;
	atomic_store(&helpers.cannot_start, true);
	pthread_cond_init(&helpers.copied, NULL);
	init_condition();
	pm_helpers_after_fork();
}
