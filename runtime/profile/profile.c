/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "runtime/profile/profile.h"

#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include <time.h>
#include <unistd.h>

#include "model/profile_request.h"
#include "runtime/advice/site.h"
#include "runtime/common/clock.h"
#include "runtime/common/log.h"
#include "runtime/common/table.h"
#include "runtime/heap/heap.h"
#include "runtime/lifetime/iteration.h"
#include "runtime/profile/accesses.h"
#include "runtime/profile/counters.h"
#include "runtime/profile/live_objects.h"
#include "runtime/profile/profile_file.h"

#define SITES	   (1u << 16)
#define PROBES	   64  /* of the hash table of sites */
#define NAME_BYTES 512 /* of a file's name in a record, with its 0 byte */

bool pm_profile_on;

static struct {
	atomic_uint_least64_t *sites; /* hash table: keys of the site records written so far */
	atomic_uint_least64_t lost_sites;
	atomic_uint_least32_t phases;
	uint64_t start_ns;
	bool must_write;
	pid_t pid;
} profile;

static uint64_t now(void)
{
	return pm_clock_now() - profile.start_ns;
}

/* --- sites --- */

static size_t append_text(char *to, const char *text)
{
	size_t n = strnlen(text, NAME_BYTES - 1);

	memcpy(to, text, n);
	to[n] = '\0';
	return n + 1;
}

static uint16_t round_up_8(size_t bytes)
{
	return (uint16_t)((bytes + 7) / 8 * 8);
}

static struct pm_record_frame record_of(const struct pm_frame *frame)
{
	return (struct pm_record_frame){.build = frame->build, .offset = frame->offset};
}

/* The site's own record, which has room for PM_RECORD_FRAMES. */
static void write_site(const struct pm_site *site)
{
	union {
		struct pm_record_site record;
		char room[sizeof(struct pm_record_site) + PM_RECORD_FRAMES * NAME_BYTES + 8];
	} u = {.record = {.head = {.kind = PM_RECORD_SITE}, .key = site->key}};
	size_t used = sizeof(u.record);
	unsigned n = site->n < PM_RECORD_FRAMES ? site->n : PM_RECORD_FRAMES;

	for (unsigned i = 0; i < n; i++) {
		u.record.frames[i] = record_of(&site->frames[i]);
		used += append_text(u.room + used, site->frames[i].file);
	}
	u.record.head.number = n;
	u.record.head.bytes = round_up_8(used);
	pm_profile_file_append(&u.record.head);
}

/* The frames outside of these. */
static void write_further_frames(const struct pm_site *site)
{
	enum { MOST = PM_SITE_FRAMES - PM_RECORD_FRAMES };
	union {
		struct pm_record_further_frames record;
		char room[sizeof(struct pm_record_further_frames) +
			  MOST * (sizeof(struct pm_record_frame) + NAME_BYTES) + 8];
	} u = {.record = {.head = {.kind = PM_RECORD_FURTHER_FRAMES}, .key = site->key}};
	unsigned n = site->n - PM_RECORD_FRAMES;
	size_t used = sizeof(u.record) + n * sizeof(u.record.frames[0]);

	for (unsigned i = 0; i < n; i++) {
		const struct pm_frame *frame = &site->frames[PM_RECORD_FRAMES + i];

		u.record.frames[i] = record_of(frame);
		used += append_text(u.room + used, frame->file);
	}
	u.record.head.number = n;
	u.record.head.bytes = round_up_8(used);
	pm_profile_file_append(&u.record.head);
}

/* Inserts a site's key. True: it is new. False: it is known, or no slot is free within reach. */
static bool is_new(uint64_t key)
{
	for (uint32_t probe = 0; probe < PROBES; probe++) {
		atomic_uint_least64_t *slot = &profile.sites[(key + probe) % SITES];
		uint64_t there = atomic_load_explicit(slot, memory_order_relaxed);

		if (there == key)
			return false;
		if (!there && atomic_compare_exchange_strong(slot, &there, key))
			return true;
		if (there == key)
			return false;
	}
	atomic_fetch_add(&profile.lost_sites, 1);
	return false;
}

/* Samples have few frames: with many, most sites of small objects would have too few samples. */
static uint64_t record_site(size_t bytes)
{
	struct pm_site site = pm_site_capture(bytes < PM_LARGE ? PM_SITE_LEAST : PM_SITE_FRAMES);

	if (site.key && is_new(site.key)) {
		if (site.n > PM_RECORD_FRAMES)
			write_further_frames(&site);
		write_site(&site);
	}
	return site.key;
}

/* --- objects --- */

/* 0 where iterations are inferred: pmreport(1), which sees the whole run, infers them better. */
static uint32_t marked_iteration(void)
{
	return pm_iteration_source() == PM_ITERATIONS_MARKED ? pm_iteration_number() : 0;
}

static uint32_t space_of(const void *object)
{
	uint32_t id = 0;

	while (!pm_space_contains(&pm_heap.spaces[id], object))
		id++;
	return id;
}

static void write_object(const void *object, struct pm_live_object *live, uint64_t to_ns)
{
	struct pm_record_object record = {
		.head = {PM_RECORD_OBJECT, sizeof(record), space_of(object)},
		.site = live->site,
		.bytes = live->bytes,
		.from_ns = live->from_ns,
		.to_ns = to_ns,
		.from_iteration = live->from_iteration,
		.to_iteration = marked_iteration()};

	atomic_store_explicit(&live->is_live, false, memory_order_relaxed);
	pm_profile_file_append(&record.head);
}

void pm_profile_alloc(const void *object, size_t bytes)
{
	struct pm_live_object *live = pm_live_object(object);
	int saved = errno;

	atomic_store_explicit(&live->site, record_site(bytes), memory_order_relaxed);
	live->from_ns = now();
	live->from_iteration = marked_iteration();
	atomic_store_explicit(&live->is_live, true, memory_order_relaxed);
	atomic_store_explicit(&live->bytes, bytes ? bytes : 1, memory_order_release);
	pm_live_objects_cover(object, bytes);
	pm_accesses_alloc(object, bytes);
	errno = saved;
}

void pm_profile_free(const void *object)
{
	struct pm_live_object *live = pm_live_object(object);

	if (live->is_live)
		write_object(object, live, now());
}

/* --- samples --- */

/* xorshift32 (Marsaglia, J. Stat. Soft. 8, 2003), a state for each thread. */
static uint32_t random_bits(void)
{
	static __thread uint32_t state __attribute__((tls_model("initial-exec")));

	if (!state)
		state = (uint32_t)(uintptr_t)&state | 1;
	state ^= state << 13;
	state ^= state >> 17;
	state ^= state << 5;
	return state;
}

/*
 * The distance between two samples is uniform between a half and three halves of the mean, so that
 * it does not follow a rhythm of the program. The first one of a thread is between 0 and the mean.
 */
bool pm_profile_is_sample(size_t bytes)
{
	static __thread int64_t left __attribute__((tls_model("initial-exec")));
	static __thread bool is_begun __attribute__((tls_model("initial-exec")));

	left -= (int64_t)bytes;
	if (left >= 0)
		return false;
	left = PM_PROFILE_SAMPLE_BYTES / 2 + random_bits() % PM_PROFILE_SAMPLE_BYTES;
	if (is_begun)
		return true;
	is_begun = true;
	left = random_bits() % PM_PROFILE_SAMPLE_BYTES;
	return false;
}

/* --- marks --- */

_Static_assert(
	PM_COUNTERS == sizeof(((struct pm_record_counters *)NULL)->values) / sizeof(uint64_t),
	"the record has them all");

static void write_counters(uint64_t ns)
{
	struct pm_record_counters record = {
		.head = {PM_RECORD_COUNTERS, sizeof(record), 0}, .ns = ns};
	int saved = errno;

	pm_counters_read(record.values);
	pm_profile_file_append(&record.head);
	errno = saved;
}

void pm_profile_iteration(uint32_t number)
{
	struct pm_record_iteration record = {.head = {PM_RECORD_ITERATION, sizeof(record), number}};

	if (!pm_profile_on)
		return;
	record.ns = now();
	write_counters(record.ns);
	pm_profile_file_append(&record.head);
}

void pm_profile_phase(const char *name)
{
	struct pm_record_phase record = {.head = {PM_RECORD_PHASE, sizeof(record), 0}};

	if (!pm_profile_on)
		return;
	record.head.number = atomic_fetch_add(&profile.phases, 1) + 1;
	pm_accesses_phase(record.head.number);
	record.ns = now();
	strncat(record.name, name, sizeof(record.name) - 1);
	write_counters(record.ns);
	pm_profile_file_append(&record.head);
}

/* --- begin and end --- */

/* Bytes of slabs. The caller holds the locks of all spaces, or is the only thread. */
static uint64_t slab_bytes(void)
{
	uint64_t granules = 0;

	for (int i = 0; i < PM_SPACES; i++) {
		const struct pm_space *space = &pm_heap.spaces[i];

		for (uint32_t at = 0; at < space->top && space->extents[at].granules;
			at += space->extents[at].granules)
			if (space->extents[at].kind == PM_EXTENT_SLAB)
				granules += space->extents[at].granules;
	}
	return granules * PM_GRANULE;
}

static bool prepare_file(const char *directory)
{
	union {
		struct pm_record_program record;
		char room[sizeof(struct pm_record_program) + NAME_BYTES + 8];
	} u = {.record = {.head = {PM_RECORD_PROGRAM, 0, PM_PROFILE_VERSION},
		       .magic = PM_PROFILE_MAGIC,
		       .budget_bytes = pm_heap.settings.budget_bytes,
		       .large_bytes = PM_LARGE,
		       .every_bytes = PM_PROFILE_SAMPLE_BYTES,
		       .granule_bytes = PM_GRANULE,
		       .slab_bytes = slab_bytes(),
		       .start_ns = pm_clock_ns(CLOCK_REALTIME),
		       .pid = (uint32_t)getpid()}};
	struct pm_frame program = pm_site_program();
	const char *rank = getenv("PM_LOCAL_RANK");

	u.record.rank = rank ? (uint32_t)strtoul(rank, NULL, 10) : UINT32_MAX;
	u.record.build = program.build;
	u.record.head.bytes =
		round_up_8(sizeof(u.record) + append_text(u.record.file, program.file));
	return pm_profile_file_prepare(directory, rank, &u.record);
}

void pm_profile_start(bool attached)
{
	const char *request = getenv("PM_PROFILE");
	char directory[PATH_MAX] = "";
	enum pm_profile_source source;

	if (!request || !*request)
		return;
	strncat(directory, request, MIN(pm_profile_request_parse(request, &source), PATH_MAX - 1));
	if (!prepare_file(directory))
		return;
	profile.sites = pm_table_reserve(SITES * sizeof(*profile.sites));
	if (!pm_live_objects_start() || !profile.sites) {
		pm_log("PM_PROFILE: no addresses for it (ulimit -v?): there is no profile");
		return;
	}
	profile.start_ns = pm_clock_now();
	pm_counters_start();
	pm_accesses_start(source, profile.start_ns);
	profile.must_write = attached;
	profile.pid = getpid();
	pm_profile_on = true;
}

/* Writes the objects that are still live. The caller holds the space's lock. */
static void write_live_objects(const struct pm_space *space)
{
	for (uint32_t at = 0; at < space->top && space->extents[at].granules;
		at += space->extents[at].granules) {
		const char *object = space->base + at * PM_GRANULE;
		struct pm_live_object *live = pm_live_object(object);

		if (space->extents[at].kind >= PM_EXTENT_OBJECT && live->is_live)
			write_object(object, live, 0);
	}
}

/* A child that ran no fork handler, as after vfork(2), must not write its parent's profile. */
__attribute__((destructor)) static void end(void)
{
	struct pm_record_end last = {.head = {PM_RECORD_END, sizeof(last), 0}};
	struct pm_record_source source;

	if (!pm_profile_on || profile.pid != getpid())
		return;
	if (pm_accesses_end(&source))
		pm_profile_file_append(&source.head);
	pm_heap_before_fork();
	for (int i = 0; i < PM_SPACES; i++)
		write_live_objects(&pm_heap.spaces[i]);
	last.slab_bytes = slab_bytes();
	pm_heap_after_fork();
	if (profile.must_write || pm_profile_file_has_records()) {
		last.ns = now();
		last.lost_sites = atomic_load(&profile.lost_sites);
		write_counters(last.ns);
		pm_profile_file_append(&last.head);
		pm_profile_file_close();
	}
	pm_profile_on = false;
}

void pm_profile_before_fork(void)
{
	pm_accesses_before_fork();
	pm_profile_file_lock();
}

void pm_profile_after_fork(void)
{
	pm_profile_file_unlock();
	pm_accesses_after_fork();
}

void pm_profile_after_fork_in_child(void)
{
	pm_profile_file_unlock();
	pm_accesses_after_fork_in_child();
	pm_profile_on = false;
}
