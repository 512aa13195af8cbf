/* SPDX-License-Identifier: Apache-2.0 */
/* Lifetime prediction by call site and iteration. */
#include "runtime/lifetime/lifetime.h"

#include "runtime/heap/heap.h"
#include "runtime/lifetime/iteration.h"
#include "tests/unit/tap.h"

#define MIB (UINT64_C(1) << 20)

enum { WORK = 11, KEPT, SLOW, MIXED, ONCE, NEW };

static uint32_t iteration;

uint32_t pm_iteration_number(void)
{
	return iteration;
}

static void *alloc_at(uint64_t site)
{
	void *object = pm_heap_alloc(MIB, 1, false);

	pm_lifetime_alloc(object, site);
	return object;
}

static void free_at(void *object)
{
	pm_lifetime_free(object);
	pm_heap_free(object);
}

static void start(void)
{
	struct pm_settings settings = {.budget_bytes = 16 * MIB};

	unsetenv("PM_ATTACH_FD");
	settings.bytes[PM_FREE] = 16 * MIB;
	ok(pm_heap_start(&settings) && !pm_lifetime_on,
		"nothing is noted before the first iteration");
	pm_lifetime_begin();
	ok(pm_lifetime_on, "then it is");
}

static void test_sites(void)
{
	void *slow[2] = {0}, *before, *mixed;

	for (iteration = 1; iteration <= 8; iteration++) {
		void *work = alloc_at(WORK);

		(void)alloc_at(KEPT);
		if (slow[iteration % 2])
			free_at(slow[iteration % 2]);
		slow[iteration % 2] = alloc_at(SLOW);
		mixed = alloc_at(MIXED);
		if (iteration % 3 == 0)
			free_at(mixed);
		free_at(work);
	}
	ok(pm_lifetime_is_short(WORK, MIB), "what is gone in its iteration is temporary");
	ok(!pm_lifetime_is_short(KEPT, MIB), "what stays is not");
	ok(!pm_lifetime_is_short(SLOW, MIB), "nor what is gone after two");
	ok(!pm_lifetime_is_short(MIXED, MIB), "nor a site with a third of such");
	ok(!pm_lifetime_is_short(0, MIB) && !pm_lifetime_is_short(99, MIB),
		"of others nothing is known");
	free_at(alloc_at(ONCE));
	ok(!pm_lifetime_is_short(ONCE, MIB), "once is by chance");
	before = alloc_at(ONCE);
	iteration++;
	free_at(before);
	ok(pm_lifetime_is_short(ONCE, MIB), "the next iteration is soon");
}

static void test_unknown(void)
{
	void *object = pm_heap_alloc(MIB, 1, false);

	free_at(object);
	for (int i = 0; i < 5; i++)
		free_at(alloc_at(0));
	ok(!pm_lifetime_is_short(0, MIB), "objects of an unknown site are not predicted");
}

/* A size with nearly all objects freed. */
static void test_new(void)
{
	void *object;

	ok(!pm_lifetime_is_short(NEW, MIB), "a new site is not, where many of its size stay");
	for (int i = 0; i < 100; i++)
		pm_heap_free(pm_heap_alloc(3 * MIB, 1, false));
	ok(pm_lifetime_is_short(NEW, 3 * MIB), "it is, where hardly any of its size do");
	object = alloc_at(NEW);
	(void)alloc_at(NEW);
	ok(!pm_lifetime_is_short(NEW, 3 * MIB), "until two of its own have stayed");
	free_at(object);
}

static void test_full(void)
{
	unsigned known = 0;

	for (uint64_t site = 1000; site < 41000; site++) {
		free_at(alloc_at(site));
		free_at(alloc_at(site));
		known += pm_lifetime_is_short(site, MIB);
	}
	ok(known > 4000 && known <= 8192, "%u sites found room, of 40000", known);
	ok(pm_lifetime_is_short(WORK, MIB), "which takes it from none");
}

int main(void)
{
	start();
	test_sites();
	test_unknown();
	test_new();
	test_full();
	return tap_done();
}
