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
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/advice/site.h"
#include "runtime/common/log.h"
#include "runtime/heap/jemalloc.h"

#define SITES	  (1u << 16)
#define SITES_MAX (SITES / 2)
#define LEAVES	  4096u
#define CALLERS	  4096u
#define LINE	  4096
#define HEADER	  "pmadvice 1"
#define NO_QUOTA  UINT64_MAX

struct entry {
	uint64_t key;			   /* 0: empty */
	enum pm_advice advice;		   /* for large objects */
	bool is_cold;			   /* small objects go to PMem */
	atomic_uint_least64_t quota_bytes; /* DRAM that the site may still take */
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
	atomic_uint_least64_t counts[PM_ADVICES];
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

/* Parses the bytes behind a key, NO_QUOTA without them. False: the line has something else. */
static bool parse_quota(const char *text, uint64_t *ret)
{
	char *end = (char *)text;

	*ret = NO_QUOTA;
	if (*text >= '0' && *text <= '9')
		*ret = strtoull(text, &end, 10);
	end += strspn(end, " \t");
	return !*end || *end == '#';
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

/* Parses "small KEY" behind a site's key; KEY is the innermost frame's. */
static bool parse_small(uint64_t key, const char *text)
{
	uint64_t leaf, none;
	struct entry *entry;
	char *rest;

	if (strncmp(text, "small ", 6) || !parse_key(text + 6, &leaf, &rest) ||
		!parse_quota(rest, &none))
		return false;
	entry = advice.n_leaves < LEAVES / 2 ? insert(key) : NULL;
	if (!entry)
		return true;
	entry->is_cold = true;
	advice.n_leaves += !*leaf_of(leaf);
	*leaf_of(leaf) = leaf;
	return true;
}

static bool parse_large(uint64_t key, enum pm_advice which, const char *text)
{
	struct entry *entry;
	uint64_t quota;

	if (!parse_quota(text, &quota))
		return false;
	entry = insert(key);
	if (entry) {
		entry->advice = which;
		entry->quota_bytes = quota;
	}
	return true;
}

static bool parse_line(const char *line)
{
	bool in_pmem = !strncmp(line, "pmem ", 5);
	uint64_t key;
	char *rest;

	if (!*line || *line == '#')
		return true;
	if (!strncmp(line, "program ", 8) && parse_key(line + 8, &key, &rest)) {
		advice.is_this_program = key == advice.build;
		advice.has_program |= advice.is_this_program;
		return true;
	}
	if ((!in_pmem && strncmp(line, "dram ", 5)) || !parse_key(line + 5, &key, &rest))
		return false;
	if (in_pmem && *rest == 's')
		return parse_small(key, rest);
	return parse_large(key, in_pmem ? PM_ADVICE_PMEM : PM_ADVICE_DRAM, rest);
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

	if (!next_line(fd, line) || strcmp(line, HEADER))
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

static bool reserve(void)
{
	void *start = mmap(NULL, SITES * sizeof(*advice.sites), PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	advice.sites = start == MAP_FAILED ? NULL : start;
	return advice.sites;
}

static const char *load(void)
{
	int fd = open(advice.name, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	const char *wrong;

	if (fd < 0)
		return strerrordesc_np(errno);
	wrong = reserve() ? read_file(fd) : "out of memory";
	close(fd);
	return wrong;
}

void pm_advice_start(bool verbose)
{
	const char *wrong;

	advice.name = getenv("PM_ADVICE");
	if (!advice.name || !*advice.name)
		return;
	advice.build = pm_site_program().build;
	wrong = load();
	pm_advice_on = !wrong;
	pm_advice_on_small = !wrong && advice.n_leaves && pm_jemalloc_start_cold();
	if (wrong && verbose)
		pm_log("PM_ADVICE='%.200s': %s; it is not used", advice.name, wrong);
}

/* --- lookup --- */

/* Takes bytes from a site's quota. False: it has fewer left. */
static bool consume_quota(struct entry *entry, size_t bytes)
{
	uint64_t quota_bytes = atomic_load_explicit(&entry->quota_bytes, memory_order_relaxed);

	while (quota_bytes != NO_QUOTA && quota_bytes >= bytes)
		if (atomic_compare_exchange_weak(
			    &entry->quota_bytes, &quota_bytes, quota_bytes - bytes))
			return true;
	return quota_bytes == NO_QUOTA;
}

/* True: the walk of the stack ends with this key. */
static bool is_advised(uint64_t key)
{
	return entry_of(key)->advice != PM_ADVICE_NONE;
}

enum pm_advice pm_advice_lookup(size_t bytes)
{
	uint64_t key = pm_site_find(is_advised);
	struct entry *entry = entry_of(key);
	enum pm_advice found = key ? entry->advice : PM_ADVICE_NONE;

	if (found == PM_ADVICE_DRAM && !consume_quota(entry, bytes))
		found = PM_ADVICE_PMEM;
	atomic_fetch_add_explicit(&advice.counts[found], 1, memory_order_relaxed);
	return found;
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
	if (!key || !entry_of(key)->is_cold)
		return false;
	atomic_fetch_add_explicit(&advice.counts[PM_ADVICE_PMEM], 1, memory_order_relaxed);
	return true;
}

uint64_t pm_advice_count(enum pm_advice which)
{
	return atomic_load(&advice.counts[which]);
}
