/* SPDX-License-Identifier: Apache-2.0 */
#include "node/tools/partition.h"

#include <string.h>
#include <sys/param.h>

#define GIB (1ULL << 30)

/* The modules of a socket that a goal covers. */
struct group {
	uint64_t n, all_bytes, least_bytes;
};

bool pm_dimm_is_manageable(const struct pm_dimm *dimm)
{
	return !strcmp(dimm->manageability, "Manageable");
}

bool pm_dimm_is_sound(const struct pm_dimm *dimm)
{
	return !strcmp(dimm->health, "Healthy") && strcmp(dimm->lock, "Locked") &&
	       pm_dimm_is_manageable(dimm);
}

static uint64_t round_down(uint64_t bytes, uint64_t unit)
{
	return bytes / unit * unit;
}

static uint64_t round_up(uint64_t bytes, uint64_t unit)
{
	return round_down(bytes + unit - 1, unit);
}

static bool is_of(const struct pm_dimm *dimm, const char *socket)
{
	return pm_dimm_is_manageable(dimm) && !strcmp(dimm->socket, socket);
}

static struct group group_of(const struct pm_dimms *dimms, const char *socket)
{
	struct group group = {.least_bytes = UINT64_MAX};

	for (size_t i = 0; i < dimms->n; i++) {
		if (!is_of(&dimms->list[i], socket))
			continue;
		group.n++;
		group.all_bytes += dimms->list[i].capacity_bytes;
		group.least_bytes = MIN(group.least_bytes, dimms->list[i].capacity_bytes);
	}
	return group;
}

/*
 * The capacity beyond whole GiB is subtracted first, then the rest is rounded to the nearest GiB.
 */
static uint64_t memory_near(uint64_t wanted, uint64_t capacity)
{
	uint64_t rest = capacity % GIB;

	return wanted > rest ? round_down(wanted - rest + GIB / 2, GIB) : 0;
}

/* Equal for each module of a socket, and less than any whole module. */
static uint64_t memory_of(const struct pm_shares *shares, const struct group *group)
{
	uint64_t alignment = MAX(shares->alignment_bytes, GIB), least = group->least_bytes, memory;

	if (!shares->memory_percent)
		return 0;
	memory = group->all_bytes * shares->memory_percent / 100 / group->n;
	memory = memory_near(MAX(memory, GIB), least);
	if (memory < round_down(least, GIB))
		return memory;
	return least > alignment ? memory_near(least - alignment, least) : 0;
}

/* Without memory, the remainder of rounding counts as reserved. */
static uint64_t reserved_of(const struct pm_shares *shares, const struct group *group)
{
	uint64_t alignment = MAX(shares->alignment_bytes, GIB);
	uint64_t reserved = group->all_bytes * shares->reserved_percent / 100;
	uint64_t left_over = group->n * (group->least_bytes % alignment);

	if (shares->memory_percent)
		return reserved;
	return reserved > left_over ? reserved - left_over : 0;
}

static uint64_t appdirect_of(const struct pm_shares *shares, const struct group *group,
	uint64_t capacity, uint64_t memory)
{
	uint64_t alignment = MAX(shares->alignment_bytes, GIB);
	uint64_t appdirect = round_down(capacity - memory, alignment);
	uint64_t reserved = round_up(reserved_of(shares, group) / group->n, alignment);

	if (appdirect > reserved)
		return appdirect - reserved;
	return shares->memory_percent ? 0 : alignment;
}

struct pm_partition pm_partition_of(
	const struct pm_shares *shares, const struct pm_dimms *dimms, const struct pm_dimm *dimm)
{
	struct group group = group_of(dimms, dimm->socket);
	struct pm_partition ret = {0};

	if (!group.n)
		return ret;
	if (shares->memory_percent == 100) {
		ret.memory_bytes = round_down(dimm->capacity_bytes, GIB);
		return ret;
	}
	ret.memory_bytes = memory_of(shares, &group);
	if (shares->memory_percent + shares->reserved_percent < 100)
		ret.appdirect_bytes =
			appdirect_of(shares, &group, dimm->capacity_bytes, ret.memory_bytes);
	return ret;
}

uint64_t pm_partition_memory(
	const struct pm_shares *shares, const struct pm_dimms *dimms, const char *socket)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < dimms->n; i++)
		if (is_of(&dimms->list[i], socket))
			sum += pm_partition_of(shares, dimms, &dimms->list[i]).memory_bytes;
	return sum;
}
