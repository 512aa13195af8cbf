/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_RUNTIME_PERF_RING_H
#define PM_RUNTIME_PERF_RING_H

/*
 * The ring buffer of a perf event, perf_event_open(2): the kernel writes records at its head, we
 * read them from its tail. Samples have the fields of PM_RING_SAMPLE.
 */
#include <stddef.h>
#include <stdint.h>

#include <linux/perf_event.h>

/* In this order in a record. */
#define PM_RING_SAMPLE                                                                             \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_PERIOD |       \
		PERF_SAMPLE_DATA_SRC)
#define PM_RING_PAGES 16 /* of data: two thousand samples */

struct pm_sample {
	uint64_t id;	  /* of the event */
	uint64_t time_ns; /* of the event's clock */
	uint64_t address; /* 0: unknown */
	uint64_t period;  /* events that the sample stands for */
	uint64_t source;  /* union perf_mem_data_src */
};

struct pm_ring {
	struct perf_event_mmap_page *control; /* NULL: closed */
	const char *data;
	uint64_t bytes; /* of data, a power of two */
	uint64_t lost, throttled, bad;
};

typedef void pm_sample_fn(const struct pm_sample *sample, void *context);

/* Maps the event's ring. Returns 0, or -errno. */
int pm_ring_open(struct pm_ring *ring, int fd);
void pm_ring_close(struct pm_ring *ring);

/*
 * Calls `fn` for each sample that is there. Records that are not whole, which the kernel does not
 * write, count as `bad` and end the reading.
 */
void pm_ring_drain(struct pm_ring *ring, pm_sample_fn *fn, void *context);

#endif
