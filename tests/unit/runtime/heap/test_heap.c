/* SPDX-License-Identifier: Apache-2.0 */
/* The runtime's heap of large objects: budget, spills, prediction, threads, children. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/heap/heap.h"
#include "runtime/heap/size_predictor.h"
#include "tests/unit/tap.h"

#define MIB	(UINT64_C(1) << 20)
#define THREADS 64
#define SLOTS	128
#define ROUNDS	300

static bool in_dram(const void *object)
{
	return (uintptr_t)object - pm_heap.base < pm_heap.settings.budget_bytes;
}

static uint64_t used_bytes(void)
{
	uint64_t bytes = 0;

	for (int i = 0; i < PM_SPACES; i++)
		bytes += pm_heap.spaces[i].used * PM_GRANULE;
	return bytes;
}

static void start(void)
{
	struct pm_settings settings = {.budget_bytes = 32 * MIB};

	unsetenv("PM_ATTACH_FD");
	settings.bytes[PM_METADATA] = 4 * MIB;
	settings.bytes[PM_TEMPORARY] = 8 * MIB;
	settings.bytes[PM_FREE] = 20 * MIB;
	ok(pm_heap_start(&settings), "it starts");
	ok(!pm_heap_owns(&settings) && !pm_heap_owns(NULL), "what is not its own it knows");
}

static void test_spill(void)
{
	struct pm_heap_stats counts;
	void *objects[8];

	for (int i = 0; i < 8; i++)
		objects[i] = pm_heap_alloc(5 * MIB, 1, false);
	ok(in_dram(objects[0]) && in_dram(objects[3]), "four objects of 5 MiB are in 20 MiB");
	ok(pm_heap_owns(objects[4]) && !in_dram(objects[4]), "the fifth is not");
	pm_heap_stats(&counts);
	is_number((long long)counts.spilled_objects, 4, "which is counted, as the next");
	is_number((long long)counts.spilled_bytes, 20 * (long long)MIB, "by bytes, too");
	for (int i = 0; i < 8; i++) {
		ok(pm_heap_is_large(objects[i]), "object %d is a large one", i);
		ok(!pm_heap_is_large((char *)objects[i] + PM_GRANULE), "its inside is none");
		pm_heap_free(objects[i]);
	}
	is_number((long long)used_bytes(), 0, "all are freed");
}

static void test_recurring(void)
{
	bool short_lived = false;

	for (int i = 0; i < 10; i++) {
		short_lived = pm_size_predictor_alloc(7 * MIB);
		pm_size_predictor_free(7 * MIB);
	}
	ok(short_lived, "a size that is freed each time is predicted short-lived");
	for (int i = 0; i < 10; i++)
		short_lived = pm_size_predictor_alloc(3 * MIB);
	ok(!short_lived, "one that is kept does not");
	ok(pm_size_predictor_alloc(7 * MIB), "one has nothing to do with the other");
}

static void test_limits(void)
{
	void *object;

	errno = 0;
	ok(!pm_heap_alloc(SIZE_MAX, 1, false) && errno == ENOMEM, "too much: ENOMEM");
	ok(!pm_heap_alloc(PM_SPACE_MAX, 1, false), "more than there are addresses");
	object = pm_heap_alloc(0, MIB, true);
	ok(object && (uintptr_t)object % MIB == 0, "nothing, aligned, is something");
	ok(!pm_heap_resize(object, PM_SPACE_MAX) && pm_heap_resize(object, 2 * MIB),
		"it grows, but not without end");
	is_number((long long)pm_heap_usable_size(object), 2 * (long long)MIB, "to what was asked");
	pm_heap_free(object);
}

/* Freed PMem keeps its pages for later objects, up to a limit. */
static void test_surplus(void)
{
	char *small = pm_heap_alloc(30 * MIB, 1, false),
	     *large = pm_heap_alloc(100 * MIB, 1, false);
	uint64_t used, kept, before;

	memset(small, 1, 30 * MIB);
	memset(large, 1, 100 * MIB);
	pm_space_usage(&pm_heap.spaces[PM_PMEM], &used, &before);
	pm_heap_free(small);
	pm_space_usage(&pm_heap.spaces[PM_PMEM], &used, &kept);
	is_number((long long)(kept - before), 30 * (long long)MIB, "a little keeps its pages");
	pm_heap_free(large);
	ok(!large[0] && !large[100 * MIB - 1], "much does not");
	large = pm_heap_alloc(100 * MIB, 1, true);
	ok(!large[0] && !large[50 * MIB] && !large[100 * MIB - 1], "the next is zero");
	pm_heap_free(large);
}

static void test_slabs(void)
{
	char *slab = pm_heap_take_slab(2 * MIB);

	ok(in_dram(slab) && (uintptr_t)slab % PM_CHUNK == 0, "a slab is a chunk of DRAM");
	ok(!pm_heap_is_large(slab), "and no object");
	ok(!pm_heap_drop(slab, 4096), "its pages stay");
	memset(slab, 1, 2 * MIB);
	pm_heap_give_slab(slab + 4096, 4096);
	is_number((long long)used_bytes(), 2 * (long long)MIB, "a part of it is not freed");
	pm_heap_give_slab(slab, 2 * MIB);
	is_number((long long)used_bytes(), 0, "the whole is");
	slab = pm_heap_take_slab(2 * MIB);
	ok(!slab[0] && !slab[2 * MIB - 1], "and zeroed when it is allocated again");
	pm_heap_give_slab(slab, 2 * MIB);
}

/* The budget is 32 MiB. */
static void test_small_slabs(void)
{
	uint64_t step = pm_heap_slab_step();
	char *slab = pm_heap_take_slab(2 * MIB), *first = pm_heap_take_slab(step),
	     *second = pm_heap_take_slab(PM_GRANULE), *index = pm_heap_take_slab(40 * PM_GRANULE);

	is_number((long long)step, (long long)MIB / 2, "a slab is a 64th of the budget");
	ok(in_dram(first) && in_dram(second), "slabs below a chunk are in DRAM");
	ok(second == first + step, "side by side");
	ok(pm_heap_owns(index) && !in_dram(index), "an index larger than a chunk is not");
	ok(!pm_heap_is_large(index), "nor an object");
	is_number((long long)used_bytes(), (long long)(2 * MIB + step + PM_GRANULE),
		"slabs count by what they asked for, the index does not");
	memset(index, 1, 40 * PM_GRANULE);
	pm_heap_give_slab(index, 40 * PM_GRANULE);
	pm_heap_give_slab(second, PM_GRANULE);
	pm_heap_give_slab(first, step);
	pm_heap_give_slab(slab, 2 * MIB);
	is_number((long long)used_bytes(), 0, "all are freed");
}

/* Of the 20 MiB of free 3 are kept: metadata has the fourth. */
static void test_kept(void)
{
	struct pm_settings settings = pm_heap.settings;
	char *large, *other;

	pm_heap.settings.bytes[PM_METADATA] = MIB;
	pm_heap_keep_for_small(true);
	large = pm_heap_alloc(17 * MIB, 1, false);
	other = pm_heap_alloc(MIB, 1, false);
	ok(in_dram(large) && !in_dram(other), "a large object does not have what is kept");
	pm_heap_free(other);
	other = pm_heap_alloc_sample(1, 1, false);
	ok(in_dram(other), "a sample has it");
	pm_heap_free(other);
	pm_heap_keep_for_small(false);
	other = pm_heap_alloc(3 * MIB, 1, false);
	ok(in_dram(other), "nothing is kept with advice and after an iteration");
	pm_heap_free(other);
	pm_heap_free(large);
	pm_heap.settings = settings;
	pm_heap_keep_for_small(true);
	is_number(pm_heap.spaces[PM_FREE].kept, 0, "nor where metadata is as large");
	pm_heap.settings = (struct pm_settings){.budget_bytes = 6 * MIB};
	pm_heap_keep_for_small(true);
	is_number(pm_heap.spaces[PM_FREE].kept, (long long)(2 * MIB / PM_GRANULE),
		"a third of a small budget");
	pm_heap.settings = settings;
	pm_heap_keep_for_small(true);
}

/* A step is whole granules, a chunk at most. */
static void test_slab_step(void)
{
	static const struct {
		uint64_t budget_mib, step_kib;
	} cases[] = {{0, 64}, {2, 64}, {6, 64}, {8, 128}, {12, 128}, {24, 256}, {32, 512},
		{126, 1024}, {128, 2048}, {1 << 20, 2048}};
	uint64_t budget = pm_heap.settings.budget_bytes;

	FOR_EACH(c, cases)
	{
		pm_heap.settings.budget_bytes = c->budget_mib * MIB;
		ok(pm_heap_slab_step() == c->step_kib << 10, "of %llu MiB %llu KiB",
			(unsigned long long)c->budget_mib, (unsigned long long)c->step_kib);
	}
	pm_heap.settings.budget_bytes = budget;
}

/* --- threads --- */

static void *_Atomic slots[SLOTS];
static atomic_uint spoiled;

static void mark(uint64_t *object, uint64_t bytes)
{
	object[0] = bytes;
	object[bytes / 8 - 1] = ~bytes;
}

static void check(uint64_t *object)
{
	uint64_t bytes = object[0];

	if (object[bytes / 8 - 1] != ~bytes || pm_heap_usable_size(object) < bytes)
		atomic_fetch_add(&spoiled, 1);
}

static void *exchange(void *argument)
{
	uint32_t state = (uint32_t)(uintptr_t)argument * 7919;

	for (int i = 0; i < ROUNDS; i++) {
		uint64_t bytes = MIB + (state = state * 1664525u + 1013904223u) / 4096 * 8;
		uint64_t *object = pm_heap_alloc(bytes, 1, false), *found;

		mark(object, bytes);
		if (state % 3 == 0 && pm_heap_resize(object, bytes / 2 + 8))
			mark(object, bytes / 16 * 8 + 8);
		found = atomic_exchange(&slots[state / 512 % SLOTS], object);
		if (found) {
			check(found);
			pm_heap_free(found);
		}
	}
	return NULL;
}

static void test_threads(void)
{
	pthread_t threads[THREADS];

	for (uintptr_t i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, exchange, (void *)(i + 1));
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < SLOTS; i++) {
		if (slots[i]) {
			check(slots[i]);
			pm_heap_free(slots[i]);
		}
	}
	is_number(spoiled, 0, "64 threads that free each other's objects corrupt none");
	is_number((long long)used_bytes(), 0, "and lose none");
}

/* --- children --- */

static int work_in_child(void)
{
	char *slab = pm_heap_take_slab(2 * MIB), *object = pm_heap_alloc(100 * MIB, 1, true);

	return slab && object && !in_dram(object) && !object[100 * MIB - 1] ? 0 : 1;
}

static void test_fork(void)
{
	uint32_t ready = pm_heap.spaces[PM_TEMPORARY].committed;
	int status = -1;

	pm_heap_before_fork();
	if (!fork()) {
		pm_heap_after_fork_in_child();
		_exit(work_in_child() || pm_heap.spaces[PM_TEMPORARY].committed != ready);
	}
	pm_heap_after_fork();
	wait(&status);
	is_number(status, 0, "a child has memory, but no more DRAM");
}

int main(void)
{
	start();
	test_spill();
	test_recurring();
	test_limits();
	test_surplus();
	test_slabs();
	test_small_slabs();
	test_kept();
	test_slab_step();
	test_threads();
	test_fork();
	return tap_done();
}
