/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/stream/promotion.h"

#include <stdlib.h>
#include <unistd.h>

#include "model/model.h"
#include "runtime/heap/heap.h"
#include "runtime/heap/moved_pages.h"
#include "runtime/heap/named_ranges.h"
#include "runtime/stream/phase.h"
#include "tests/unit/tap.h"

#define GB 1000000000ULL

/* --- in place of the heap and the phases --- */

static const struct pm_model_words *model;
static uint64_t used_bytes, in_dram_bytes;
static size_t asked, calls;

const struct pm_model_words *pm_phases_model(void)
{
	return model;
}

uint64_t pm_heap_used_bytes(enum pm_space_id id)
{
	return id == PM_PMEM ? used_bytes : 0;
}

void pm_moved_pages_count(struct pm_moved_counts *ret)
{
	*ret = (struct pm_moved_counts){.to_dram_bytes = in_dram_bytes};
}

size_t pm_named_ranges_promote(size_t bytes)
{
	asked = bytes;
	calls++;
	return 4096;
}

/* --- */

static struct pm_model_words words = {.ranks = 4,
	.socket = {.in = {.n = 1, .points = {{1, 4e9}}}, .peak_in = 40e9, .peak_out = 10e9}};

static void test_spare(void)
{
	is_number((long long)pm_model_spare(&words.socket, 4, 3e9), 7000000000,
		"a share of the peak, less the program's traffic");
	is_number((long long)pm_model_spare(&words.socket, 4, 11e9), 0, "is never below 0");
	is_number((long long)pm_model_spare(&words.socket, 4, -1), 0, "nor of unknown traffic");
	is_number((long long)pm_model_spare(&words.socket, 0, 0), 0, "nor of no rank");
}

static void test_bytes(void)
{
	is_number((long long)pm_promotion_bytes(&words, 2, 0), 2 * 4 * GB / 10,
		"what a thread copies in a tenth of the iteration");
	is_number((long long)pm_promotion_bytes(&words, 2, 19900000000), 100000000,
		"or what is spare in all of it");
	is_number((long long)pm_promotion_bytes(&words, 2, 30 * GB), 0, "or nothing");
}

static void test_iterations(void)
{
	model = &words;
	pm_promotion_iteration();
	is_number((long long)calls, 0, "off by default");
	setenv("PM_PROMOTE", "1", 1);
	pm_promotion_prepare();
	ok(pm_promotion_is_on(), "PM_PROMOTE=1");
	pm_promotion_iteration();
	is_number((long long)calls, 0, "the first mark begins an iteration");
	usleep(1000);
	pm_promotion_iteration();
	is_number((long long)calls, 1, "the second one ends it");
	ok(asked > 0, "with some bytes");
	used_bytes = 400 * GB;
	pm_promotion_iteration();
	is_number((long long)asked, 0, "none while the program needs all of the bandwidth");
	in_dram_bytes = used_bytes;
	usleep(1000);
	pm_promotion_iteration();
	ok(asked > 0, "what was moved to DRAM needs none");
	is_number((long long)pm_promotion_total(), (long long)calls * 4096, "all of it is counted");
	model = NULL;
	asked = 0;
	pm_promotion_iteration();
	is_number((long long)calls, 3, "without a model nothing is promoted");
}

int main(void)
{
	test_spare();
	test_bytes();
	test_iterations();
	return tap_done();
}
