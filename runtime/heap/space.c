/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/heap/space.h"

#define LOOKS 8 /* at blocks of the size's own list, some of which are too small */

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

/* --- lists of free blocks --- */

static void link_block(struct pm_space *s, uint32_t at)
{
	uint32_t class = class_of(s->blocks[at].granules);
	bool filled = s->filled[class / 64] >> class % 64 & 1;

	s->blocks[at].previous = UINT32_MAX;
	s->blocks[at].next = filled ? s->lists[class] : UINT32_MAX;
	if (filled)
		s->blocks[s->lists[class]].previous = at;
	s->lists[class] = at;
	s->filled[class / 64] |= UINT64_C(1) << class % 64;
	s->kept += s->blocks[at].clean ? 0 : s->blocks[at].granules;
}

static void unlink_block(struct pm_space *s, uint32_t at)
{
	const struct pm_block *block = &s->blocks[at];
	uint32_t class = class_of(block->granules);

	s->kept -= block->clean ? 0 : block->granules;
	if (block->next != UINT32_MAX)
		s->blocks[block->next].previous = block->previous;
	if (block->previous != UINT32_MAX)
		s->blocks[block->previous].next = block->next;
	else if (block->next != UINT32_MAX)
		s->lists[class] = block->next;
	else
		s->filled[class / 64] &= ~(UINT64_C(1) << class % 64);
}

static uint32_t first_above(const struct pm_space *s, uint32_t class)
{
	for (uint32_t word = (class + 1) / 64; word < PM_SPACE_CLASSES / 64; word++) {
		uint64_t filled = s->filled[word];

		if (word == (class + 1) / 64)
			filled &= ~UINT64_C(0) << (class + 1) % 64;
		if (filled)
			return s->lists[word * 64 + (uint32_t)__builtin_ctzll(filled)];
	}
	return UINT32_MAX;
}

/* A free block of so many granules or more. */
static uint32_t find(const struct pm_space *s, uint32_t granules)
{
	uint32_t class = class_of(granules), at = UINT32_MAX;

	if (s->filled[class / 64] >> class % 64 & 1)
		at = s->lists[class];
	for (int looks = 0; at != UINT32_MAX && looks < LOOKS; looks++) {
		if (s->blocks[at].granules >= granules)
			return at;
		at = s->blocks[at].next;
	}
	return first_above(s, class);
}

/* --- blocks --- */

static void mark(struct pm_space *s, uint32_t at, uint32_t granules, enum pm_block_kind kind)
{
	s->blocks[at].granules = granules;
	s->blocks[at].kind = kind;
	s->blocks[at].clean = 0;
	s->blocks[at + granules - 1].start = at;
}

/* Takes a free block out of the tiles, for what will cover it. */
static void absorb(struct pm_space *s, uint32_t at)
{
	unlink_block(s, at);
	s->blocks[at].granules = 0;
}

static bool is_free(const struct pm_space *s, uint32_t at)
{
	return s->blocks[at].kind == PM_BLOCK_FREE;
}

/* Makes [at, at + granules) a free block, with its neighbours if they are. */
static void make_free(struct pm_space *s, uint32_t at, uint32_t granules, bool clean)
{
	uint32_t begin = at, end = at + granules;

	if (!granules)
		return;
	s->blocks[at].granules = 0;
	if (end < s->top && is_free(s, end)) {
		uint32_t more = s->blocks[end].granules;

		clean &= s->blocks[end].clean;
		absorb(s, end);
		end += more;
	}
	if (begin && is_free(s, s->blocks[begin - 1].start)) {
		begin = s->blocks[begin - 1].start;
		clean &= s->blocks[begin].clean;
		absorb(s, begin);
	}
	mark(s, begin, end - begin, PM_BLOCK_FREE);
	s->blocks[begin].clean = clean;
	link_block(s, begin);
}

static void count_used(struct pm_space *s, uint32_t granules)
{
	s->used += granules;
	if (s->peak < s->used)
		s->peak = s->used;
}

/* The first granule from `at` on whose address is a multiple of `align`. */
static uint64_t aligned(const struct pm_space *s, uint64_t at, size_t align)
{
	uint64_t address = (uintptr_t)s->base + at * PM_GRANULE;

	address = (address + align - 1) & ~((uint64_t)align - 1);
	return (address - (uintptr_t)s->base) / PM_GRANULE;
}

static struct pm_taken taken(const struct pm_space *s, uint32_t at, uint32_t granules)
{
	return (struct pm_taken){.start = s->base + at * PM_GRANULE,
		.bytes = granules * PM_GRANULE,
		.dirty_bytes = granules * PM_GRANULE};
}

/* --- taking --- */

static struct pm_taken take_block(
	struct pm_space *s, uint32_t at, uint32_t granules, size_t align, enum pm_block_kind kind)
{
	uint32_t begin = (uint32_t)aligned(s, at, align), end = at + s->blocks[at].granules;
	bool clean = s->blocks[at].clean;
	struct pm_taken t = taken(s, begin, granules);

	absorb(s, at);
	mark(s, begin, granules, kind);
	make_free(s, at, begin - at, clean);
	make_free(s, begin + granules, end - begin - granules, clean);
	if (clean)
		t.dirty_bytes = 0;
	return t;
}

/* Has [0, end) made ready; a part of it that never will be becomes a hole, with the top behind it.
 */
static bool make_ready(struct pm_space *s, uint64_t end, bool *ret_hole)
{
	uint32_t wanted, got, gone = 0;

	*ret_hole = false;
	if (end <= s->ready)
		return true;
	wanted = least((uint32_t)(end + PM_CHUNK_GRANULES - 1) / PM_CHUNK_GRANULES *
				 PM_CHUNK_GRANULES,
			 s->size) -
		 s->ready;
	got = s->make_ready ? s->make_ready(s, s->ready, wanted, &gone) : wanted;
	s->ready += got;
	if (end <= s->ready)
		return true;
	if (gone) {
		uint32_t top = s->top;

		mark(s, s->ready, gone, PM_BLOCK_HOLE);
		s->gone += gone;
		s->top = s->ready + gone;
		make_free(s, top, s->ready - top, false);
		s->ready = s->top;
		*ret_hole = true;
	}
	return false;
}

/* Where the free end of what has been handed out begins: the top, or a free block before it. */
static uint32_t free_end(const struct pm_space *s)
{
	uint32_t last = s->top ? s->blocks[s->top - 1].start : 0;

	return s->top && is_free(s, last) ? last : s->top;
}

static struct pm_taken take_ready_top(
	struct pm_space *s, uint32_t begin, uint32_t granules, enum pm_block_kind kind)
{
	uint32_t from = free_end(s), top = s->top, end = begin + granules;
	struct pm_taken t = taken(s, begin, granules);

	if (from < top)
		absorb(s, from);
	s->top = end;
	mark(s, begin, granules, kind);
	make_free(s, from, begin - from, false);
	t.dirty_bytes = begin < top ? (top - begin) * PM_GRANULE : 0;
	t.fresh_bytes = (end - (begin < top ? top : begin)) * PM_GRANULE;
	return t;
}

static struct pm_taken take_top(
	struct pm_space *s, uint32_t granules, size_t align, enum pm_block_kind kind)
{
	bool hole;

	do {
		uint32_t from = free_end(s);
		uint64_t begin = aligned(s, from, align);

		if (begin + granules > s->size)
			break;
		if (begin + granules <= s->top) /* the lists were not looked through to the end */
			return take_block(s, from, granules, align, kind);
		if (make_ready(s, begin + granules, &hole))
			return take_ready_top(s, (uint32_t)begin, granules, kind);
	} while (hole);
	return (struct pm_taken){0};
}

struct pm_taken pm_space_take(
	struct pm_space *space, size_t bytes, size_t align, enum pm_block_kind kind)
{
	uint64_t room = pm_space_bytes(space);
	uint32_t granules = in_granules(bytes), slack, at;
	struct pm_taken t;

	if (!bytes || bytes > room || align > room)
		return (struct pm_taken){0};
	slack = align > PM_GRANULE ? in_granules(align) - 1 : 0;
	pthread_mutex_lock(&space->lock);
	at = find(space, granules + slack);
	t = at == UINT32_MAX ? take_top(space, granules, align, kind)
			     : take_block(space, at, granules, align, kind);
	if (t.start)
		count_used(space, granules);
	pthread_mutex_unlock(&space->lock);
	return t;
}

void pm_space_give(struct pm_space *space, const void *start, bool clean)
{
	uint32_t at = (uint32_t)(pm_space_block(space, start) - space->blocks);

	pthread_mutex_lock(&space->lock);
	space->used -= space->blocks[at].granules;
	make_free(space, at, space->blocks[at].granules, clean);
	pthread_mutex_unlock(&space->lock);
}

void pm_space_usage(struct pm_space *space, uint64_t *ret_used, uint64_t *ret_kept)
{
	pthread_mutex_lock(&space->lock);
	*ret_used = space->used * PM_GRANULE;
	*ret_kept = space->kept * PM_GRANULE;
	pthread_mutex_unlock(&space->lock);
}

/* --- resizing --- */

static void shrink(struct pm_space *s, uint32_t at, uint32_t granules)
{
	uint32_t old = s->blocks[at].granules;

	mark(s, at, granules, (enum pm_block_kind)s->blocks[at].kind);
	make_free(s, at + granules, old - granules, false);
	s->used -= old - granules;
}

static bool grow(struct pm_space *s, uint32_t at, uint32_t granules, size_t *ret_fresh_bytes)
{
	uint32_t old = s->blocks[at].granules, next = at + old, end = next, top = s->top;
	bool hole, clean = false;

	if (next < s->top && is_free(s, next)) {
		end += s->blocks[next].granules;
		clean = s->blocks[next].clean;
	}
	if (at + (uint64_t)granules > end) {
		if (end != s->top || at + (uint64_t)granules > s->size ||
			!make_ready(s, at + (uint64_t)granules, &hole))
			return false;
	}
	if (next < end)
		absorb(s, next);
	mark(s, at, granules, (enum pm_block_kind)s->blocks[at].kind);
	if (at + granules > top) {
		s->top = at + granules;
		*ret_fresh_bytes = (s->top - top) * PM_GRANULE;
	} else {
		make_free(s, at + granules, end - at - granules, clean);
	}
	count_used(s, granules - old);
	return true;
}

bool pm_space_resize(
	struct pm_space *space, const void *start, size_t bytes, size_t *ret_fresh_bytes)
{
	uint32_t at = (uint32_t)(pm_space_block(space, start) - space->blocks);
	uint32_t granules;
	bool done = true;

	*ret_fresh_bytes = 0;
	if (bytes > pm_space_bytes(space))
		return false;
	granules = in_granules(bytes);
	pthread_mutex_lock(&space->lock);
	if (granules < space->blocks[at].granules)
		shrink(space, at, granules);
	else if (granules > space->blocks[at].granules)
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

/* Those that look without the lock see a size only with the base that it is of. */
static void set_size(struct pm_space *space, uint32_t size)
{
	__atomic_store_n(&space->size, size, __ATOMIC_RELEASE);
}

static uint32_t split(struct pm_space *from, struct pm_space *to, uint32_t keep)
{
	uint32_t n;

	if (keep < from->ready)
		keep = from->ready;
	if (keep >= from->size)
		return 0;
	n = from->size - keep;
	to->base = from->base + keep * PM_GRANULE;
	to->blocks = &from->blocks[keep];
	to->make_ready = from->make_ready;
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

void pm_space_init(struct pm_space *space, void *base, uint64_t bytes, struct pm_block *blocks,
	pm_space_ready_fn *ready)
{
	*space = (struct pm_space){.lock = PTHREAD_MUTEX_INITIALIZER,
		.base = base,
		.size = (uint32_t)(bytes / PM_GRANULE),
		.blocks = blocks,
		.make_ready = ready};
}
