/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "runtime/profile/counters.h"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/common/cancel.h"

#define HARDWARE    PM_COUNTER_INSTRUCTIONS /* the first one that the processor counts */
#define N_HARDWARE  (PM_COUNTERS - HARDWARE)
#define FIRST_FD    700 /* programs expect small descriptors to be free */
#define NS_IN_S	    UINT64_C(1000000000)
#define NS_IN_US    UINT64_C(1000)
#define LL_MISS(op) (PERF_COUNT_HW_CACHE_LL | (op) << 8 | PERF_COUNT_HW_CACHE_RESULT_MISS << 16)

static const struct {
	uint32_t type;
	uint64_t config;
} events[N_HARDWARE] = {
	{PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
	{PERF_TYPE_HW_CACHE, LL_MISS(PERF_COUNT_HW_CACHE_OP_READ)},
	{PERF_TYPE_HW_CACHE, LL_MISS(PERF_COUNT_HW_CACHE_OP_WRITE)},
};

static int fds[N_HARDWARE];

static int open_event(int i)
{
	struct perf_event_attr what = {.type = events[i].type,
		.size = sizeof(what),
		.config = events[i].config,
		.inherit = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1};
	int fd = (int)syscall(SYS_perf_event_open, &what, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	int high;

	if (fd < 0)
		return -1;
	high = fcntl(fd, F_DUPFD_CLOEXEC, FIRST_FD);
	close(fd);
	return high;
}

void pm_counters_start(void)
{
	for (int i = 0; i < N_HARDWARE; i++)
		fds[i] = open_event(i);
}

static uint64_t in_ns(const struct timeval *t)
{
	return (uint64_t)t->tv_sec * NS_IN_S + (uint64_t)t->tv_usec * NS_IN_US;
}

/* False: the program has closed the descriptor, and perhaps opened another file under it. */
static bool is_event(int fd)
{
	static const char name[] = "anon_inode:[perf_event]";
	char path[32], target[sizeof(name)];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return readlink(path, target, sizeof(target)) == (ssize_t)strlen(name) &&
	       !memcmp(target, name, strlen(name));
}

static uint64_t read_event(int fd)
{
	uint64_t value;

	if (fd < 0 || !is_event(fd) || read(fd, &value, sizeof(value)) != (ssize_t)sizeof(value))
		return PM_COUNTER_ABSENT;
	return value;
}

void pm_counters_read(uint64_t values[PM_COUNTERS])
{
	int cancel = pm_cancel_disable();
	struct rusage used = {0};

	(void)getrusage(RUSAGE_SELF, &used);
	values[PM_COUNTER_CPU_NS] = in_ns(&used.ru_utime) + in_ns(&used.ru_stime);
	values[PM_COUNTER_PAGE_FAULTS] = (uint64_t)(used.ru_minflt + used.ru_majflt);
	for (int i = 0; i < N_HARDWARE; i++)
		values[HARDWARE + i] = read_event(fds[i]);
	pm_cancel_restore(cancel);
}
