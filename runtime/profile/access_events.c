/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "runtime/profile/access_events.h"

#include <cpuid.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define IBS    "/sys/bus/event_source/devices/ibs_op/"
#define HERTZ  100 /* samples a second and thread; the kernel adapts the period */
#define PAGE   4096
#define VENDOR 12

#define INTEL_LOAD_L1_MISS UINT64_C(0x08d1) /* MEM_LOAD_RETIRED.L1_MISS */
#define INTEL_STORES	   UINT64_C(0x82d0) /* MEM_INST_RETIRED.ALL_STORES */
#define IBS_COUNT_OPS	   (UINT64_C(1) << 19)
#define IBS_FILTER_KERNEL  UINT64_C(1) /* config2: swfilt */

static struct perf_event_attr attr_of(uint32_t type, uint64_t config)
{
	return (struct perf_event_attr){.type = type,
		.size = sizeof(struct perf_event_attr),
		.config = config,
		.freq = 1,
		.sample_freq = HERTZ,
		.sample_type = PM_RING_SAMPLE,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.use_clockid = 1,
		.clockid = 1, /* CLOCK_MONOTONIC */
		.watermark = 1,
		.wakeup_watermark = PM_RING_PAGES * PAGE / 2};
}

static void read_vendor(char vendor[VENDOR + 1])
{
	unsigned a, b = 0, c = 0, d = 0;

	(void)__get_cpuid(0, &a, &b, &c, &d);
	memcpy(vendor, &b, 4);
	memcpy(vendor + 4, &d, 4);
	memcpy(vendor + 8, &c, 4);
	vendor[VENDOR] = '\0';
}

static unsigned intel_events(struct pm_access_event events[PM_ACCESS_EVENTS])
{
	events[0] = (struct pm_access_event){
		PM_ACCESS_LOADS, attr_of(PERF_TYPE_RAW, INTEL_LOAD_L1_MISS)};
	events[1] =
		(struct pm_access_event){PM_ACCESS_STORES, attr_of(PERF_TYPE_RAW, INTEL_STORES)};
	events[0].attr.precise_ip = events[1].attr.precise_ip = 2;
	return 2;
}

static unsigned amd_events(struct pm_access_event events[PM_ACCESS_EVENTS])
{
	char text[16] = "";
	int fd = open(IBS "type", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return 0;
	events[0] = (struct pm_access_event){
		PM_ACCESS_MIXED, attr_of((uint32_t)strtoul(text, NULL, 10), IBS_COUNT_OPS)};
	if (!access(IBS "format/swfilt", F_OK))
		events[0].attr.config2 = IBS_FILTER_KERNEL;
	return 1;
}

static unsigned fault_events(struct pm_access_event events[PM_ACCESS_EVENTS])
{
	events[0] = (struct pm_access_event){
		PM_ACCESS_PAGES, attr_of(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS)};
	events[0].attr.freq = 0;
	events[0].attr.sample_period = 1;
	return 1;
}

unsigned pm_access_events(
	enum pm_profile_source source, struct pm_access_event events[PM_ACCESS_EVENTS])
{
	char vendor[VENDOR + 1];

	if (source == PM_PROFILE_FAULTS)
		return fault_events(events);
	read_vendor(vendor);
	if (!strcmp(vendor, "GenuineIntel"))
		return intel_events(events);
	return strcmp(vendor, "AuthenticAMD") ? 0 : amd_events(events);
}

/* An operation that IBS has sampled: perf_mem_data_src says what it was, and where its data were.
 */
static uint64_t bytes_of_operation(const struct pm_sample *sample, bool *ret_is_store)
{
	union perf_mem_data_src source = {.val = sample->source};
	const uint64_t l1_hit = PERF_MEM_LVL_HIT | PERF_MEM_LVL_L1;

	*ret_is_store = source.mem_op & PERF_MEM_OP_STORE;
	if (*ret_is_store)
		return sample->period * PM_ACCESS_STORE;
	if (!(source.mem_op & PERF_MEM_OP_LOAD) || (source.mem_lvl & l1_hit) == l1_hit)
		return 0;
	return sample->period * PM_ACCESS_LINE;
}

uint64_t pm_access_bytes(
	enum pm_access_kind kind, const struct pm_sample *sample, bool *ret_is_store)
{
	*ret_is_store = kind == PM_ACCESS_STORES;
	if (!sample->address)
		return 0;
	switch (kind) {
	case PM_ACCESS_LOADS:
		return sample->period * PM_ACCESS_LINE;
	case PM_ACCESS_STORES:
		return sample->period * PM_ACCESS_STORE;
	case PM_ACCESS_MIXED:
		return bytes_of_operation(sample, ret_is_store);
	default:
		return sample->period * PAGE;
	}
}
