/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/profile/perf_ring.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define RECORD_MAX 256 /* ours are shorter */

struct lost {
	struct perf_event_header header;
	uint64_t id, lost;
};

int pm_ring_open(struct pm_ring *ring, int fd)
{
	size_t page = (size_t)getpagesize(), bytes = (1 + PM_RING_PAGES) * page;
	void *start = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	*ring = (struct pm_ring){0};
	if (start == MAP_FAILED)
		return -errno;
	ring->control = start;
	ring->data = (const char *)start + page;
	ring->bytes = PM_RING_PAGES * page;
	return 0;
}

void pm_ring_close(struct pm_ring *ring)
{
	if (ring->control)
		munmap(ring->control, (size_t)(ring->data - (char *)ring->control) + ring->bytes);
	ring->control = NULL;
}

/* A record may begin at the end of the data and go on at its start. */
static void copy(const struct pm_ring *ring, uint64_t at, void *to, size_t bytes)
{
	uint64_t offset = at & (ring->bytes - 1), first = ring->bytes - offset;

	if (first > bytes)
		first = bytes;
	memcpy(to, ring->data + offset, first);
	memcpy((char *)to + first, ring->data, bytes - first);
}

static void take(struct pm_ring *ring, const struct perf_event_header *record, pm_sample_fn *fn,
	void *context)
{
	struct pm_sample sample;
	struct lost lost;

	if (record->type == PERF_RECORD_SAMPLE &&
		record->size >= sizeof(*record) + sizeof(sample)) {
		memcpy(&sample, record + 1, sizeof(sample));
		fn(&sample, context);
	} else if (record->type == PERF_RECORD_LOST && record->size >= sizeof(lost)) {
		memcpy(&lost, record, sizeof(lost));
		ring->lost += lost.lost;
	} else if (record->type == PERF_RECORD_THROTTLE) {
		ring->throttled++;
	}
}

void pm_ring_drain(struct pm_ring *ring, pm_sample_fn *fn, void *context)
{
	uint64_t head = __atomic_load_n(&ring->control->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = ring->control->data_tail;
	union {
		struct perf_event_header header;
		char bytes[RECORD_MAX];
	} record;

	while (tail < head) {
		copy(ring, tail, &record.header, sizeof(record.header));
		if (record.header.size < sizeof(record.header) ||
			record.header.size > head - tail) {
			ring->bad++;
			tail = head;
			break;
		}
		if (record.header.size <= sizeof(record)) {
			copy(ring, tail, &record, record.header.size);
			take(ring, &record.header, fn, context);
		}
		tail += record.header.size;
	}
	__atomic_store_n(&ring->control->data_tail, tail, __ATOMIC_RELEASE);
}
