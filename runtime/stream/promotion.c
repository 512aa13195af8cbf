/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "runtime/stream/promotion.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "model/model.h"
#include "runtime/common/clock.h"
#include "runtime/common/log.h"
#include "runtime/heap/heap.h"
#include "runtime/heap/moved_pages.h"
#include "runtime/heap/named_ranges.h"
#include "runtime/stream/phase.h"

#define WAIT_SHARE 0.1 /* of an iteration, which the program waits for promotion */

static bool is_on;
static atomic_uint_least64_t began_ns; /* of the iteration; 0: there was none */
static atomic_uint_least64_t total;

void pm_promotion_prepare(void)
{
	const char *text = getenv("PM_PROMOTE");

	is_on = text && !strcmp(text, "1");
	if (text && *text && !is_on && strcmp(text, "0") != 0)
		pm_log("PM_PROMOTE='%.100s' is none of 0 and 1: it is 0", text);
}

bool pm_promotion_is_on(void)
{
	return is_on;
}

uint64_t pm_promotion_bytes(
	const struct pm_model_words *words, double iteration_s, uint64_t slow_bytes)
{
	double spare = pm_model_spare(
		&words->socket, words->ranks ? words->ranks : 1, (double)slow_bytes / iteration_s);
	double copied = pm_curve_at(&words->socket.in, 1) * WAIT_SHARE;
	double rate = spare < copied ? spare : copied;

	return rate > 0 ? (uint64_t)(rate * iteration_s) : 0;
}

/* Addresses of PMem, less the pages of them that are in DRAM. */
static uint64_t bytes_in_pmem(void)
{
	uint64_t used = pm_heap_used_bytes(PM_PMEM), moved;
	struct pm_moved_counts counts;

	pm_moved_pages_count(&counts);
	moved = counts.to_dram_bytes - counts.to_pmem_bytes;
	return used > moved ? used - moved : 0;
}

/* Of threads that mark at once one gets the time since the mark before. */
void pm_promotion_iteration(void)
{
	const struct pm_model_words *words = pm_phases_model();
	uint64_t now = is_on ? pm_clock_now() : 0, before;

	if (!is_on || !words)
		return;
	before = atomic_exchange(&began_ns, now);
	if (!before || now <= before)
		return;
	atomic_fetch_add(&total, pm_named_ranges_promote(pm_promotion_bytes(
					 words, (double)(now - before) / 1e9, bytes_in_pmem())));
	atomic_store(&began_ns, pm_clock_now());
}

uint64_t pm_promotion_total(void)
{
	return atomic_load(&total);
}
