/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ring of samples, filled as the kernel does it, and the bytes that a sample stands for.
 * Records of PEBS and IBS are hand-made: there is no such processor here.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "model/profile_request.h"
#include "runtime/profile/access_events.h"
#include "runtime/profile/perf_ring.h"
#include "tests/unit/tap.h"

#define BYTES 1024 /* of the ring's data */

static struct perf_event_mmap_page control;
static char data[BYTES];
static struct pm_sample seen[64];
static int n_seen;

static struct pm_ring new_ring(uint64_t at)
{
	memset(&control, 0, sizeof(control));
	memset(data, 0, sizeof(data));
	control.data_head = control.data_tail = at;
	n_seen = 0;
	return (struct pm_ring){.control = &control, .data = data, .bytes = BYTES};
}

/* As the kernel writes it: at the head, around the end. */
static void write_bytes(const void *from, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		data[(control.data_head + i) % BYTES] = ((const char *)from)[i];
	control.data_head += bytes;
}

static void write_record(uint32_t type, const void *body, size_t bytes)
{
	struct perf_event_header header = {
		.type = type, .size = (uint16_t)(sizeof(header) + bytes)};

	write_bytes(&header, sizeof(header));
	write_bytes(body, bytes);
}

static void write_sample(uint64_t address)
{
	struct pm_sample sample = {7, 1, address, 3, 0};

	write_record(PERF_RECORD_SAMPLE, &sample, sizeof(sample));
}

static void see(const struct pm_sample *sample, void *context)
{
	(void)context;
	seen[n_seen++] = *sample;
}

static void test_order_and_end(void)
{
	struct pm_ring ring = new_ring(0);

	for (uint64_t i = 1; i <= 5; i++)
		write_sample(i << 12);
	pm_ring_drain(&ring, see, NULL);
	is_number(n_seen, 5, "all samples are read");
	ok(seen[0].address == 1 << 12 && seen[4].address == 5 << 12 && seen[4].period == 3 &&
			seen[4].id == 7,
		"in their order, whole");
	ok(control.data_tail == control.data_head, "and the kernel may write over them");
	pm_ring_drain(&ring, see, NULL);
	is_number(n_seen, 5, "an empty ring has none");
}

/* 48 bytes a sample: at 1000 the record begins 24 bytes before the end of the data. */
static void test_wrap_around(void)
{
	for (uint64_t at = 1000; at < 1024; at += 8) {
		struct pm_ring ring = new_ring(at);

		write_sample(at << 12);
		write_sample(0x5000);
		pm_ring_drain(&ring, see, NULL);
		ok(n_seen == 2 && seen[0].address == at << 12 && seen[1].address == 0x5000,
			"a record that begins %d bytes before the end goes on at the start",
			(int)(BYTES - at));
	}
}

static void test_lost(void)
{
	struct pm_ring ring = new_ring(96);
	uint64_t lost[2] = {7, 41}, throttle[3] = {0};
	char other[400] = "";

	write_record(PERF_RECORD_LOST, lost, sizeof(lost));
	write_sample(0x1000);
	write_record(PERF_RECORD_THROTTLE, throttle, sizeof(throttle));
	write_record(PERF_RECORD_EXIT, other, 24);
	write_record(PERF_RECORD_MAX + 3, other, sizeof(other));
	write_record(PERF_RECORD_LOST, lost, sizeof(lost));
	write_sample(0x2000);
	pm_ring_drain(&ring, see, NULL);
	ok(ring.lost == 82, "lost samples are counted");
	ok(ring.throttled == 1, "and times at which the kernel has throttled them");
	ok(n_seen == 2 && seen[1].address == 0x2000, "other records are skipped, also long ones");
}

static void test_bad(void)
{
	struct perf_event_header header = {.type = PERF_RECORD_SAMPLE, .size = 4};
	struct pm_ring ring = new_ring(0);
	uint64_t fields[2] = {0};

	write_bytes(&header, sizeof(header));
	write_sample(0x1000);
	pm_ring_drain(&ring, see, NULL);
	ok(ring.bad == 1 && !n_seen && control.data_tail == control.data_head,
		"a record without a length ends the reading");
	ring = new_ring(0);
	header.size = 480;
	write_bytes(&header, sizeof(header));
	pm_ring_drain(&ring, see, NULL);
	ok(ring.bad == 1 && !n_seen, "so does one that is longer than what is there");
	ring = new_ring(0);
	header.size = 24;
	write_bytes(&header, sizeof(header));
	write_bytes(fields, sizeof(fields));
	pm_ring_drain(&ring, see, NULL);
	ok(!n_seen && !ring.bad, "a sample with fewer fields is none");
}

/* perf_mem_data_src: the operation in bits 0 to 4, the level in bits 5 to 18. */
static uint64_t source(uint64_t op, uint64_t level)
{
	return op | level << 5;
}

static const struct {
	enum pm_access_kind kind;
	uint64_t address, source, bytes;
	bool is_store;
	const char *what;
} rows[] = {
	{PM_ACCESS_LOADS, 4096, 0, 64 * 1000, false, "a load that misses: a line for each event"},
	{PM_ACCESS_STORES, 4096, 0, 8 * 1000, true, "a store: eight bytes"},
	{PM_ACCESS_LOADS, 0, 0, 0, false, "without an address: nothing"},
	{PM_ACCESS_PAGES, 4096, 0, 4096 * 1000, false, "a fault: a page"},
	{PM_ACCESS_MIXED, 4096, 2 | 0x08 << 5 | 0x02 << 5, 0, false,
		"IBS, a load that hits L1: nothing"},
	{PM_ACCESS_MIXED, 4096, 2 | 0x20 << 5 | 0x02 << 5, 64 * 1000, false, "IBS, a load from L2"},
	{PM_ACCESS_MIXED, 4096, 2 | 0x08 << 5 | 0x04 << 5, 64 * 1000, false,
		"IBS, a load that misses L1"},
	{PM_ACCESS_MIXED, 4096, 4, 8 * 1000, true, "IBS, a store"},
	{PM_ACCESS_MIXED, 4096, 1, 0, false, "IBS, no access to memory: nothing"},
};

static void test_bytes(void)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct pm_sample sample = {1, 1, rows[i].address, 1000, rows[i].source};
		bool is_store;
		uint64_t bytes = pm_access_bytes(rows[i].kind, &sample, &is_store);

		ok(bytes == rows[i].bytes && (!bytes || is_store == rows[i].is_store), "%s",
			rows[i].what);
	}
	ok(source(2, 0x08 | 0x02) == rows[4].source, "levels are where the kernel has them");
}

static void test_events(void)
{
	struct pm_access_event events[PM_ACCESS_EVENTS];
	unsigned n = pm_access_events(PM_PROFILE_FAULTS, events);

	ok(n == 1 && events[0].attr.type == PERF_TYPE_SOFTWARE && events[0].attr.sample_period == 1,
		"faults are counted one by one");
	ok(events[0].attr.exclude_kernel && events[0].attr.exclude_hv,
		"the user's part alone, which needs no privilege");
	ok(pm_access_events(PM_PROFILE_SAMPLES, events) <= PM_ACCESS_EVENTS, "of this processor");
}

static void test_request(void)
{
	static const struct {
		const char *text;
		size_t length;
		enum pm_profile_source source;
		bool is_odd;
	} requests[] = {
		{"prof", 4, PM_PROFILE_AUTO, false},
		{"prof:bursts", 4, PM_PROFILE_BURSTS, false},
		{"/a:b/prof:none", 9, PM_PROFILE_NONE, false},
		{"/a:b/prof", 9, PM_PROFILE_AUTO, false},
		{"prof:sampels", 12, PM_PROFILE_AUTO, true},
		{"prof:2", 6, PM_PROFILE_AUTO, false},
		{"prof:", 5, PM_PROFILE_AUTO, false},
		{"bursts", 6, PM_PROFILE_AUTO, false},
		{"x:bursts:auto", 8, PM_PROFILE_AUTO, false},
	};

	for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
		enum pm_profile_source source;
		size_t length = pm_profile_request_parse(requests[i].text, &source);

		ok(length == requests[i].length && source == requests[i].source &&
				pm_profile_request_is_odd(requests[i].text) == requests[i].is_odd,
			"'%s': a directory of %zu letters, %s%s", requests[i].text, length,
			pm_profile_source_names[source], requests[i].is_odd ? ", odd" : "");
	}
}

int main(void)
{
	test_order_and_end();
	test_wrap_around();
	test_lost();
	test_bad();
	test_bytes();
	test_events();
	test_request();
	return tap_done();
}
