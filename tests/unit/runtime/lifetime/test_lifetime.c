/* SPDX-License-Identifier: Apache-2.0 */
/* The runtime's lifetimes: which call sites' objects are temporary, in iterations. */
#include "runtime/lifetime/lifetime.h"

#include "runtime/heap/heap.h"
#include "runtime/lifetime/iteration.h"
#include "tests/unit/tap.h"

#define MIB (UINT64_C(1) << 20)

enum { WORK = 11, KEPT, SLOW, MIXED, ONCE, NEW };

static uint32_t iteration;

uint32_t pm_iteration(void)
{
	return iteration;
}

static void *take(uint64_t site)
{
	void *object = pm_heap_take(MIB, 1, false);

	pm_lifetime_taken(object, site);
	return object;
}

static void give(void *object)
{
	pm_lifetime_given(object);
	pm_heap_give(object);
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
		void *work = take(WORK);

		(void)take(KEPT);
		if (slow[iteration % 2])
			give(slow[iteration % 2]);
		slow[iteration % 2] = take(SLOW);
		mixed = take(MIXED);
		if (iteration % 3 == 0)
			give(mixed);
		give(work);
	}
	ok(pm_lifetime_is_short(WORK, MIB), "what is gone in its iteration is temporary");
	ok(!pm_lifetime_is_short(KEPT, MIB), "what stays is not");
	ok(!pm_lifetime_is_short(SLOW, MIB), "nor what is gone after two");
	ok(!pm_lifetime_is_short(MIXED, MIB), "nor a site with a third of such");
	ok(!pm_lifetime_is_short(0, MIB) && !pm_lifetime_is_short(99, MIB),
		"of others nothing is known");
	give(take(ONCE));
	ok(!pm_lifetime_is_short(ONCE, MIB), "once is by chance");
	before = take(ONCE);
	iteration++;
	give(before);
	ok(pm_lifetime_is_short(ONCE, MIB), "the next iteration is soon");
}

static void test_unknown(void)
{
	void *object = pm_heap_take(MIB, 1, false);

	give(object);
	for (int i = 0; i < 5; i++)
		give(take(0));
	ok(!pm_lifetime_is_short(0, MIB), "objects of no known site are nobody's");
}

/* A size of which nearly all have been given back. */
static void test_new(void)
{
	void *object;

	ok(!pm_lifetime_is_short(NEW, MIB), "a new site is not, where many of its size stay");
	for (int i = 0; i < 100; i++)
		pm_heap_give(pm_heap_take(3 * MIB, 1, false));
	ok(pm_lifetime_is_short(NEW, 3 * MIB), "it is, where hardly any of its size do");
	object = take(NEW);
	(void)take(NEW);
	ok(!pm_lifetime_is_short(NEW, 3 * MIB), "until two of its own have stayed");
	give(object);
}

static void test_full(void)
{
	unsigned known = 0;

	for (uint64_t site = 1000; site < 41000; site++) {
		give(take(site));
		give(take(site));
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
