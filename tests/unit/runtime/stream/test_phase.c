/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <stdlib.h>

#include "runtime/stream/helpers.h"
#include "runtime/stream/phase.h"
#include "tests/unit/tap.h"

/* One thread copies 1 GB in 1 s, in and out; two share the directions. */
#define MODEL "1 ranks=1 in=1:1000000000 out=1:1000000000 peak=1000000000000,1"
#define TIGHT "1 ranks=1 in=1:1000000000 out=1:1000000000 peak=1500000000,1"
/* The device reads and writes 1,000 GB/s. */
#define COMPARED "1 ranks=1 in=1:1000000000 out=1:1000000000 peak=1000000000000,1000000000000"
#define GB	 1000000000
#define SECOND	 UINT64_C(1000000000)

/* Stands in for the helper threads. */
static unsigned cpus = 2;
static bool can_run = true;
unsigned pm_helpers_cpus(void)
{
	return cpus;
}
bool pm_helpers_can_run(void)
{
	return can_run;
}

static void set(const char *streams, const char *model)
{
	setenv("PM_STREAMS", streams, 1);
	setenv("PM_MODEL", model, 1);
	setenv("OMP_NUM_THREADS", "1", 1);
	pm_phases_prepare();
}

static enum pm_in_place begin(const void *caller, struct pm_pass *pass)
{
	return pm_phase_begin(caller, GB, true, true, pass);
}

static void measure(struct pm_pass *pass, double compute_s)
{
	pm_phase_measured(
		pass, &(struct pm_phase_interval){.compute_ns = (uint64_t)(compute_s * 1e9)});
}

/* The phases that follow are the model's; each test has one of its own. */
static void test_first_passes(void)
{
	static const char caller;
	struct pm_pass pass;

	is_number(begin(&caller, &pass), PM_IN_PLACE_FIRST, "the first pass runs in place");
	is_number(pm_phase_begin(&caller, GB, true, false, &pass), PM_IN_PLACE_FIRST,
		"and so does the second, while nothing is settled");
	is_number(begin(&caller, &pass), PM_IN_PLACE_NOT, "then one is measured");
	ok(pass.is_measuring && !pass.helpers && !pass.pace_ns, "without helpers");
	measure(&pass, 3);
	ok(!pass.is_measuring && pass.helpers == 1, "one helper copies both ways in time");
	is_number((long long)pass.pace_ns, 2400000000, "and spreads its copies");
	is_number(begin(&caller, &pass), PM_IN_PLACE_NOT, "the next pass");
	ok(!pass.is_measuring && pass.helpers == 1, "has it from the start");
}

/* A pass after PM_PHASE_PASSES others. */
static struct pm_pass measuring_again(const void *caller)
{
	struct pm_pass pass = {0};

	for (unsigned i = 0; i <= PM_PHASE_PASSES && !pass.is_measuring; i++)
		begin(caller, &pass);
	ok(pass.is_measuring, "an interval is measured again");
	return pass;
}

static void measure_again(const void *caller, double compute_s)
{
	struct pm_pass pass = measuring_again(caller);

	measure(&pass, compute_s);
}

static unsigned helpers_now(const void *caller)
{
	struct pm_pass pass = {0};

	return begin(caller, &pass) ? 0 : pass.helpers;
}

static void test_hysteresis(void)
{
	static const char caller;
	struct pm_pass pass;

	begin(&caller, &pass);
	begin(&caller, &pass);
	measure(&pass, 3);
	measure_again(&caller, 1.5);
	is_number(helpers_now(&caller), 1, "another answer alone changes nothing");
	measure_again(&caller, 1.5);
	is_number(helpers_now(&caller), 2, "the second time it does");
	measure_again(&caller, 0.5);
	measure_again(&caller, 3);
	is_number(helpers_now(&caller), 2, "two that differ do not");
	measure_again(&caller, 0.5);
	measure_again(&caller, 0.5);
	is_number(begin(&caller, &pass), PM_IN_PLACE_MODEL, "no helper is in time");
}

static void measure_again_with(const void *caller, const struct pm_phase_interval *interval)
{
	struct pm_pass pass = measuring_again(caller);

	pm_phase_measured(&pass, interval);
}

static void test_traffic(void)
{
	static const char caller;
	const struct pm_phase_interval none = {.compute_ns = 3 * SECOND},
				       idle = {.compute_ns = 3 * SECOND,
					       .idle_bytes = UINT64_C(4000) * GB},
				       copied = {.compute_ns = 3 * SECOND,
					       .other_in_bytes = UINT64_C(4000) * GB};
	struct pm_pass pass;

	begin(&caller, &pass);
	begin(&caller, &pass);
	pm_phase_measured(&pass, &idle);
	is_number(pass.helpers, 1, "traffic is at most what the program can access in that time");
	measure_again_with(&caller, &copied);
	measure_again_with(&caller, &copied);
	is_number(helpers_now(&caller), 0, "copies of other streams are");
	set("", TIGHT);
	measure_again_with(&caller, &none);
	measure_again_with(&caller, &none);
	is_number(helpers_now(&caller), 1, "a share of the bandwidth that copies fill");
	measure_again_with(&caller, &idle);
	measure_again_with(&caller, &idle);
	is_number(helpers_now(&caller), 0, "has no room for the program's own traffic");
	set("", MODEL);
}

/* A pass that is compared, with its choice. */
static struct pm_pass compared(const void *caller, double compute_s, double placed_s)
{
	struct pm_pass pass = {0};

	begin(caller, &pass);
	begin(caller, &pass);
	ok(pass.is_measuring && pass.is_compared, "an interval in place is measured, too");
	pm_phase_measured(
		&pass, &(struct pm_phase_interval){.compute_ns = (uint64_t)(compute_s * SECOND),
			       .placed_ns = (uint64_t)(placed_s * SECOND),
			       .idle_bytes = UINT64_C(4000) * GB});
	return pass;
}

static void test_compared(void)
{
	static const char faster, no_faster, paced;
	struct pm_pass pass;

	set("", COMPARED);
	is_number(compared(&faster, 0.5, 4).helpers, 2, "late copies by two beat data in place");
	is_number(compared(&no_faster, 3, 3).helpers, 0, "helpers that gain nothing do not run");
	set("paced", COMPARED);
	begin(&paced, &pass);
	begin(&paced, &pass);
	ok(pass.is_measuring && !pass.is_compared, "the paced model compares nothing");
	set("", MODEL);
}

static void test_slower_than_in_place(void)
{
	static const char caller;
	struct pm_pass pass;

	set("", COMPARED);
	pass = compared(&caller, 3, 4);
	is_number(pass.helpers, 1, "an interval of 4 s in place, of 3 s by one helper");
	is_number((long long)pass.placed_ns, 4200000000, "which is not to take longer than that");
	pm_phase_walked(&pass, 10, 6);
	pm_phase_walked(&pass, 10, 5);
	pm_phase_walked(&pass, 10, 6);
	is_number(helpers_now(&caller), 1, "a slow pass now and then changes nothing");
	pm_phase_walked(&pass, 10, 6);
	is_number(begin(&caller, &pass), PM_IN_PLACE_MODEL, "two in a row end it");
	measure_again_with(&caller,
		&(struct pm_phase_interval){.compute_ns = 3 * SECOND, .placed_ns = 4 * SECOND});
	is_number(helpers_now(&caller), 0, "and the next measurement needs another one");
	measure_again_with(&caller,
		&(struct pm_phase_interval){.compute_ns = 3 * SECOND, .placed_ns = 4 * SECOND});
	is_number(helpers_now(&caller), 1, "that agrees");
	set("", MODEL);
}

static void test_phases_differ(void)
{
	static const char caller, other;
	struct pm_pass pass;

	begin(&caller, &pass);
	is_number(pm_phase_begin(&other, GB, true, true, &pass), PM_IN_PLACE_FIRST, "by place");
	is_number(pm_phase_begin(&caller, GB / 2, true, true, &pass), PM_IN_PLACE_FIRST,
		"by the size of batches");
	is_number(pm_phase_begin(&caller, GB, false, true, &pass), PM_IN_PLACE_FIRST,
		"by what is copied back");
	is_number(begin(&caller, &pass), PM_IN_PLACE_NOT, "the first one goes on");
}

static void test_obstacles(void)
{
	static const char caller;
	struct pm_pass pass;

	cpus = 0;
	is_number(begin(&caller, &pass), PM_IN_PLACE_NO_CPU, "no processor for helpers");
	cpus = 2;
	can_run = false;
	is_number(begin(&caller, &pass), PM_IN_PLACE_NO_CPU, "no thread, or a child of fork");
	can_run = true;
	for (uintptr_t i = 0; i < PM_PHASES_MAX; i++)
		pm_phase_begin((void *)(i + 1), GB, true, true, &pass);
	is_number(pm_phase_begin(&caller, GB, true, true, &pass), PM_IN_PLACE_TOO_MANY,
		"more places than it knows");
}

static void test_fixed(void)
{
	static const char caller;
	struct pm_pass pass;

	set("2", "");
	is_number(begin(&caller, &pass), PM_IN_PLACE_TOO_MANY, "a number without a model");
	set("0", "");
	is_number(begin(&caller, &pass), PM_IN_PLACE_MODEL, "0 is in place");
}

int main(void)
{
	set("paced", MODEL);
	test_first_passes();
	test_hysteresis();
	test_traffic();
	test_compared();
	test_slower_than_in_place();
	test_phases_differ();
	test_obstacles();
	test_fixed();
	return tap_done();
}
