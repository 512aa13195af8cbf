/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/heap/space.h"

#define FIT_TRIES 8 /* extents examined in the size's own class, where some are too small */

static uint32_t in_granules(size_t bytes)
{
	return (uint32_t)((bytes + PM_GRANULE - 1) / PM_GRANULE);
}

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static uint32_t class_of(uint32_t granules)
{
	uint32_t log = 31 - (uint32_t)__builtin_clz(granules);

	return log < 2 ? granules : 4 * (log - 1) + ((granules >> (log - 2)) & 3);
}

/* --- free lists --- */

static void insert_free(struct pm_space *s, uint32_t at)
{
	uint32_t class = class_of(s->extents[at].granules);
	bool nonempty = s->nonempty[class / 64] >> class % 64 & 1;

	s->extents[at].prev = UINT32_MAX;
	s->extents[at].next = nonempty ? s->free_lists[class] : UINT32_MAX;
	if (nonempty)
		s->extents[s->free_lists[class]].prev = at;
	s->free_lists[class] = at;
	s->nonempty[class / 64] |= UINT64_C(1) << class % 64;
	s->dirty += s->extents[at].zeroed ? 0 : s->extents[at].granules;
}

static void remove_free(struct pm_space *s, uint32_t at)
{
	const struct pm_extent *extent = &s->extents[at];
	uint32_t class = class_of(extent->granules);

	s->dirty -= extent->zeroed ? 0 : extent->granules;
	if (extent->next != UINT32_MAX)
		s->extents[extent->next].prev = extent->prev;
	if (extent->prev != UINT32_MAX)
		s->extents[extent->prev].next = extent->next;
	else if (extent->next != UINT32_MAX)
		s->free_lists[class] = extent->next;
	else
		s->nonempty[class / 64] &= ~(UINT64_C(1) << class % 64);
}

static uint32_t find_larger_class(const struct pm_space *s, uint32_t class)
{
	for (uint32_t word = (class + 1) / 64; word < PM_SPACE_CLASSES / 64; word++) {
		uint64_t nonempty = s->nonempty[word];

		if (word == (class + 1) / 64)
			nonempty &= ~UINT64_C(0) << (class + 1) % 64;
		if (nonempty)
			return s->free_lists[word * 64 + (uint32_t)__builtin_ctzll(nonempty)];
	}
	return UINT32_MAX;
}

/*
 * Finds a free extent of at least that many granules; UINT32_MAX: none. Every extent of a larger
 * class fits; in the size's own class only FIT_TRIES extents are examined.
 */
static uint32_t find_free(const struct pm_space *s, uint32_t granules)
{
	uint32_t class = class_of(granules), at = UINT32_MAX;

	if (s->nonempty[class / 64] >> class % 64 & 1)
		at = s->free_lists[class];
	for (int tries = 0; at != UINT32_MAX && tries < FIT_TRIES; tries++) {
		if (s->extents[at].granules >= granules)
			return at;
		at = s->extents[at].next;
	}
	return find_larger_class(s, class);
}

/* --- extents --- */

static void set_extent(struct pm_space *s, uint32_t at, uint32_t granules, enum pm_extent_kind kind)
{
	s->extents[at].granules = granules;
	s->extents[at].kind = kind;
	s->extents[at].zeroed = 0;
	s->extents[at + granules - 1].start = at;
}

/* Removes a free extent from its list and the tiling: the caller covers its range again. */
static void detach_free(struct pm_space *s, uint32_t at)
{
	remove_free(s, at);
	s->extents[at].granules = 0;
}

static bool is_free(const struct pm_space *s, uint32_t at)
{
	return s->extents[at].kind == PM_EXTENT_FREE;
}

/*
 * Makes [at, at + granules) a free extent, coalesced with free neighbours. The result is zeroed
 * only if all parts are.
 */
static void free_and_coalesce(struct pm_space *s, uint32_t at, uint32_t granules, bool zeroed)
{
	uint32_t begin = at, end = at + granules;

	if (!granules)
		return;
	s->extents[at].granules = 0;
	if (end < s->top && is_free(s, end)) {
		uint32_t more = s->extents[end].granules;

		zeroed &= s->extents[end].zeroed;
		detach_free(s, end);
		end += more;
	}
	if (begin && is_free(s, s->extents[begin - 1].start)) {
		begin = s->extents[begin - 1].start;
		zeroed &= s->extents[begin].zeroed;
		detach_free(s, begin);
	}
	set_extent(s, begin, end - begin, PM_EXTENT_FREE);
	s->extents[begin].zeroed = zeroed;
	insert_free(s, begin);
}

static void count_used(struct pm_space *s, uint32_t granules, enum pm_extent_kind kind)
{
	if (kind == PM_EXTENT_INDEX)
		return;
	s->used += granules;
	if (s->peak < s->used)
		s->peak = s->used;
}

/* First granule from `at` on with an address that is a multiple of `align`. */
static uint64_t aligned(const struct pm_space *s, uint64_t at, size_t align)
{
	uint64_t address = (uintptr_t)s->base + at * PM_GRANULE;

	address = (address + align - 1) & ~((uint64_t)align - 1);
	return (address - (uintptr_t)s->base) / PM_GRANULE;
}

static struct pm_allocation allocation(const struct pm_space *s, uint32_t at, uint32_t granules)
{
	return (struct pm_allocation){.start = s->base + at * PM_GRANULE,
		.bytes = granules * PM_GRANULE,
		.dirty_bytes = granules * PM_GRANULE};
}

/* --- what is kept for small objects --- */

static bool is_small(enum pm_extent_kind kind)
{
	return kind == PM_EXTENT_SLAB || kind == PM_EXTENT_SAMPLE;
}

/* False: there is room for so many more granules of a large object, but it is kept. */
static bool may_have(struct pm_space *s, uint32_t granules)
{
	uint32_t left = s->size - s->holes - s->used;

	if (granules > left || (uint64_t)granules + s->kept <= left)
		return true;
	if (s->denied >= s->denied_max) {
		s->kept = 0;
		return true;
	}
	s->denied += granules;
	return false;
}

static void use_kept(struct pm_space *s, uint32_t granules)
{
	s->kept -= least(s->kept, granules);
	s->denied = 0;
}

void pm_space_keep(struct pm_space *space, uint64_t bytes)
{
	pthread_mutex_lock(&space->lock);
	space->kept = (uint32_t)(bytes / PM_GRANULE);
	space->denied_max = PM_KEPT_PATIENCE * space->kept;
	pthread_mutex_unlock(&space->lock);
}

/* --- allocating --- */

static struct pm_allocation alloc_from_free(
	struct pm_space *s, uint32_t at, uint32_t granules, size_t align, enum pm_extent_kind kind)
{
	uint32_t begin = (uint32_t)aligned(s, at, align), end = at + s->extents[at].granules;
	bool zeroed = s->extents[at].zeroed;
	struct pm_allocation t = allocation(s, begin, granules);

	detach_free(s, at);
	set_extent(s, begin, granules, kind);
	free_and_coalesce(s, at, begin - at, zeroed);
	free_and_coalesce(s, begin + granules, end - begin - granules, zeroed);
	if (zeroed)
		t.dirty_bytes = 0;
	return t;
}

/* Makes [committed, committed + n) a hole, and the granules between it and the top free. */
static void add_hole(struct pm_space *s, uint32_t n)
{
	uint32_t top = s->top;

	set_extent(s, s->committed, n, PM_EXTENT_HOLE);
	s->holes += n;
	s->top = s->committed + n;
	free_and_coalesce(s, top, s->committed - top, false);
	s->committed = s->top;
}

/*
 * Commits [0, end), rounded up to chunks. False: not possible; *ret_hole is then true if a hole has
 * moved the top, so that the caller may try again behind it.
 */
static bool commit_up_to(struct pm_space *s, uint64_t end, bool *ret_hole)
{
	uint32_t wanted, got, hole = 0;

	*ret_hole = false;
	if (end <= s->committed)
		return true;
	wanted = least((uint32_t)(end + PM_CHUNK_GRANULES - 1) / PM_CHUNK_GRANULES *
				 PM_CHUNK_GRANULES,
			 s->size) -
		 s->committed;
	got = s->commit ? s->commit(s, s->committed, wanted, &hole) : wanted;
	s->committed += got;
	if (end <= s->committed)
		return true;
	if (hole)
		add_hole(s, hole);
	*ret_hole = hole;
	return false;
}

/* Start of the free extent that ends at the top; the top itself if there is none. */
static uint32_t free_tail(const struct pm_space *s)
{
	uint32_t last = s->top ? s->extents[s->top - 1].start : 0;

	return s->top && is_free(s, last) ? last : s->top;
}

static struct pm_allocation alloc_at_top(
	struct pm_space *s, uint32_t begin, uint32_t granules, enum pm_extent_kind kind)
{
	uint32_t from = free_tail(s), top = s->top, end = begin + granules;
	struct pm_allocation t = allocation(s, begin, granules);

	if (from < top)
		detach_free(s, from);
	s->top = end;
	set_extent(s, begin, granules, kind);
	free_and_coalesce(s, from, begin - from, false);
	t.dirty_bytes = begin < top ? (top - begin) * PM_GRANULE : 0;
	t.fresh_bytes = (end - (begin < top ? top : begin)) * PM_GRANULE;
	return t;
}

static struct pm_allocation extend_top(
	struct pm_space *s, uint32_t granules, size_t align, enum pm_extent_kind kind)
{
	bool hole;

	do {
		uint32_t from = free_tail(s);
		uint64_t begin = aligned(s, from, align);

		if (begin + granules > s->size)
			break;
		if (begin + granules <= s->top) /* the bounded search missed the last extent */
			return alloc_from_free(s, from, granules, align, kind);
		if (commit_up_to(s, begin + granules, &hole))
			return alloc_at_top(s, (uint32_t)begin, granules, kind);
	} while (hole);
	return (struct pm_allocation){0};
}

static struct pm_allocation alloc(
	struct pm_space *s, uint32_t granules, size_t align, enum pm_extent_kind kind)
{
	/* A free extent of this size holds the object at any alignment. */
	uint32_t slack = align > PM_GRANULE ? in_granules(align) - 1 : 0, at;
	struct pm_allocation t;

	if (s->kept && !is_small(kind) && !may_have(s, granules))
		return (struct pm_allocation){0};
	at = find_free(s, granules + slack);
	t = at == UINT32_MAX ? extend_top(s, granules, align, kind)
			     : alloc_from_free(s, at, granules, align, kind);
	if (t.start)
		count_used(s, granules, kind);
	if (s->kept && t.start && is_small(kind))
		use_kept(s, granules);
	return t;
}

struct pm_allocation pm_space_alloc(
	struct pm_space *space, size_t bytes, size_t align, enum pm_extent_kind kind)
{
	uint64_t room = pm_space_bytes(space);
	struct pm_allocation t;

	if (!bytes || bytes > room || align > room)
		return (struct pm_allocation){0};
	pthread_mutex_lock(&space->lock);
	t = alloc(space, in_granules(bytes), align, kind);
	pthread_mutex_unlock(&space->lock);
	return t;
}

void pm_space_free(struct pm_space *space, const void *start, bool zeroed)
{
	uint32_t at = (uint32_t)(pm_space_extent(space, start) - space->extents);

	pthread_mutex_lock(&space->lock);
	if (space->extents[at].kind != PM_EXTENT_INDEX)
		space->used -= space->extents[at].granules;
	free_and_coalesce(space, at, space->extents[at].granules, zeroed);
	pthread_mutex_unlock(&space->lock);
}

void pm_space_usage(struct pm_space *space, uint64_t *ret_used, uint64_t *ret_dirty)
{
	pthread_mutex_lock(&space->lock);
	*ret_used = space->used * PM_GRANULE;
	*ret_dirty = space->dirty * PM_GRANULE;
	pthread_mutex_unlock(&space->lock);
}

void pm_space_tiled(struct pm_space *space, uintptr_t *ret_begin, uintptr_t *ret_end)
{
	pthread_mutex_lock(&space->lock);
	*ret_begin = (uintptr_t)space->base;
	*ret_end = *ret_begin + space->top * PM_GRANULE;
	pthread_mutex_unlock(&space->lock);
}

/* --- resizing --- */

static void shrink(struct pm_space *s, uint32_t at, uint32_t granules)
{
	uint32_t old = s->extents[at].granules;

	set_extent(s, at, granules, (enum pm_extent_kind)s->extents[at].kind);
	free_and_coalesce(s, at + granules, old - granules, false);
	s->used -= old - granules;
}

static bool grow(struct pm_space *s, uint32_t at, uint32_t granules, size_t *ret_fresh_bytes)
{
	uint32_t old = s->extents[at].granules, next = at + old, end = next, top = s->top;
	bool hole, zeroed = false;

	if (s->kept && !is_small((enum pm_extent_kind)s->extents[at].kind) &&
		!may_have(s, granules - old))
		return false;
	if (next < s->top && is_free(s, next)) {
		end += s->extents[next].granules;
		zeroed = s->extents[next].zeroed;
	}
	if (at + (uint64_t)granules > end && (end != s->top || at + (uint64_t)granules > s->size))
		return false;
	if (at + (uint64_t)granules > end && !commit_up_to(s, at + (uint64_t)granules, &hole))
		return false;
	if (next < end)
		detach_free(s, next);
	set_extent(s, at, granules, (enum pm_extent_kind)s->extents[at].kind);
	if (at + granules > top) {
		s->top = at + granules;
		*ret_fresh_bytes = (s->top - top) * PM_GRANULE;
	} else {
		free_and_coalesce(s, at + granules, end - at - granules, zeroed);
	}
	count_used(s, granules - old, (enum pm_extent_kind)s->extents[at].kind);
	return true;
}

bool pm_space_resize(
	struct pm_space *space, const void *start, size_t bytes, size_t *ret_fresh_bytes)
{
	uint32_t at = (uint32_t)(pm_space_extent(space, start) - space->extents);
	uint32_t granules;
	bool done = true;

	*ret_fresh_bytes = 0;
	if (bytes > pm_space_bytes(space))
		return false;
	granules = in_granules(bytes);
	pthread_mutex_lock(&space->lock);
	if (granules < space->extents[at].granules)
		shrink(space, at, granules);
	else if (granules > space->extents[at].granules)
		done = grow(space, at, granules, ret_fresh_bytes);
	pthread_mutex_unlock(&space->lock);
	return done;
}

/* --- splitting --- */

static uint32_t whole_chunks(uint64_t bytes)
{
	return bytes > PM_SPACE_MAX
		       ? UINT32_MAX
		       : (uint32_t)((bytes + PM_CHUNK - 1) / PM_CHUNK) * PM_CHUNK_GRANULES;
}

/*
 * Release, paired with the acquire of pm_space_bytes(): a reader without the lock that sees the new
 * size also sees the base that belongs to it.
 */
static void set_size(struct pm_space *space, uint32_t size)
{
	__atomic_store_n(&space->size, size, __ATOMIC_RELEASE);
}

static uint32_t split(struct pm_space *from, struct pm_space *to, uint32_t keep)
{
	uint32_t n;

	/* Committed granules may belong to extents of `from`, and `to` starts with none committed.
	 */
	if (keep < from->committed)
		keep = from->committed;
	if (keep >= from->size)
		return 0;
	n = from->size - keep;
	to->base = from->base + keep * PM_GRANULE;
	to->extents = &from->extents[keep];
	to->commit = from->commit;
	set_size(from, keep);
	set_size(to, n);
	return n;
}

uint64_t pm_space_split(struct pm_space *from, struct pm_space *to, uint64_t keep_bytes)
{
	uint32_t n;

	pthread_mutex_lock(&from->lock);
	pthread_mutex_lock(&to->lock);
	n = split(from, to, whole_chunks(keep_bytes));
	pthread_mutex_unlock(&to->lock);
	pthread_mutex_unlock(&from->lock);
	return n * PM_GRANULE;
}

void pm_space_init(struct pm_space *space, void *base, uint64_t bytes, struct pm_extent *extents,
	pm_space_commit_fn *committed)
{
	*space = (struct pm_space){.lock = PTHREAD_MUTEX_INITIALIZER,
		.base = base,
		.size = (uint32_t)(bytes / PM_GRANULE),
		.extents = extents,
		.commit = committed};
}
