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
#define HEAD	  "pmadvice 1"
#define NO_LIMIT  UINT64_MAX

struct entry {
	uint64_t key; /* 0: none */
	enum pm_advice advice;
	bool is_cold;		    /* its small objects */
	atomic_uint_least64_t left; /* bytes for which DRAM is advised */
};

bool pm_advice_on, pm_advice_on_small;

static struct {
	struct entry *sites;
	uint32_t n;
	uint64_t leaves[LEAVES]; /* innermost frames of sites with cold objects; 0: none */
	uint32_t n_leaves;
	/* Return addresses that are known, a bit to the left; the last bit: a leaf. */
	atomic_uintptr_t callers[CALLERS];
	uint64_t build;
	const char *name; /* of the file */
	bool is_ours;	  /* what is read is for this program */
	bool is_known;	  /* the file has something for it */
	atomic_uint_least64_t counts[PM_ADVICES];
} advice;

static struct entry *entry_of(uint64_t key)
{
	uint32_t at = (uint32_t)(key % SITES);

	while (advice.sites[at].key && advice.sites[at].key != key)
		at = (at + 1) % SITES;
	return &advice.sites[at];
}

/* --- reading --- */

/* Sixteen digits, and then the end of a word. */
static bool parse_key(const char *text, uint64_t *ret, char **ret_end)
{
	if (strspn(text, "0123456789abcdef") != 16)
		return false;
	*ret = strtoull(text, ret_end, 16);
	*ret_end += strspn(*ret_end, " \t");
	return *ret && ((*ret_end)[-1] == ' ' || (*ret_end)[-1] == '\t' || !**ret_end);
}

/* How many bytes, if it is said; false: there is something else. */
static bool parse_limit(const char *text, uint64_t *ret)
{
	char *end = (char *)text;

	*ret = NO_LIMIT;
	if (*text >= '0' && *text <= '9')
		*ret = strtoull(text, &end, 10);
	end += strspn(end, " \t");
	return !*end || *end == '#';
}

/* The site's entry; NULL: it is for another program, or there is no room. */
static struct entry *claim(uint64_t key)
{
	struct entry *entry = entry_of(key);

	if (!advice.is_ours || (advice.n == SITES_MAX && !entry->key))
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

/* Behind a key: "small" and the innermost frame's. */
static bool read_small(uint64_t key, const char *text)
{
	uint64_t leaf, none;
	struct entry *entry;
	char *rest;

	if (strncmp(text, "small ", 6) || !parse_key(text + 6, &leaf, &rest) ||
		!parse_limit(rest, &none))
		return false;
	entry = advice.n_leaves < LEAVES / 2 ? claim(key) : NULL;
	if (!entry)
		return true;
	entry->is_cold = true;
	advice.n_leaves += !*leaf_of(leaf);
	*leaf_of(leaf) = leaf;
	return true;
}

static bool read_large(uint64_t key, enum pm_advice which, const char *text)
{
	struct entry *entry;
	uint64_t limit;

	if (!parse_limit(text, &limit))
		return false;
	entry = claim(key);
	if (entry) {
		entry->advice = which;
		entry->left = limit;
	}
	return true;
}

static bool read_line(const char *line)
{
	bool in_pmem = !strncmp(line, "pmem ", 5);
	uint64_t key;
	char *rest;

	if (!*line || *line == '#')
		return true;
	if (!strncmp(line, "program ", 8) && parse_key(line + 8, &key, &rest)) {
		advice.is_ours = key == advice.build;
		advice.is_known |= advice.is_ours;
		return true;
	}
	if ((!in_pmem && strncmp(line, "dram ", 5)) || !parse_key(line + 5, &key, &rest))
		return false;
	if (in_pmem && *rest == 's')
		return read_small(key, rest);
	return read_large(key, in_pmem ? PM_ADVICE_PMEM : PM_ADVICE_DRAM, rest);
}

/* The next byte of a file; -1: there is none. */
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

/* The next line, cut where it is too long; false: there is none. */
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

/* What is wrong with it; NULL: nothing. */
static const char *read_file(int fd)
{
	static char line[LINE], wrong[128];

	if (!next_line(fd, line) || strcmp(line, HEAD))
		return "it does not begin with '" HEAD "' as what pmreport writes";
	for (unsigned number = 2; next_line(fd, line); number++) {
		if (!read_line(line)) {
			snprintf(wrong, sizeof(wrong), "line %u, '%.40s', is no advice", number,
				line);
			return wrong;
		}
	}
	return advice.is_known ? NULL : "it has nothing for this program as it is built now";
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

void pm_advice_start(bool tells)
{
	const char *wrong;

	advice.name = getenv("PM_ADVICE");
	if (!advice.name || !*advice.name)
		return;
	advice.build = pm_site_program().build;
	wrong = load();
	pm_advice_on = !wrong;
	pm_advice_on_small = !wrong && advice.n_leaves && pm_jemalloc_start_cold();
	if (wrong && tells)
		pm_log("PM_ADVICE='%.200s': %s; it is not used", advice.name, wrong);
}

/* --- asking --- */

/* Takes so many of what a site may have in DRAM; false: it is used up. */
static bool take_share(struct entry *entry, size_t bytes)
{
	uint64_t left = atomic_load_explicit(&entry->left, memory_order_relaxed);

	while (left != NO_LIMIT && left >= bytes)
		if (atomic_compare_exchange_weak(&entry->left, &left, left - bytes))
			return true;
	return left == NO_LIMIT;
}

enum pm_advice pm_advice_here(size_t bytes)
{
	struct pm_site site = pm_site_here();
	struct entry *entry = entry_of(site.key);
	enum pm_advice found = site.key ? entry->advice : PM_ADVICE_NONE;

	if (found == PM_ADVICE_DRAM && !take_share(entry, bytes))
		found = PM_ADVICE_PMEM;
	atomic_fetch_add_explicit(&advice.counts[found], 1, memory_order_relaxed);
	return found;
}

/* Does a site with cold objects begin there? Looked for once a caller, as a rule. */
static bool is_leaf(const void *caller)
{
	uintptr_t address = (uintptr_t)caller << 1;
	atomic_uintptr_t *known = &advice.callers[(uintptr_t)caller / 4 % CALLERS];
	uintptr_t there = atomic_load_explicit(known, memory_order_relaxed);
	struct pm_frame frame;

	if ((there & ~(uintptr_t)1) == address)
		return there & 1;
	if (pm_site_frame(caller, &frame)) {
		uint64_t key = pm_site_key(&frame, 1);

		address |= *leaf_of(key) == key;
	}
	atomic_store_explicit(known, address, memory_order_relaxed);
	return address & 1;
}

bool pm_advice_is_cold(const void *caller)
{
	struct pm_site site;

	if (!is_leaf(caller))
		return false;
	site = pm_site_here();
	if (!site.key || !entry_of(site.key)->is_cold)
		return false;
	atomic_fetch_add_explicit(&advice.counts[PM_ADVICE_PMEM], 1, memory_order_relaxed);
	return true;
}

uint64_t pm_advice_count(enum pm_advice which)
{
	return atomic_load(&advice.counts[which]);
}
