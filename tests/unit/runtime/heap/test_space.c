/* SPDX-License-Identifier: Apache-2.0 */
/* The runtime's spaces: extents never overlap, holes, splits. No memory is touched. */
#include "runtime/heap/space.h"

#include "tests/unit/tap.h"

#define GRANULES 4096u
#define BASE	 ((char *)(UINT64_C(3) << 40))
#define OWNERS	 200

static struct pm_extent extents[GRANULES];
static uint16_t owners[GRANULES]; /* of each granule; 0: none */
static bool soiled[GRANULES], handed_out[GRANULES];

/* --- commit functions --- */

static uint32_t allowed;

static uint32_t up_to_allowed(
	const struct pm_space *space, uint32_t first, uint32_t n, uint32_t *ret_hole)
{
	(void)space;
	*ret_hole = 0;
	if (first + n <= allowed)
		return n;
	return first < allowed ? allowed - first : 0;
}

/* Another process holds the second chunk of every four. */
static uint32_t with_holes(
	const struct pm_space *space, uint32_t first, uint32_t n, uint32_t *ret_hole)
{
	uint32_t got = 0;

	(void)space;
	while (got < n && (first + got) / PM_CHUNK_GRANULES % 4 != 1)
		got += PM_CHUNK_GRANULES;
	*ret_hole = got < n ? PM_CHUNK_GRANULES : 0;
	return got < n ? got : n;
}

static struct pm_space make(pm_space_commit_fn *commit)
{
	struct pm_space space;

	memset(extents, 0, sizeof(extents));
	memset(owners, 0, sizeof(owners));
	memset(soiled, 0, sizeof(soiled));
	memset(handed_out, 0, sizeof(handed_out));
	pm_space_init(&space, BASE, GRANULES * PM_GRANULE, extents, commit);
	return space;
}

static uint32_t index_of(const char *start)
{
	return (uint32_t)((uintptr_t)(start - BASE) / PM_GRANULE);
}

static bool resizes(struct pm_space *space, const void *start, size_t bytes)
{
	size_t fresh_bytes;

	return pm_space_resize(space, start, bytes, &fresh_bytes);
}

/* --- tests --- */

static void test_one(void)
{
	struct pm_space space = make(NULL);
	struct pm_allocation a = pm_space_alloc(&space, 1, 1, PM_EXTENT_OBJECT), b;

	ok(a.start == BASE && a.bytes == PM_GRANULE, "a byte is a granule");
	ok(!a.dirty_bytes && a.fresh_bytes == PM_GRANULE, "which is new");
	b = pm_space_alloc(&space, PM_GRANULE + 1, 1, PM_EXTENT_OBJECT);
	ok(b.start == BASE + PM_GRANULE && b.bytes == 2 * PM_GRANULE, "then two");
	pm_space_free(&space, a.start, false);
	a = pm_space_alloc(&space, 100, 1, PM_EXTENT_OBJECT);
	ok(a.start == BASE && a.dirty_bytes == PM_GRANULE, "what was freed may be dirty");
	pm_space_free(&space, a.start, true);
	a = pm_space_alloc(&space, 100, 1, PM_EXTENT_OBJECT);
	ok(a.start == BASE && !a.dirty_bytes, "unless it is known to be clean");
	pm_space_free(&space, a.start, false);
	pm_space_free(&space, b.start, false);
	is_number(space.used, 0, "nothing is in use");
	is_number(space.peak, 3, "three granules were");
	is_number(extents[0].granules, 3, "neighbours are one again");
}

static void test_limits(void)
{
	struct pm_space space = make(NULL);

	ok(!pm_space_alloc(&space, GRANULES * PM_GRANULE + 1, 1, PM_EXTENT_OBJECT).start,
		"more than there is");
	ok(!pm_space_alloc(&space, 0, 1, PM_EXTENT_OBJECT).start, "nothing is nothing");
	ok(pm_space_alloc(&space, GRANULES * PM_GRANULE, 1, PM_EXTENT_OBJECT).start,
		"all there is");
	ok(!pm_space_alloc(&space, 1, 1, PM_EXTENT_OBJECT).start, "then none is left");
	pm_space_free(&space, BASE, false);
	ok(resizes(&space, pm_space_alloc(&space, 1, 1, PM_EXTENT_OBJECT).start,
		   GRANULES * PM_GRANULE),
		"one granule grows to all there is");
	ok(!resizes(&space, BASE, GRANULES * PM_GRANULE + 1), "and not further");
	space = make(NULL);
	space.size = 0;
	ok(!pm_space_alloc(&space, 1, 1, PM_EXTENT_OBJECT).start, "an empty space has no room");
}

static void test_commit(void)
{
	struct pm_space space = make(up_to_allowed);
	struct pm_allocation t;

	allowed = 2 * PM_CHUNK_GRANULES;
	t = pm_space_alloc(&space, 3 * PM_CHUNK, 1, PM_EXTENT_OBJECT);
	ok(!t.start, "no more than may be committed");
	t = pm_space_alloc(&space, 2 * PM_CHUNK, 1, PM_EXTENT_OBJECT);
	ok(t.start == BASE, "but that");
	ok(!resizes(&space, t.start, 2 * PM_CHUNK + 1), "nor by growing");
	allowed = GRANULES;
	ok(resizes(&space, t.start, 2 * PM_CHUNK + 1), "until there is more");
}

static uint32_t more(const struct pm_space *space, uint32_t first, uint32_t n, uint32_t *ret_hole)
{
	*ret_hole = 0;
	(void)n;
	return space->size - first;
}

static void test_more(void)
{
	struct pm_space space = make(more);

	ok(pm_space_alloc(&space, 1, 1, PM_EXTENT_OBJECT).start,
		"more may be committed than asked");
	is_number(space.committed, GRANULES, "which stays committed");
}

static void test_holes(void)
{
	struct pm_space space = make(with_holes);
	struct pm_allocation first = pm_space_alloc(&space, PM_CHUNK / 2, 1, PM_EXTENT_OBJECT), t;

	t = pm_space_alloc(&space, PM_CHUNK, 1, PM_EXTENT_OBJECT);
	ok(t.start == BASE + 2 * PM_CHUNK, "an extent does not overlap a hole");
	t = pm_space_alloc(&space, PM_CHUNK / 2, 1, PM_EXTENT_OBJECT);
	ok(t.start == first.start + PM_CHUNK / 2, "what is before the hole is used");
	ok(!pm_space_alloc(&space, 4 * PM_CHUNK, 1, PM_EXTENT_OBJECT).start,
		"there is nowhere room between holes for more");
	is_number(space.used, 2 * PM_CHUNK_GRANULES, "holes are not in use");
	is_number(space.holes % PM_CHUNK_GRANULES, 0, "they are whole chunks");
	ok(space.holes > PM_CHUNK_GRANULES, "and counted");
}

static void test_split(void)
{
	struct pm_space space = make(up_to_allowed), rest;
	const uint64_t keep = (uint64_t)GRANULES / 2 * PM_GRANULE;
	char *last;

	allowed = GRANULES;
	pm_space_init(&rest, BASE, 0, NULL, NULL);
	ok(!pm_space_contains(&rest, BASE), "a space of nothing holds nothing");
	(void)pm_space_alloc(&space, PM_CHUNK, 1, PM_EXTENT_OBJECT);
	is_number((long long)pm_space_split(&space, &rest, keep - PM_CHUNK + 1), (long long)keep,
		"the second half is another space");
	ok(!pm_space_contains(&space, BASE + keep) && pm_space_contains(&rest, BASE + keep),
		"which has its addresses");
	last = pm_space_alloc(&rest, keep, 1, PM_EXTENT_OBJECT).start;
	ok(last == BASE + keep && pm_space_extent(&rest, last) == &extents[GRANULES / 2],
		"and its extents");
	ok(!pm_space_alloc(&rest, 1, 1, PM_EXTENT_OBJECT).start &&
			pm_space_alloc(&space, keep - PM_CHUNK, 1, PM_EXTENT_OBJECT).start &&
			!pm_space_alloc(&space, 1, 1, PM_EXTENT_OBJECT).start,
		"each has its half");
	pm_space_init(&rest, BASE, 0, NULL, NULL);
	is_number((long long)pm_space_split(&space, &rest, 0), 0,
		"what has been committed is not split off");
	is_number((long long)pm_space_split(&space, &rest, UINT64_MAX), 0, "nor more than all");
	ok(!pm_space_bytes(&rest) && pm_space_bytes(&space) == keep, "then nothing is changed");
}

/* --- what is kept for small objects --- */

static bool has_room(struct pm_space *space, uint32_t granules, enum pm_extent_kind kind)
{
	return pm_space_alloc(space, granules * PM_GRANULE, 1, kind).start;
}

static void test_kept(void)
{
	struct pm_space space = make(NULL);

	pm_space_keep(&space, 100 * PM_GRANULE);
	ok(has_room(&space, GRANULES - 101, PM_EXTENT_OBJECT), "large objects have the rest");
	ok(!resizes(&space, BASE, (GRANULES - 99) * PM_GRANULE), "they do not grow into it");
	ok(resizes(&space, BASE, (GRANULES - 100) * PM_GRANULE), "but up to it");
	ok(!has_room(&space, 1, PM_EXTENT_OBJECT), "nor is there room for more of them");
	ok(!has_room(&space, 1, PM_EXTENT_PLACED), "of any kind");
	ok(has_room(&space, 60, PM_EXTENT_SLAB), "slabs have it");
	ok(has_room(&space, 10, PM_EXTENT_SAMPLE), "and so do samples");
	ok(!has_room(&space, 1, PM_EXTENT_OBJECT), "which leave none of it to large objects");
	pm_space_free(&space, BASE, false);
	ok(has_room(&space, GRANULES - 100, PM_EXTENT_OBJECT), "freed objects make room again");
	ok(!has_room(&space, 1, PM_EXTENT_OBJECT), "as much as before");
	ok(has_room(&space, 30, PM_EXTENT_SLAB), "slabs have the last of it");
	pm_space_free(&space, BASE, false);
	ok(has_room(&space, GRANULES - 100, PM_EXTENT_OBJECT), "when all of it is used,");
	ok(!has_room(&space, 1, PM_EXTENT_SLAB), "there is no more for slabs than for others");
}

/* Two times the 100 granules are denied, of which objects that have no room anyway are none. */
static void test_patience(void)
{
	struct pm_space space = make(NULL);

	pm_space_keep(&space, 100 * PM_GRANULE);
	ok(has_room(&space, GRANULES - 100, PM_EXTENT_OBJECT), "large objects have the rest");
	for (int i = 0; i < 9; i++)
		ok(!has_room(&space, 20, PM_EXTENT_OBJECT), "%d granules are denied", 20 * i + 20);
	ok(has_room(&space, 10, PM_EXTENT_SLAB), "a slab is taken: patience begins anew");
	for (int i = 0; i < 10; i++)
		ok(!has_room(&space, 20, PM_EXTENT_OBJECT) &&
				!has_room(&space, 91, PM_EXTENT_OBJECT),
			"%d granules are denied", 20 * i + 20);
	ok(has_room(&space, 20, PM_EXTENT_OBJECT), "then what was kept is for all");
	ok(resizes(&space, BASE + (GRANULES - 90) * PM_GRANULE, 90 * PM_GRANULE), "up to the end");
	space = make(NULL);
	pm_space_keep(&space, GRANULES * PM_GRANULE);
	ok(!has_room(&space, 1, PM_EXTENT_OBJECT), "all is kept,");
	pm_space_keep(&space, 0);
	ok(has_room(&space, GRANULES, PM_EXTENT_OBJECT), "until it is given up");
}

/* --- random operations, checked against an array with the owner of each granule --- */

static uint32_t seed = 12345;

static uint32_t random_below(uint32_t n)
{
	seed = seed * 1664525u + 1013904223u;
	return (seed >> 8) % n;
}

struct owned {
	char *start;
	uint32_t granules;
};

static struct owned owned[OWNERS];
static unsigned wrong;

static void claim(uint32_t who, uint32_t from, uint32_t n)
{
	for (uint32_t i = from; i < from + n; i++) {
		wrong += owners[i] != 0;
		owners[i] = (uint16_t)(who + 1);
		soiled[i] = handed_out[i] = true;
	}
}

/* Fresh granules have never been allocated before. */
static void check_fresh(const char *start, size_t bytes, size_t fresh_bytes)
{
	for (size_t at = bytes - fresh_bytes; at < bytes; at += PM_GRANULE)
		wrong += handed_out[index_of(start + at)];
}

static void release(uint32_t from, uint32_t n)
{
	memset(&owners[from], 0, n * sizeof(owners[0]));
}

static void alloc_owned(struct pm_space *space, uint32_t who)
{
	size_t align = PM_GRANULE << (random_below(4) ? 0 : random_below(7));
	uint32_t granules = 1 + (random_below(3) ? random_below(20) : random_below(400));
	struct pm_allocation t =
		pm_space_alloc(space, granules * PM_GRANULE, align, PM_EXTENT_OBJECT);

	if (!t.start)
		return;
	wrong += (uintptr_t)t.start % align != 0 || t.bytes != granules * PM_GRANULE;
	for (size_t at = t.dirty_bytes; at < t.bytes; at += PM_GRANULE)
		wrong += soiled[index_of(t.start + at)];
	check_fresh(t.start, t.bytes, t.fresh_bytes);
	owned[who] = (struct owned){t.start, granules};
	claim(who, index_of(t.start), granules);
}

static void free_owned(struct pm_space *space, uint32_t who)
{
	bool clean = random_below(2);

	release(index_of(owned[who].start), owned[who].granules);
	if (clean)
		memset(&soiled[index_of(owned[who].start)], 0, owned[who].granules);
	pm_space_free(space, owned[who].start, clean);
	owned[who].start = NULL;
}

static void resize(struct pm_space *space, uint32_t who)
{
	uint32_t granules = 1 + random_below(100), top = space->top;
	size_t fresh_bytes;

	if (!pm_space_resize(space, owned[who].start, granules * PM_GRANULE, &fresh_bytes))
		return;
	wrong += fresh_bytes != (space->top - top) * PM_GRANULE;
	check_fresh(owned[who].start, granules * PM_GRANULE, fresh_bytes);
	release(index_of(owned[who].start), owned[who].granules);
	owned[who].granules = granules;
	claim(who, index_of(owned[who].start), granules);
}

static void random_step(struct pm_space *space)
{
	uint32_t who = random_below(OWNERS);

	if (!owned[who].start)
		alloc_owned(space, who);
	else if (random_below(3))
		free_owned(space, who);
	else
		resize(space, who);
}

static void count_free(const struct pm_space *space, uint32_t *ret_free, uint32_t *ret_dirty)
{
	bool was_free = false;

	*ret_free = *ret_dirty = 0;
	for (uint32_t at = 0; at < space->top; at += space->extents[at].granules) {
		bool is_free = space->extents[at].kind == PM_EXTENT_FREE;

		if (!space->extents[at].granules) {
			wrong++;
			return;
		}
		wrong += is_free && was_free;
		wrong += space->extents[at + space->extents[at].granules - 1].start != at;
		*ret_free += is_free ? space->extents[at].granules : 0;
		*ret_dirty +=
			is_free && !space->extents[at].zeroed ? space->extents[at].granules : 0;
		was_free = is_free;
	}
}

static void check_tiles(const struct pm_space *space)
{
	uint32_t free_granules, dirty;

	count_free(space, &free_granules, &dirty);
	wrong += dirty != space->dirty;
}

static void test_random(pm_space_commit_fn *commit, const char *name)
{
	struct pm_space space = make(commit);

	wrong = 0;
	memset(owned, 0, sizeof(owned));
	for (int round = 0; round < 100000; round++) {
		random_step(&space);
		if (round % 64 == 0)
			check_tiles(&space);
	}
	is_number(wrong, 0, name);
	for (uint32_t who = 0; who < OWNERS; who++)
		if (owned[who].start)
			free_owned(&space, who);
	is_number(space.used, 0, "at the end nothing is in use");
	check_tiles(&space);
	is_number(wrong, 0, "and all is accounted for");
}

/* At any time slabs find as many granules as are kept, wherever they are. */
static void test_kept_at_random(void)
{
	struct pm_space space = make(NULL);
	uint32_t kept = GRANULES / 4, found = 0, left;

	wrong = 0;
	memset(owned, 0, sizeof(owned));
	pm_space_keep(&space, kept * PM_GRANULE);
	space.denied_max = UINT32_MAX;
	for (int round = 0; round < 20000; round++) {
		random_step(&space);
		if (round % 40 == 0 && found < kept)
			found += has_room(&space, 1, PM_EXTENT_SLAB);
		left = GRANULES - space.used;
		wrong += left < kept - found || space.kept != kept - found;
	}
	is_number(wrong, 0, "20000 random steps leave all that is kept");
	while (found < kept && has_room(&space, 1, PM_EXTENT_SLAB))
		found++;
	is_number(found, kept, "slabs find it");
}

int main(void)
{
	test_one();
	test_limits();
	test_commit();
	test_more();
	test_holes();
	test_split();
	test_kept();
	test_patience();
	test_kept_at_random();
	test_random(NULL, "100000 random steps: no granule has two owners");
	test_random(with_holes, "the same between holes");
	return tap_done();
}
