/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "runtime/start/report.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/advice/advice.h"
#include "runtime/advice/advised_objects.h"
#include "runtime/common/log.h"
#include "runtime/heap/heap.h"
#include "runtime/heap/moved_pages.h"
#include "runtime/heap/numa_maps.h"
#include "runtime/lifetime/iteration.h"
#include "runtime/lifetime/sizing.h"
#include "runtime/start/static_data.h"
#include "runtime/stream/promotion.h"
#include "runtime/stream/stream.h"

#define MIB (UINT64_C(1) << 20)

static const char *const source_names[] = {[PM_ITERATIONS_UNKNOWN] = "none",
	[PM_ITERATIONS_INFERRED] = "inferred",
	[PM_ITERATIONS_MARKED] = "marked"};

static struct {
	char destination[PATH_MAX]; /* empty: no report */
	pid_t rank;		    /* the rank's own process; 0: this is another process */
	uint64_t peak_at_start, slabs_at_start; /* in granules */
} request;

static bool for_people(void)
{
	return !strcmp(request.destination, "stderr");
}

/* Sum of the peaks of all spaces, in granules. */
static uint64_t peak(void)
{
	uint64_t granules = 0;

	for (int i = 0; i < PM_SPACES; i++)
		granules += pm_heap.spaces[i].peak;
	return granules;
}

static uint64_t slabs(void)
{
	struct pm_heap_stats counts;

	pm_heap_stats(&counts);
	return counts.slab_bytes / PM_GRANULE;
}

void pm_report_prepare(bool attached)
{
	const char *where = getenv("PM_REPORT");
	size_t n = 0;

	if (!where || !*where)
		return;
	request.rank = attached ? getpid() : 0;
	request.peak_at_start = peak();
	request.slabs_at_start = slabs();
	if (*where != '/' && strcmp(where, "stderr") && getcwd(request.destination, PATH_MAX))
		n = strlen(strcat(request.destination, "/"));
	if (n + strlen(where) < PATH_MAX)
		strcpy(request.destination + n, where);
	else
		request.destination[0] = '\0';
}

static bool is_rank(void)
{
	return request.rank == getpid();
}

/* A large object, or small ones of a chunk: also where slabs are small, each process takes some. */
static bool needs_more_than_the_least(void)
{
	uint64_t more_slabs = slabs() - request.slabs_at_start;

	return more_slabs >= PM_CHUNK_GRANULES || peak() > request.peak_at_start + more_slabs;
}

/* Without a registry, any process may be the rank's own. */
static bool is_worth_reporting(void)
{
	return is_rank() || pm_heap.registry == PM_REGISTRY_ABSENT || needs_more_than_the_least();
}

/* --- a text buffer of fixed size, which cuts longer text --- */

struct text {
	char bytes[16384];
	size_t length;
};

__attribute__((format(printf, 2, 3))) static void add(struct text *text, const char *fmt, ...)
{
	size_t room = sizeof(text->bytes) - text->length;
	va_list args;
	int n;

	va_start(args, fmt);
	n = vsnprintf(text->bytes + text->length, room, fmt, args);
	va_end(args);
	text->length += (size_t)n < room ? (size_t)n : room - 1;
}

/* A JSON string: RFC 8259, section 7. */
static void add_string(struct text *text, const char *string)
{
	add(text, "\"");
	for (; *string; string++) {
		unsigned char c = (unsigned char)*string;

		if (c < ' ' || c == '"' || c == '\\')
			add(text, "\\u%04x", c);
		else
			add(text, "%c", c);
	}
	add(text, "\"");
}

static uint64_t committed_bytes(const struct pm_space *space)
{
	return (space->committed - space->holes) * PM_GRANULE;
}

/* DRAM committed so far. It is never returned to the node, so that this is the peak too. */
static uint64_t dram_bytes(void)
{
	uint64_t bytes = 0;

	for (int i = 0; i < PM_SPACES; i++)
		bytes += i == PM_PMEM ? 0 : committed_bytes(&pm_heap.spaces[i]);
	return bytes;
}

/* --- for programs --- */

static void add_spaces(struct text *text)
{
	for (int i = 0; i < PM_SPACES; i++) {
		const struct pm_space *space = &pm_heap.spaces[i];

		add(text,
			"%s\"%s\":{\"size_bytes\":%llu,\"ready_bytes\":%llu,\"used_bytes\":%llu,"
			"\"peak_bytes\":%llu}",
			i ? "," : "", pm_space_names[i],
			(unsigned long long)(space->size * PM_GRANULE),
			(unsigned long long)committed_bytes(space),
			(unsigned long long)(space->used * PM_GRANULE),
			(unsigned long long)(space->peak * PM_GRANULE));
	}
}

static void add_numa_maps(struct text *text, const struct pm_numa_maps *numa_maps)
{
	for (int mapping = 0; mapping < PM_MAPPINGS; mapping++) {
		const char *comma = "";

		add(text, "%s\"%s\":{", mapping ? "," : "", pm_mapping_names[mapping]);
		for (unsigned node = 0; node < PM_NUMA_NODES_MAX; node++) {
			if (!numa_maps->bytes[mapping][node])
				continue;
			add(text, "%s\"%u\":%llu", comma, node,
				(unsigned long long)numa_maps->bytes[mapping][node]);
			comma = ",";
		}
		add(text, "}");
	}
}

static void add_iterations(struct text *text)
{
	add(text, ",\"iterations\":{\"known\":\"%s\",\"number\":%lu}",
		source_names[pm_iteration_source()], (unsigned long)pm_iteration_number());
}

static void add_sizing(struct text *text)
{
	struct pm_sizing sizing;

	pm_sizing_get(&sizing);
	if (!sizing.is_done || pm_advice_on)
		return;
	add(text, ",\"sizing\":{\"needed_bytes\":%llu,\"spare_bytes\":%llu,",
		(unsigned long long)sizing.needed_bytes, (unsigned long long)sizing.spare_bytes);
	add(text, "\"lent_to\":\"%s\",\"lent_bytes\":%llu,\"promoted_bytes\":%llu}",
		sizing.to_temporary ? "temporary" : "long-lived",
		(unsigned long long)sizing.lent_bytes, (unsigned long long)sizing.promoted_bytes);
}

/* Nothing for a program that moves nothing. */
static void add_moves(struct text *text)
{
	struct pm_moved_counts moved;

	pm_moved_pages_count(&moved);
	if (moved.to_dram_bytes || moved.refused_bytes)
		add(text,
			",\"moved\":{\"to_dram_bytes\":%llu,\"to_pmem_bytes\":%llu,"
			"\"refused_bytes\":%llu,\"promoted_bytes\":%llu}",
			(unsigned long long)moved.to_dram_bytes,
			(unsigned long long)moved.to_pmem_bytes,
			(unsigned long long)moved.refused_bytes,
			(unsigned long long)pm_promotion_total());
}

static void add_phases(struct text *text)
{
	const struct pm_phase *phase;

	add(text, ",\"phases\":[");
	for (unsigned i = 0; (phase = pm_phase_at(i)); i++)
		add(text,
			"%s{\"batch_bytes\":%zu,\"is_written\":%s,\"compute_s\":%.9f,"
			"\"placed_s\":%.9f,\"compute_bytes_per_s\":%.0f,\"helpers\":%u}",
			i ? "," : "", phase->batch_bytes, phase->is_written ? "true" : "false",
			phase->compute_s, phase->placed_s, phase->compute_bytes_per_s,
			phase->helpers);
	add(text, "]");
}

static uint64_t passes_in_place(const struct pm_stream_counts *counts)
{
	uint64_t n = 0;

	for (int i = 0; i < PM_IN_PLACES; i++)
		n += counts->in_place[i];
	return n;
}

/* Nothing for a program that opens no streams. */
static void add_streams(struct text *text)
{
	struct pm_stream_counts counts;
	const char *comma = "";

	pm_streams_count(&counts);
	if (!counts.passes && !passes_in_place(&counts))
		return;
	add(text, ",\"streams\":{\"staged\":%llu,\"in_place\":{",
		(unsigned long long)counts.passes);
	for (int i = 0; i < PM_IN_PLACES; i++) {
		if (!counts.in_place[i])
			continue;
		add(text, "%s\"%s\":%llu", comma, pm_in_place_text((enum pm_in_place)i),
			(unsigned long long)counts.in_place[i]);
		comma = ",";
	}
	add(text, "},\"batches\":%llu,\"clean_batches\":%llu", (unsigned long long)counts.batches,
		(unsigned long long)counts.clean_batches);
	add(text, ",\"in_bytes\":%llu,\"out_bytes\":%llu,\"waited_ns\":%llu",
		(unsigned long long)counts.in_bytes, (unsigned long long)counts.out_bytes,
		(unsigned long long)counts.waited_ns);
	add_phases(text);
	add(text, "}");
}

static void add_advice(struct text *text)
{
	struct pm_advised_counts counts;

	pm_advised_count(&counts);
	add(text,
		",\"advised_objects\":{\"dram\":%llu,\"split\":%llu,\"pmem\":%llu,\"unknown\":%"
		"llu}",
		(unsigned long long)counts.dram_objects, (unsigned long long)counts.split_objects,
		(unsigned long long)counts.pmem_objects,
		(unsigned long long)counts.unknown_objects);
	add(text, ",\"advised_data_bytes\":{\"profile\":%llu,\"run\":%llu}",
		(unsigned long long)pm_advice_data_bytes(), (unsigned long long)counts.peak_bytes);
}

static void add_object(struct text *text, const struct pm_numa_maps *numa_maps)
{
	const char *rank = getenv("PM_LOCAL_RANK");
	struct pm_heap_stats counts;
	struct pm_static_data statics;

	pm_heap_stats(&counts);
	pm_static_data_counts(&statics);
	add(text, "{\"rank\":");
	add_string(text, rank ? rank : "");
	add(text, ",\"pid\":%d,\"attached\":%s,\"program\":", (int)getpid(),
		is_rank() ? "true" : "false");
	add_string(text, program_invocation_name);
	add(text, ",\"budget_bytes\":%llu,\"dram_bytes\":%llu,\"spaces\":{",
		(unsigned long long)pm_heap.settings.budget_bytes,
		(unsigned long long)dram_bytes());
	add_spaces(text);
	add(text, "},\"spilled_objects\":%llu,\"spilled_bytes\":%llu,\"refused_bytes\":%llu",
		(unsigned long long)counts.spilled_objects,
		(unsigned long long)counts.spilled_bytes, (unsigned long long)counts.refused_bytes);
	add(text, ",\"static_bytes\":{\"dram\":%llu,\"pmem\":%llu}",
		(unsigned long long)statics.dram_bytes, (unsigned long long)statics.pmem_bytes);
	add_iterations(text);
	add_sizing(text);
	add_moves(text);
	add_streams(text);
	if (pm_advice_on)
		add_advice(text);
	if (numa_maps) {
		add(text, ",\"resident_bytes\":{");
		add_numa_maps(text, numa_maps);
		add(text, "}");
	}
	add(text, "}\n");
}

/* One write(2) with O_APPEND: lines of several ranks do not mix. */
static void append(const struct text *text)
{
	int fd = open(
		request.destination, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY, 0666);

	if (fd < 0 || write(fd, text->bytes, text->length) != (ssize_t)text->length)
		pm_log("report to '%.200s' failed: %s", request.destination,
			strerrordesc_np(errno));
	if (fd >= 0)
		close(fd);
}

/* --- for people --- */

static unsigned long long in_mib(uint64_t bytes)
{
	return (bytes + MIB - 1) / MIB;
}

static void log_nodes(const struct pm_numa_maps *numa_maps, enum pm_mapping mapping)
{
	struct text text = {.length = 0};

	for (unsigned node = 0; node < PM_NUMA_NODES_MAX; node++)
		if (numa_maps->bytes[mapping][node])
			add(&text, ", %lluM on node %u", in_mib(numa_maps->bytes[mapping][node]),
				node);
	if (text.length)
		pm_log("pages of %s: %s", pm_mapping_names[mapping], text.bytes + 2);
}

static void log_spaces(void)
{
	for (int i = 0; i < PM_SPACES; i++) {
		const struct pm_space *space = &pm_heap.spaces[i];

		if (space->peak)
			pm_log("%s: %lluM at most, %lluM now", pm_space_names[i],
				in_mib(space->peak * PM_GRANULE), in_mib(space->used * PM_GRANULE));
	}
}

static void log_sizing(void)
{
	struct pm_sizing sizing;

	pm_sizing_get(&sizing);
	if (pm_iteration_number())
		pm_log("iterations: %lu, %s", (unsigned long)pm_iteration_number(),
			source_names[pm_iteration_source()]);
	if (!sizing.is_done || pm_advice_on)
		return;
	pm_log("temporary, by the first iteration: %lluM needed and %lluM spare; %lluM lent to %s",
		in_mib(sizing.needed_bytes), in_mib(sizing.spare_bytes), in_mib(sizing.lent_bytes),
		sizing.to_temporary ? "temporary" : "long-lived objects");
	if (sizing.promoted_bytes)
		pm_log("%lluM of spilled objects are in DRAM since then",
			in_mib(sizing.promoted_bytes));
}

static void log_moves(void)
{
	struct pm_moved_counts moved;

	pm_moved_pages_count(&moved);
	if (moved.to_dram_bytes || moved.refused_bytes)
		pm_log("moved by %s: %lluM to DRAM, %lluM to PMem; no room in DRAM for "
		       "%lluM",
			pm_advice_on ? "the program, or split by advice" : "the program",
			in_mib(moved.to_dram_bytes - pm_promotion_total()),
			in_mib(moved.to_pmem_bytes), in_mib(moved.refused_bytes));
	if (pm_promotion_total())
		pm_log("named by the program, and promoted at iterations: %lluM",
			in_mib(pm_promotion_total()));
}

static void log_phase(const struct pm_phase *phase)
{
	char placed[32] = "";

	if (phase->placed_s > 0)
		snprintf(placed, sizeof(placed), ", in place %.3g s", phase->placed_s);
	pm_log("streams of batches of %lluM: helpers %u, T_comp %.3g s%s, BW_comp %.3g B/s",
		in_mib(phase->batch_bytes), phase->helpers, phase->compute_s, placed,
		phase->compute_bytes_per_s);
}

static void log_streams(void)
{
	struct pm_stream_counts counts;
	const struct pm_phase *phase;

	pm_streams_count(&counts);
	if (counts.passes)
		pm_log("streams: %llu staged; %llu batches, %lluM copied in and %lluM out; the "
		       "program waited %.3f s for copies",
			(unsigned long long)counts.passes, (unsigned long long)counts.batches,
			in_mib(counts.in_bytes), in_mib(counts.out_bytes),
			(double)counts.waited_ns / 1e9);
	for (int i = 0; i < PM_IN_PLACES; i++)
		if (counts.in_place[i])
			pm_log("streams: %llu in place: %s", (unsigned long long)counts.in_place[i],
				pm_in_place_text((enum pm_in_place)i));
	for (unsigned i = 0; (phase = pm_phase_at(i)); i++)
		log_phase(phase);
}

static void log_advice(void)
{
	uint64_t budget_bytes = pm_heap.settings.budget_bytes, taken_bytes = dram_bytes();
	struct pm_advised_counts counts;

	pm_advised_count(&counts);
	pm_log("advised: %llu objects to DRAM, %llu split, %llu to PMem; %llu of unknown sites",
		(unsigned long long)counts.dram_objects, (unsigned long long)counts.split_objects,
		(unsigned long long)counts.pmem_objects,
		(unsigned long long)counts.unknown_objects);
	if (counts.pmem_objects && taken_bytes < budget_bytes)
		pm_log("advice has left %lluM of DRAM unused", in_mib(budget_bytes - taken_bytes));
}

static void log_all(const struct pm_numa_maps *numa_maps)
{
	struct pm_heap_stats counts;
	struct pm_static_data statics;

	pm_heap_stats(&counts);
	pm_static_data_counts(&statics);
	pm_log("budget %lluM of DRAM, %lluM taken; spilled to PMem: %llu objects of %lluM",
		in_mib(pm_heap.settings.budget_bytes), in_mib(dram_bytes()),
		(unsigned long long)counts.spilled_objects, in_mib(counts.spilled_bytes));
	if (counts.refused_bytes)
		pm_log("%lluM of these because the node had no DRAM left",
			in_mib(counts.refused_bytes));
	log_spaces();
	log_sizing();
	log_moves();
	log_streams();
	if (statics.dram_bytes || statics.pmem_bytes)
		pm_log("static data: %lluM bound to DRAM, in free; %lluM to PMem",
			in_mib(statics.dram_bytes), in_mib(statics.pmem_bytes));
	if (pm_advice_on)
		log_advice();
	for (int mapping = 0; numa_maps && mapping < PM_MAPPINGS; mapping++)
		log_nodes(numa_maps, (enum pm_mapping)mapping);
}

__attribute__((destructor)) static void report(void)
{
	static struct pm_numa_maps numa_maps;
	struct text text = {.length = 0};
	bool is_known;

	if (!*request.destination || !is_worth_reporting())
		return;
	is_known = pm_numa_maps_read(&numa_maps);
	if (for_people()) {
		log_all(is_known ? &numa_maps : NULL);
		return;
	}
	add_object(&text, is_known ? &numa_maps : NULL);
	append(&text);
}
