/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/heap/named_ranges.h"

#include <stdint.h>
#include <string.h>

#include "runtime/heap/heap.h"
#include "runtime/heap/moved_pages.h"
#include "tests/unit/tap.h"

#define PAGE  ((size_t)4096)
#define PAGES ((size_t)4096)
#define BASE  ((char *)0x40000000) /* of a chunk; nothing is there */

struct pm_heap pm_heap;

/* --- in place of runtime/heap/moved_pages.c --- */

static bool in_dram[PAGES];
static size_t room = PAGES; /* pages */
static bool is_crossed;	    /* a call went beyond a chunk, or had a part of a page */

size_t pm_moved_pages_try_dram(const void *start, size_t bytes, bool *ret_full)
{
	size_t first = (size_t)((const char *)start - BASE) / PAGE, n = bytes / PAGE, moved = 0;

	is_crossed |= (uintptr_t)start % PAGE || bytes % PAGE ||
		      (uintptr_t)start / PM_CHUNK != ((uintptr_t)start + bytes - 1) / PM_CHUNK;
	*ret_full = n > room;
	for (size_t i = 0; !*ret_full && i < n; i++) {
		moved += !in_dram[first + i];
		in_dram[first + i] = true;
	}
	room -= moved;
	return moved * PAGE;
}

static size_t count(void)
{
	size_t n = 0;

	for (size_t i = 0; i < PAGES; i++)
		n += in_dram[i];
	return n;
}

static void forget_all(void)
{
	pm_named_ranges_remove(BASE, PAGES * PAGE);
	memset(in_dram, 0, sizeof(in_dram));
	room = PAGES;
}

/* --- */

static void test_parts(void)
{
	ok(pm_named_ranges_add(BASE + 100, 1000 * PAGE), "a range");
	is_number((long long)pm_named_ranges_promote(PAGE - 1), 0, "less than a page is nothing");
	is_number((long long)pm_named_ranges_promote(3 * PAGE + 5), 3 * PAGE, "three pages");
	ok(!in_dram[0] && in_dram[1] && in_dram[3] && !in_dram[4],
		"the first whole ones of the range");
	is_number((long long)pm_named_ranges_promote(SIZE_MAX), 996 * PAGE, "the rest at once");
	ok(in_dram[999] && !in_dram[1000], "to the last whole page");
	is_number((long long)pm_named_ranges_promote(SIZE_MAX), 0, "then it is off the list");
	ok(!is_crossed, "whole pages, of one chunk at a time");
	forget_all();
}

static void test_order(void)
{
	ok(pm_named_ranges_add(BASE + 600 * PAGE, 10 * PAGE), "one");
	ok(pm_named_ranges_add(BASE, 10 * PAGE), "another one");
	ok(pm_named_ranges_add(BASE + 20 * PAGE, 5), "a range without a whole page is not added");
	(void)pm_named_ranges_promote(12 * PAGE);
	ok(in_dram[600] && in_dram[609] && in_dram[1] && !in_dram[2],
		"go in the order in which they were named");
	forget_all();
}

static void test_room(void)
{
	room = 700;
	ok(pm_named_ranges_add(BASE, 1000 * PAGE), "a range");
	is_number((long long)pm_named_ranges_promote(SIZE_MAX), 512 * PAGE,
		"ends where DRAM has no room for a chunk");
	room = PAGES;
	is_number((long long)pm_named_ranges_promote(SIZE_MAX), 488 * PAGE, "and goes on later");
	forget_all();
}

static void test_names(void)
{
	ok(pm_named_ranges_add(BASE, 10 * PAGE) && pm_named_ranges_add(BASE + 10 * PAGE, 10 * PAGE),
		"two ranges");
	(void)pm_named_ranges_promote(PAGE);
	pm_named_ranges_remove(BASE, 1);
	(void)pm_named_ranges_promote(SIZE_MAX);
	ok(in_dram[0] && !in_dram[1] && in_dram[10],
		"one loses its name by what was moved already");
	forget_all();
	ok(pm_named_ranges_add(BASE, 10 * PAGE), "a range");
	ok(!pm_heap.forget_named(BASE + 9 * PAGE, PAGE), "free() of its last page");
	(void)pm_named_ranges_promote(SIZE_MAX);
	is_number((long long)count(), 0, "takes the name back");
	for (size_t i = 0; i < PM_NAMED_RANGES_MAX; i++)
		(void)pm_named_ranges_add(BASE + i * PAGE, PAGE);
	ok(!pm_named_ranges_add(BASE, PAGE), "the list has an end");
	pm_named_ranges_before_fork();
	pm_named_ranges_after_fork_in_child();
	is_number((long long)pm_named_ranges_promote(SIZE_MAX), 0, "nothing is named in a child");
}

int main(void)
{
	test_parts();
	test_order();
	test_room();
	test_names();
	return tap_done();
}
