/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inferred iterations: programs as sequences of large objects. Each one is a process, since the
 * state of the inference is never reset.
 */
#include "runtime/lifetime/infer.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/tap.h"

#define MIB    ((size_t)1 << 20)
#define SITES  25
#define ROUNDS 20
#define ALLOCS 1000

static struct found {
	unsigned begun, anew;
	unsigned first_round; /* in which iterations were known */
	unsigned site;	      /* at which the last iteration began */
} * found;

static unsigned round_now;
static int64_t live;

static void ask(unsigned site, size_t bytes)
{
	enum pm_inference what =
		pm_infer_iteration((void *)(uintptr_t)(0x400000 + 16 * site), bytes, live);

	live += (int64_t)bytes;
	if (what == PM_INFERENCE_NONE)
		return;
	if (what == PM_INFERENCE_RESTART)
		found->begun = 0;
	found->begun++;
	found->anew += what == PM_INFERENCE_RESTART;
	if (!found->first_round)
		found->first_round = round_now;
	found->site = site;
}

static void free_bytes(size_t bytes)
{
	live -= (int64_t)bytes;
}

static void run(void (*program)(void))
{
	fflush(stdout);
	memset(found, 0, sizeof(*found));
	if (!fork()) {
		program();
		_exit(0);
	}
	wait(NULL);
}

/* --- programs --- */

/* All objects have one size, as in LULESH. */
static void periods(void)
{
	for (unsigned i = 0; i < 40; i++)
		ask(100 + i, MIB);
	for (round_now = 1; round_now <= ROUNDS; round_now++) {
		for (unsigned site = 1; site <= SITES; site++)
			ask(site, MIB);
		free_bytes(SITES * MIB);
	}
}

static void test_rounds(void)
{
	run(periods);
	is_number(found->first_round, 5, "a loop is known in its fifth period");
	is_number(found->site, 1, "by what it begins with");
	is_number(found->begun, ROUNDS - 4, "from then on each period is an iteration");
	is_number(found->anew, 1, "of one kind");
}

static void one_site(void)
{
	for (int i = 0; i < ALLOCS; i++) {
		ask(1, MIB);
		free_bytes(MIB);
	}
}

static void filling(void)
{
	for (int i = 0; i < ALLOCS; i++)
		for (unsigned site = 1; site <= 6; site++)
			ask(site, MIB);
}

static void test_none(void)
{
	run(one_site);
	is_number(found->begun, 0, "one site alone makes no iterations");
	run(filling);
	is_number(found->begun, 0, "nor does a loop that fills memory");
}

/* Half of the objects of a period are long-lived. */
static void growing(void)
{
	for (round_now = 1; round_now <= ROUNDS; round_now++) {
		for (unsigned site = 1; site <= 4; site++)
			ask(site, MIB);
		free_bytes(2 * MIB);
	}
}

/* Periods differ by an object, and all allocations come through one function, with few sizes. */
static void uneven(void)
{
	for (round_now = 1; round_now <= ROUNDS; round_now++) {
		unsigned n = SITES + round_now % 3;

		for (unsigned i = 0; i < n; i++)
			ask(1, MIB + i / 3 * MIB);
		live = 0;
	}
}

static void test_some(void)
{
	run(growing);
	is_number(found->begun, ROUNDS - 4, "half may stay");
	run(uneven);
	ok(found->begun >= ROUNDS - 6 && found->begun <= ROUNDS - 3 && found->site == 1,
		"periods may differ a little, and an object may come twice: %u", found->begun);
}

static void inner_loop(void)
{
	for (int i = 0; i < 10; i++) {
		for (unsigned site = 1; site <= 5; site++)
			ask(site, MIB);
		free_bytes(5 * MIB);
	}
}

static void nested(void)
{
	for (round_now = 1; round_now <= ROUNDS; round_now++) {
		ask(50, 3 * MIB);
		ask(51, 3 * MIB);
		inner_loop();
		free_bytes(6 * MIB);
	}
}

/* The loop of another part of the program. */
static void two_parts(void)
{
	nested();
	for (round_now = 1; round_now <= 2 * ROUNDS; round_now++) {
		for (unsigned site = 60; site < 70; site++)
			ask(site, MIB);
		free_bytes(10 * MIB);
	}
}

static void test_nested(void)
{
	run(nested);
	is_number(found->anew, 2, "an inner loop is known first, then the one around it");
	ok(found->site == 50 || found->site == 1, "which begins with either's first: %u",
		found->site);
	ok(found->begun <= ROUNDS && found->begun >= ROUNDS - 5, "and is counted alone: %u of %u",
		found->begun, ROUNDS);
	run(two_parts);
	ok(found->site >= 60, "another loop is known when the first has ended");
}

int main(void)
{
	found = mmap(
		NULL, sizeof(*found), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	test_rounds();
	test_none();
	test_some();
	test_nested();
	return tap_done();
}
