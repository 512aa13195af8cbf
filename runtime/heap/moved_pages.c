/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "runtime/heap/moved_pages.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/param.h>

#include "runtime/heap/heap.h"

#define PAGE_BYTES  ((uintptr_t)4096)
#define CHUNK_PAGES (PM_CHUNK / PAGE_BYTES)
#define WORD_PAGES  64

_Static_assert(CHUNK_PAGES <= PM_NODEMASK_PAGES, "all pages of a chunk are located at once");

/* Written under the lock. The owner of an object may read the bits of its pages without it. */
struct chunk {
	atomic_uint_least64_t pages[CHUNK_PAGES / WORD_PAGES]; /* a bit each: bound to DRAM */
	bool is_kept;
};

static struct {
	atomic_uint_least64_t to_dram_bytes, to_pmem_bytes, refused_bytes;
} counts;

static struct {
	pthread_mutex_t lock;
	_Atomic(struct chunk *) chunks; /* of all PMem, from the first move on */
	uint32_t spare;			/* reservations that no chunk has */
} moved = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Some pages of one chunk. */
struct piece {
	struct chunk *chunk;
	char *base;	      /* of the chunk */
	unsigned first, last; /* pages [first, last) */
};

static const struct pm_space *pmem(void)
{
	return &pm_heap.spaces[PM_PMEM];
}

static size_t map_bytes(void)
{
	return (pm_space_bytes(pmem()) + PM_CHUNK - 1) / PM_CHUNK * sizeof(struct chunk);
}

static struct chunk *chunk_map(void)
{
	return atomic_load_explicit(&moved.chunks, memory_order_acquire);
}

static pm_forget_fn forget;

/* With the lock held. The kernel gives pages to the map where it is written. */
static struct chunk *make_chunk_map(void)
{
	struct chunk *map = chunk_map();

	if (map)
		return map;
	map = mmap(NULL, map_bytes(), PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (map == MAP_FAILED)
		return NULL;
	atomic_store_explicit(&moved.chunks, map, memory_order_release);
	atomic_store_explicit(&pm_heap.forget_moved, forget, memory_order_release);
	return map;
}

/* --- pieces --- */

/* The part of [*at, end) in one chunk; *at is then behind it. */
static struct piece next_piece(struct chunk *chunks, char **at, char *end)
{
	size_t number = (size_t)(*at - pmem()->base) / PM_CHUNK;
	char *base = pmem()->base + number * PM_CHUNK;
	char *stop = MIN(base + PM_CHUNK, end);
	struct piece piece = {.chunk = &chunks[number],
		.base = base,
		.first = (unsigned)((size_t)(*at - base) / PAGE_BYTES),
		.last = (unsigned)((size_t)(stop - base) / PAGE_BYTES)};

	*at = stop;
	return piece;
}

static struct piece whole_chunk(const struct piece *piece)
{
	return (struct piece){piece->chunk, piece->base, 0, CHUNK_PAGES};
}

static bool is_moved(const struct chunk *chunk, unsigned page)
{
	uint64_t word =
		atomic_load_explicit(&chunk->pages[page / WORD_PAGES], memory_order_relaxed);

	return word >> page % WORD_PAGES & 1;
}

static void set_moved(struct chunk *chunk, unsigned page, bool value)
{
	uint64_t bit = UINT64_C(1) << page % WORD_PAGES;

	if (value)
		atomic_fetch_or_explicit(
			&chunk->pages[page / WORD_PAGES], bit, memory_order_relaxed);
	else
		atomic_fetch_and_explicit(
			&chunk->pages[page / WORD_PAGES], ~bit, memory_order_relaxed);
}

static bool has_moved(const struct piece *piece)
{
	for (unsigned page = piece->first; page < piece->last; page++)
		if (is_moved(piece->chunk, page))
			return true;
	return false;
}

static bool has_reservation(const struct piece *piece)
{
	struct piece whole = whole_chunk(piece);

	return has_moved(&whole);
}

/* --- moving, with the lock held --- */

/*
 * Binds the pages of a piece to nodes and reads back where they are. False: mbind(2) failed,
 * perhaps half way. ret[page]: it is in another tier.
 */
static bool migrate(const struct piece *piece, const struct pm_nodemask *nodes, bool *ret)
{
	char *start = piece->base + piece->first * PAGE_BYTES;
	size_t n = piece->last - piece->first;

	if (pm_nodemask_migrate(nodes, start, n * PAGE_BYTES))
		return false;
	pm_nodemask_elsewhere(nodes, start, n, ret + piece->first);
	return true;
}

static bool take_reservation(void)
{
	if (!moved.spare)
		return pm_heap_reserve_dram(PM_CHUNK).start;
	moved.spare--;
	return true;
}

/* Pages that could not be moved keep their bits, and the chunk its reservation. */
static unsigned clear_moved(const struct piece *piece, const bool *elsewhere)
{
	unsigned n = 0;

	for (unsigned page = piece->first; page < piece->last; page++) {
		if (!is_moved(piece->chunk, page) || elsewhere[page])
			continue;
		set_moved(piece->chunk, page, false);
		n++;
	}
	return n;
}

/* Huge pages may have brought neighbours to DRAM: they go back with the last page of the chunk. */
static void return_reservation(const struct piece *piece)
{
	struct piece whole = whole_chunk(piece);
	bool elsewhere[CHUNK_PAGES];
	bool is_read = migrate(&whole, &pm_heap.settings.pmem, elsewhere);

	for (unsigned page = 0; page < CHUNK_PAGES; page++)
		set_moved(whole.chunk, page, !is_read || elsewhere[page]);
	moved.spare += !has_moved(&whole);
}

/* Returns how many pages this call brings back to PMem. */
static unsigned piece_to_pmem(const struct piece *piece)
{
	bool elsewhere[CHUNK_PAGES];
	unsigned n;

	if (!has_moved(piece) || !migrate(piece, &pm_heap.settings.pmem, elsewhere))
		return 0;
	n = clear_moved(piece, elsewhere);
	if (!has_reservation(piece))
		return_reservation(piece);
	return n;
}

/*
 * Returns how many pages this call brings to DRAM. Sets *ret_full if DRAM has no room for the
 * chunk. mbind(2) may have bound a part before it failed: that goes back, or keeps the reservation.
 */
static unsigned piece_to_dram(const struct piece *piece, bool *ret_full)
{
	bool elsewhere[CHUNK_PAGES], is_bound;
	unsigned n = 0;

	if (piece->chunk->is_kept)
		return 0;
	*ret_full = !has_reservation(piece) && !take_reservation();
	if (*ret_full)
		return 0;
	is_bound = migrate(piece, &pm_heap.settings.dram, elsewhere);
	for (unsigned page = piece->first; page < piece->last; page++) {
		n += is_bound && !is_moved(piece->chunk, page) && !elsewhere[page];
		set_moved(piece->chunk, page, true);
	}
	if (!is_bound)
		(void)piece_to_pmem(piece);
	return n;
}

/* --- ranges --- */

/* Whole pages of PMem addresses. False: there are none, or tiers without nodes. */
static bool clip(const void *start, size_t bytes, char **ret_start, char **ret_end)
{
	uintptr_t base = (uintptr_t)pmem()->base, top = base + pm_space_bytes(pmem());
	uintptr_t first = (uintptr_t)start, end;

	if (!pm_heap.size || __builtin_add_overflow(first, bytes, &end) || first > top ||
		pm_nodemask_empty(&pm_heap.settings.dram) ||
		pm_nodemask_empty(&pm_heap.settings.pmem))
		return false;
	first = MAX(base, (first + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES);
	end = MIN(top, end / PAGE_BYTES * PAGE_BYTES);
	*ret_start = pmem()->base + (first - base);
	*ret_end = pmem()->base + (end - base);
	return first < end;
}

/* Other threads that free or move wait for one chunk only. */
static unsigned move_piece(char **at, char *end, bool to_dram, bool *ret_full)
{
	struct chunk *chunks;
	unsigned n = 0;

	pthread_mutex_lock(&moved.lock);
	chunks = make_chunk_map();
	*ret_full = !chunks;
	if (chunks) {
		struct piece piece = next_piece(chunks, at, end);

		n = to_dram ? piece_to_dram(&piece, ret_full) : piece_to_pmem(&piece);
	}
	pthread_mutex_unlock(&moved.lock);
	return n;
}

/* Returns bytes. *ret_refused: of what DRAM has no room for. */
static size_t move(char *at, char *end, bool to_dram, size_t *ret_refused)
{
	bool is_full = false;
	char *before = at;
	size_t pages = 0;

	while (at < end && !is_full) {
		before = at;
		pages += move_piece(&at, end, to_dram, &is_full);
	}
	*ret_refused = is_full ? (size_t)(end - before) : 0;
	return pages * PAGE_BYTES;
}

/* *ret_refused is 0 where no page is moved at all. */
static size_t to_dram(const void *start, size_t bytes, size_t *ret_refused)
{
	char *at, *end;
	size_t n;

	*ret_refused = 0;
	if (!clip(start, bytes, &at, &end))
		return 0;
	n = move(at, end, true, ret_refused);
	atomic_fetch_add_explicit(&counts.to_dram_bytes, n, memory_order_relaxed);
	return n;
}

size_t pm_moved_pages_to_dram(const void *start, size_t bytes)
{
	size_t refused, n = to_dram(start, bytes, &refused);

	atomic_fetch_add_explicit(&counts.refused_bytes, refused, memory_order_relaxed);
	return n;
}

size_t pm_moved_pages_try_dram(const void *start, size_t bytes, bool *ret_full)
{
	size_t refused, n = to_dram(start, bytes, &refused);

	*ret_full = refused;
	return n;
}

size_t pm_moved_pages_to_pmem(const void *start, size_t bytes)
{
	size_t n, refused;
	char *at, *end;

	if (!chunk_map() || !clip(start, bytes, &at, &end))
		return 0;
	n = move(at, end, false, &refused);
	atomic_fetch_add_explicit(&counts.to_pmem_bytes, n, memory_order_relaxed);
	return n;
}

static bool has_any(char *at, char *end)
{
	while (at < end) {
		struct piece piece = next_piece(chunk_map(), &at, end);

		if (has_moved(&piece))
			return true;
	}
	return false;
}

/* The range is about to be free: pages of it that were moved are dropped, and their room is
 * returned. */
static bool forget(void *start, size_t bytes)
{
	size_t refused;
	char *at, *end;

	if (!clip(start, bytes, &at, &end) || !has_any(at, end) ||
		madvise(at, (size_t)(end - at), MADV_DONTNEED))
		return false;
	(void)move(at, end, false, &refused);
	return true;
}

static void keep_chunk(const struct piece *piece)
{
	moved.spare += has_reservation(piece);
	for (unsigned page = 0; page < CHUNK_PAGES; page++)
		set_moved(piece->chunk, page, false);
	piece->chunk->is_kept = true;
}

bool pm_moved_pages_keep(void *start, size_t bytes)
{
	char *at = start, *end = at + bytes;
	struct chunk *chunks;

	pthread_mutex_lock(&moved.lock);
	chunks = make_chunk_map();
	while (chunks && at < end) {
		struct piece piece = next_piece(chunks, &at, end);

		keep_chunk(&piece);
	}
	pthread_mutex_unlock(&moved.lock);
	return chunks;
}

void pm_moved_pages_count(struct pm_moved_counts *ret)
{
	ret->to_dram_bytes = atomic_load(&counts.to_dram_bytes);
	ret->to_pmem_bytes = atomic_load(&counts.to_pmem_bytes);
	ret->refused_bytes = atomic_load(&counts.refused_bytes);
}

/* --- fork --- */

void pm_moved_pages_before_fork(void)
{
	pthread_mutex_lock(&moved.lock);
}

void pm_moved_pages_after_fork(void)
{
	pthread_mutex_unlock(&moved.lock);
}

/* The reservations are the parent's. Anonymous pages that are dropped read as zero. */
void pm_moved_pages_after_fork_in_child(void)
{
	const struct pm_nodemask *nodes = &pm_heap.settings.pmem;
	struct chunk *map = chunk_map();

	moved.spare = 0;
	if (map)
		(void)madvise(map, map_bytes(), MADV_DONTNEED);
	if (map && !pm_nodemask_empty(nodes))
		(void)pm_nodemask_bind(nodes, pmem()->base, pm_space_bytes(pmem()));
	pthread_mutex_unlock(&moved.lock);
}
