/* SPDX-License-Identifier: Apache-2.0 */
#include "twin/meter/cache.h"

#include <stdlib.h>
#include <string.h>

bool pm_cache_init(struct pm_cache *cache, size_t bytes, unsigned ways)
{
	uint64_t sets = ways ? bytes / PM_LINE_BYTES / ways : 0;

	if (!sets || sets & (sets - 1) || sets * ways * PM_LINE_BYTES != bytes)
		return false;
	*cache = (struct pm_cache){.sets = sets, .ways = ways};
	cache->lines = calloc(sets * ways, sizeof(*cache->lines));
	return cache->lines != NULL;
}

static struct pm_cache_line *set_of(struct pm_cache *cache, uint64_t line)
{
	return cache->lines + (line & (cache->sets - 1)) * cache->ways;
}

static unsigned find(const struct pm_cache_line *set, unsigned ways, uint64_t line)
{
	unsigned way = 0;

	while (way < ways && set[way].tag != line + 1)
		way++;
	return way;
}

bool pm_cache_access(struct pm_cache *cache, uint64_t line, uint32_t owner, bool is_store,
	struct pm_cache_line *evicted)
{
	struct pm_cache_line *set = set_of(cache, line);
	unsigned way = find(set, cache->ways, line);
	bool is_hit = way < cache->ways;
	struct pm_cache_line found = {.tag = line + 1, .owner = owner};

	if (is_hit)
		found = set[way];
	else
		*evicted = set[--way];
	if (is_store) {
		found.owner = owner;
		found.is_dirty = true;
	}
	memmove(set + 1, set, way * sizeof(*set));
	set[0] = found;
	return is_hit;
}

struct pm_cache_line pm_cache_take(struct pm_cache *cache, uint64_t line)
{
	struct pm_cache_line *set = set_of(cache, line), found = {0};
	unsigned way = find(set, cache->ways, line);

	if (way == cache->ways)
		return found;
	found = set[way];
	memmove(set + way, set + way + 1, (cache->ways - way - 1) * sizeof(*set));
	set[cache->ways - 1] = (struct pm_cache_line){0};
	return found;
}

bool pm_cache_clean(struct pm_cache *cache, uint64_t line, uint32_t *owner)
{
	struct pm_cache_line *set = set_of(cache, line);
	unsigned way = find(set, cache->ways, line);

	if (way == cache->ways || !set[way].is_dirty)
		return false;
	set[way].is_dirty = false;
	*owner = set[way].owner;
	return true;
}
