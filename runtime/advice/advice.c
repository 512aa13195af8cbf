/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "runtime/advice/advice.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/advice/site.h"
#include "runtime/common/log.h"
#include "runtime/common/table.h"
#include "runtime/heap/jemalloc.h"

#define SITES	  (1u << 16)
#define SITES_MAX (SITES / 2)
#define LEAVES	  4096u
#define CALLERS	  4096u
#define LINE	  4096
#define HEADER	  "pmadvice 2"
#define OLD	  "pmadvice 1"
#define COLUMNS	  64
#define NO_LIMIT  INT64_MAX

struct entry {
	uint64_t key;		    /* 0: empty */
	bool is_advised;	    /* for large objects */
	bool is_cold;		    /* small objects go to PMem */
	atomic_int_least64_t bytes; /* DRAM that the site may still take; NO_LIMIT: all of it */
};

bool pm_advice_on, pm_advice_on_small;

static struct {
	struct entry *sites;
	uint32_t n;
	uint64_t leaves[LEAVES]; /* hash table: innermost frames of cold sites; 0: empty */
	uint32_t n_leaves;
	/* Cache by return address: the address shifted left by one, bit 0 set for a leaf. */
	atomic_uintptr_t callers[CALLERS];
	uint64_t build;	      /* of this program */
	const char *name;     /* of the file */
	bool is_this_program; /* the lines being read are for this program */
	bool has_program;     /* the file has lines for this program */

	/* Columns, as the lines of this program have them. */
	uint64_t budget_bytes, data_bytes, budgets[COLUMNS];
	unsigned n_columns;
	atomic_int_least64_t rest_bytes;
} advice;

/* The key's entry, or the empty one where it belongs. The table is at most half full. */
static struct entry *entry_of(uint64_t key)
{
	uint32_t at = (uint32_t)(key % SITES);

	while (advice.sites[at].key && advice.sites[at].key != key)
		at = (at + 1) % SITES;
	return &advice.sites[at];
}

/* --- reading --- */

/* Parses sixteen hexadecimal digits and the white space behind them. */
static bool parse_key(const char *text, uint64_t *ret, char **ret_end)
{
	if (strspn(text, "0123456789abcdef") != 16)
		return false;
	*ret = strtoull(text, ret_end, 16);
	*ret_end += strspn(*ret_end, " \t");
	return *ret && ((*ret_end)[-1] == ' ' || (*ret_end)[-1] == '\t' || !**ret_end);
}

/* Parses up to COLUMNS numbers. False: the line has something else, or none. */
static bool parse_numbers(const char *text, uint64_t *ret, unsigned *ret_n)
{
	char *end = (char *)text;

	for (*ret_n = 0; *ret_n < COLUMNS && *end >= '0' && *end <= '9'; (*ret_n)++) {
		ret[*ret_n] = strtoull(end, &end, 10);
		end += strspn(end, " \t");
	}
	return *ret_n && (!*end || *end == '#');
}

/* A number between two columns, for this budget. */
static uint64_t between(uint64_t from, uint64_t to, uint64_t low, uint64_t high)
{
	double part = (double)(advice.budget_bytes - low) / (double)(high - low);

	return to >= from ? from + (uint64_t)(part * (double)(to - from))
			  : from - (uint64_t)(part * (double)(from - to));
}

/* Parses a number for each budget. False: there are more, or fewer. */
static bool parse_columns(const char *text, uint64_t columns[COLUMNS])
{
	unsigned n;

	return parse_numbers(text, columns, &n) && n == advice.n_columns;
}

/* For this budget, which is below that of the last column. */
static uint64_t interpolate(const uint64_t columns[COLUMNS])
{
	unsigned i = 0;

	while (advice.budgets[i] <= advice.budget_bytes)
		i++;
	return i ? between(columns[i - 1], columns[i], advice.budgets[i - 1], advice.budgets[i])
		 : between(0, columns[0], 0, advice.budgets[0]);
}

static bool has_room_for_all(void)
{
	return advice.budget_bytes >= advice.budgets[advice.n_columns - 1];
}

static int64_t limit_of(const uint64_t columns[COLUMNS])
{
	return has_room_for_all() ? NO_LIMIT : (int64_t)interpolate(columns);
}

static bool parse_budgets(const char *text)
{
	if (!parse_numbers(text, advice.budgets, &advice.n_columns) || !advice.budgets[0])
		return false;
	for (unsigned i = 1; i < advice.n_columns; i++)
		if (advice.budgets[i] <= advice.budgets[i - 1])
			return false;
	return true;
}

static bool parse_rest(const char *text)
{
	uint64_t columns[COLUMNS], last;

	if (!parse_columns(text, columns))
		return false;
	last = columns[advice.n_columns - 1];
	if (advice.is_this_program)
		advice.rest_bytes = has_room_for_all()
					    ? (int64_t)(last + advice.budget_bytes -
							advice.budgets[advice.n_columns - 1])
					    : (int64_t)interpolate(columns);
	return true;
}

static bool parse_data(const char *text)
{
	uint64_t columns[COLUMNS];
	unsigned n;

	if (!parse_numbers(text, columns, &n) || n != 1)
		return false;
	if (advice.is_this_program)
		advice.data_bytes = columns[0];
	return true;
}

/* Inserts a site. NULL: the line is for another program, or the table is half full. */
static struct entry *insert(uint64_t key)
{
	struct entry *entry = entry_of(key);

	if (!advice.is_this_program || (advice.n == SITES_MAX && !entry->key))
		return NULL;
	advice.n += !entry->key;
	entry->key = key;
	return entry;
}

static uint64_t *leaf_of(uint64_t key)
{
	uint32_t at = (uint32_t)(key % LEAVES);

	while (advice.leaves[at] && advice.leaves[at] != key)
		at = (at + 1) % LEAVES;
	return &advice.leaves[at];
}

/* Parses what is behind the key of a `small` line: the innermost frame's key, and columns. */
static bool parse_small(uint64_t key, const char *text)
{
	uint64_t leaf, columns[COLUMNS];
	struct entry *entry;
	char *rest;

	if (!parse_key(text, &leaf, &rest) || !parse_columns(rest, columns))
		return false;
	if (limit_of(columns))
		return true;
	entry = advice.n_leaves < LEAVES / 2 ? insert(key) : NULL;
	if (!entry)
		return true;
	entry->is_cold = true;
	advice.n_leaves += !*leaf_of(leaf);
	*leaf_of(leaf) = leaf;
	return true;
}

static bool parse_site(uint64_t key, const char *text)
{
	uint64_t columns[COLUMNS];
	struct entry *entry;

	if (!parse_columns(text, columns))
		return false;
	entry = insert(key);
	if (entry) {
		entry->is_advised = true;
		entry->bytes = limit_of(columns);
	}
	return true;
}

/* Lines of other programs are parsed, too: a damaged file is not half used. */
static bool parse_line(const char *line)
{
	uint64_t key;
	char *rest;

	if (!*line || *line == '#')
		return true;
	if (!strncmp(line, "program ", 8) && parse_key(line + 8, &key, &rest)) {
		advice.is_this_program = key == advice.build;
		advice.has_program |= advice.is_this_program;
		advice.n_columns = 0;
		return true;
	}
	if (!strncmp(line, "data ", 5))
		return parse_data(line + 5);
	if (!strncmp(line, "budgets ", 8))
		return parse_budgets(line + 8);
	if (!strncmp(line, "rest ", 5))
		return parse_rest(line + 5);
	if (!strncmp(line, "site ", 5) && parse_key(line + 5, &key, &rest))
		return parse_site(key, rest);
	return !strncmp(line, "small ", 6) && parse_key(line + 6, &key, &rest) &&
	       parse_small(key, rest);
}

/* Reads the next byte, by a buffer: stdio would allocate. -1: end, or an error. */
static int next_byte(int fd)
{
	static unsigned char buffer[LINE];
	static ssize_t used, at;

	if (at == used) {
		used = read(fd, buffer, sizeof(buffer));
		at = 0;
	}
	return at < used ? buffer[at++] : -1;
}

/* Reads the next line, cut to LINE - 1 bytes. False: end of the file. */
static bool next_line(int fd, char line[LINE])
{
	int c = next_byte(fd);
	bool is_there = c >= 0;
	size_t n = 0;

	for (; c >= 0 && c != '\n'; c = next_byte(fd))
		if (n < LINE - 1)
			line[n++] = (char)c;
	line[n] = '\0';
	return is_there;
}

/* Reads all lines. Returns the reason why the file cannot be used; NULL: none. */
static const char *read_file(int fd)
{
	static char line[LINE], wrong[128];

	if (!next_line(fd, line))
		line[0] = '\0';
	if (!strcmp(line, OLD))
		return "it is an earlier pmreport's, in the order of allocations: write it anew, "
		       "from a new profile";
	if (strcmp(line, HEADER))
		return "it does not begin with '" HEADER "', as files of pmreport do";
	for (unsigned number = 2; next_line(fd, line); number++) {
		if (!parse_line(line)) {
			snprintf(wrong, sizeof(wrong), "line %u, '%.40s', is not advice", number,
				line);
			return wrong;
		}
	}
	return advice.has_program ? NULL : "it has nothing for this program as it is built now";
}

static const char *load(void)
{
	int fd = open(advice.name, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	const char *wrong;

	if (fd < 0)
		return strerrordesc_np(errno);
	advice.sites = pm_table_reserve(SITES * sizeof(*advice.sites));
	wrong = advice.sites ? read_file(fd) : "out of memory";
	close(fd);
	return wrong;
}

bool pm_advice_is_named(void)
{
	const char *name = getenv("PM_ADVICE");

	return name && *name;
}

void pm_advice_start(uint64_t budget_bytes, bool verbose)
{
	const char *wrong;

	advice.name = getenv("PM_ADVICE");
	advice.budget_bytes = budget_bytes;
	advice.build = pm_site_program().build;
	wrong = load();
	pm_advice_on = !wrong;
	pm_advice_on_small = !wrong && advice.n_leaves && pm_jemalloc_start_cold();
	if (wrong && verbose)
		pm_log("PM_ADVICE='%.200s': %s; it is not used", advice.name, wrong);
}

/* --- lookup --- */

/* Takes at most that many bytes. Returns how many there were. */
static size_t take(atomic_int_least64_t *from, size_t bytes)
{
	int64_t left = atomic_load_explicit(from, memory_order_relaxed);
	int64_t taken;

	do {
		if (left == NO_LIMIT)
			return bytes;
		taken = left < (int64_t)bytes ? left : (int64_t)bytes;
		if (taken <= 0)
			return 0;
	} while (!atomic_compare_exchange_weak(from, &left, left - taken));
	return (size_t)taken;
}

static void give(atomic_int_least64_t *to, size_t bytes)
{
	if (atomic_load_explicit(to, memory_order_relaxed) != NO_LIMIT)
		atomic_fetch_add_explicit(to, (int64_t)bytes, memory_order_relaxed);
}

/* True: the walk of the stack ends with this key. */
static bool is_advised(uint64_t key)
{
	return entry_of(key)->is_advised;
}

struct pm_advised_bytes pm_advice_take(size_t bytes)
{
	uint64_t key = pm_site_find(is_advised);
	struct entry *entry = entry_of(key);
	struct pm_advised_bytes taken = {0};

	if (key && entry->is_advised) {
		taken.site = (uint32_t)(entry - advice.sites) + 1;
		taken.own = take(&entry->bytes, bytes);
	}
	if (taken.own < bytes)
		taken.rest = take(&advice.rest_bytes, bytes - taken.own);
	return taken;
}

void pm_advice_give(const struct pm_advised_bytes *bytes)
{
	if (bytes->own)
		give(&advice.sites[bytes->site - 1].bytes, bytes->own);
	if (bytes->rest)
		give(&advice.rest_bytes, bytes->rest);
}

void pm_advice_overdraw(struct pm_advised_bytes *taken, size_t bytes)
{
	atomic_int_least64_t *from =
		taken->site ? &advice.sites[taken->site - 1].bytes : &advice.rest_bytes;

	if (atomic_load_explicit(from, memory_order_relaxed) != NO_LIMIT)
		atomic_fetch_sub_explicit(from, (int64_t)bytes, memory_order_relaxed);
	*(taken->site ? &taken->own : &taken->rest) += bytes;
}

/*
 * True: this return address is the innermost frame of a cold site. Each caller is resolved once,
 * unless another caller uses the same entry of the cache.
 */
static bool is_leaf(const void *caller)
{
	uintptr_t address = (uintptr_t)caller << 1;
	atomic_uintptr_t *known = &advice.callers[(uintptr_t)caller / 4 % CALLERS];
	uintptr_t there = atomic_load_explicit(known, memory_order_relaxed);
	struct pm_frame frame;

	if ((there & ~(uintptr_t)1) == address)
		return there & 1;
	if (pm_site_resolve(caller, &frame)) {
		uint64_t key = pm_site_key(&frame, 1);

		address |= *leaf_of(key) == key;
	}
	atomic_store_explicit(known, address, memory_order_relaxed);
	return address & 1;
}

bool pm_advice_is_cold(const void *caller)
{
	uint64_t key;

	if (!is_leaf(caller))
		return false;
	key = pm_site_capture(PM_SITE_LEAST).key;
	return key && entry_of(key)->is_cold;
}

uint64_t pm_advice_data_bytes(void)
{
	return advice.data_bytes;
}
