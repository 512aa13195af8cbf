/* SPDX-License-Identifier: Apache-2.0 */
/* Starts the runtime in a process. Without PM_RANK_DRAM nothing is placed. */
#include <pthread.h>
#include <stdlib.h>
#include <sys/param.h>

#include "runtime/advice/advice.h"
#include "runtime/advice/advised_objects.h"
#include "runtime/common/rank_registry.h"
#include "runtime/common/log.h"
#include "runtime/heap/heap.h"
#include "runtime/heap/jemalloc.h"
#include "runtime/heap/moved_pages.h"
#include "runtime/heap/named_ranges.h"
#include "runtime/profile/profile.h"
#include "runtime/start/marks.h"
#include "runtime/start/report.h"
#include "runtime/start/static_data.h"
#include "runtime/stream/stream.h"

/* In this order: the end of a profile writes to the file with the heap's locks held. */
static void before_fork(void)
{
	pm_named_ranges_before_fork();
	pm_moved_pages_before_fork();
	pm_heap_before_fork();
	pm_profile_before_fork();
}

static void after_fork(void)
{
	pm_profile_after_fork();
	pm_heap_after_fork();
	pm_moved_pages_after_fork();
	pm_named_ranges_after_fork();
}

static void after_fork_in_child(void)
{
	pm_profile_after_fork_in_child();
	pm_heap_after_fork_in_child();
	pm_static_data_after_fork_in_child();
	pm_moved_pages_after_fork_in_child();
	pm_named_ranges_after_fork_in_child();
}

/*
 * True: malloc() is this library's. Libraries preloaded before this one come first, and valgrind
 * and sanitizers replace malloc() in any case. If two allocators each had some of the functions,
 * one would be asked to free objects of the other.
 */
static bool is_first_malloc(void)
{
	void *object;
	bool is_ours;

	pm_heap_open(false, false);
	object = malloc(1);
	is_ours = pm_heap_owns(object);
	free(object);
	if (!is_ours)
		pm_heap_close();
	return is_ours;
}

/*
 * The DRAM that advice may assume: the budget without static data, and at most the bytes that are
 * free on the node. With more, objects that are allocated first would take the DRAM of those that
 * are accessed most.
 */
static uint64_t advised_bytes(void)
{
	struct pm_static_data statics;

	pm_static_data_counts(&statics);
	return MIN(pm_heap.settings.budget_bytes - statics.dram_bytes, pm_heap_available_dram());
}

/*
 * Advised objects of any lifetime share the DRAM that short-lived ones have without advice. sysfs
 * is read for programs with advice alone.
 */
static void start_advice(bool attached)
{
	if (!pm_advice_is_named())
		return;
	pm_advice_start(advised_bytes(), attached || pm_heap.registry == PM_REGISTRY_ABSENT);
	pm_advice_on = pm_advice_on && pm_advised_start(attached);
	if (!pm_advice_on)
		return;
	(void)pm_space_split(&pm_heap.spaces[PM_TEMPORARY], &pm_heap.spaces[PM_LENT], 0);
	pm_heap_keep_for_small(false);
}

/*
 * Lock order: jemalloc's locks before the heap's, since jemalloc allocates slabs with its own locks
 * held. Prepare handlers run in reverse order of registration, pthread_atfork(3): the heap's are
 * registered before jemalloc starts, so that the heap's locks are taken last.
 */
__attribute__((constructor)) static void start(void)
{
	struct pm_settings settings;
	bool attached;

	if (!pm_settings_read(&settings) || !pm_heap_start(&settings))
		return;
	pthread_atfork(before_fork, after_fork, after_fork_in_child);
	pm_streams_reserve_space();
	pm_heap_keep_for_small(true);
	if (!pm_jemalloc_start()) {
		pm_log("no memory to start with: nothing is placed");
		return;
	}
	if (!is_first_malloc()) {
		pm_log("another allocator comes first, a preloaded library's or a checker's: "
		       "nothing is placed");
		return;
	}
	pm_static_data_place(settings.static_in_pmem);
	attached = pm_registry_attach();
	start_advice(attached);
	pm_profile_start(attached);
	pm_streams_prepare();
	pm_heap_open(pm_profile_on || pm_advice_on_small, pm_advice_on_small);
	pm_marks_start();
	pm_report_prepare(attached);
}
