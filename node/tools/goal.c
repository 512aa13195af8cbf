/* SPDX-License-Identifier: Apache-2.0 */
#include "node/tools/goal.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define GIB (1ULL << 30)

__attribute__((format(printf, 2, 3))) static void add_word(
	struct pm_goal_request *request, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(request->words[request->n_words++], sizeof(request->words[0]), fmt, args);
	va_end(args);
}

static unsigned memory_percent(enum pm_platform platform, const struct pm_config *config)
{
	if (platform == PM_PLATFORM_MIXED)
		return config->mixed_percent;
	return platform == PM_PLATFORM_MEMORY ? 100 - config->reserved_percent : 0;
}

void pm_goal_request(const struct pm_mode_info *mode, const struct pm_config *config,
	const struct pm_capabilities *capabilities, struct pm_goal_request *ret)
{
	*ret = (struct pm_goal_request){
		.platform = mode->platform,
		.shares = {.memory_percent = memory_percent(mode->platform, config),
			.reserved_percent = config->reserved_percent,
			.alignment_bytes = capabilities->alignment_bytes},
	};
	if (ret->shares.memory_percent)
		add_word(ret, "MemoryMode=%u", ret->shares.memory_percent);
	if (pm_platform_has_regions(mode->platform))
		add_word(ret, "PersistentMemoryType=%s", config->appdirect_type);
	if (ret->shares.reserved_percent)
		add_word(ret, "Reserved=%u", ret->shares.reserved_percent);
}

static const struct pm_goal *find_goal(
	const struct pm_goals *goals, const char *dimm, size_t *ret_n)
{
	const struct pm_goal *found = NULL;

	*ret_n = 0;
	for (size_t i = 0; i < goals->n; i++)
		if (!strcmp(goals->list[i].dimm, dimm) && !(*ret_n)++)
			found = &goals->list[i];
	return found;
}

static bool is_limited(const char *limited, const char *socket)
{
	return limited && strstr(limited, socket);
}

static bool is_size(uint64_t goal, uint64_t expected, bool may_be_less)
{
	return goal == expected || (may_be_less && goal && goal < expected);
}

static int compare_one(const struct pm_goal_request *request, const struct pm_dimms *dimms,
	const struct pm_dimm *dimm, const struct pm_goals *goals, const char *limited,
	struct pm_err *err)
{
	struct pm_partition wanted = pm_partition_of(&request->shares, dimms, dimm);
	bool less = is_limited(limited, dimm->socket);
	size_t n;
	const struct pm_goal *goal = find_goal(goals, dimm->id, &n);
	uint64_t appdirect;

	if (n != 1)
		return pm_err_set(err, -ENODATA, "module %s has %zu goals", dimm->id, n);
	appdirect = goal->appdirect1_bytes + goal->appdirect2_bytes;
	if (is_size(goal->memory_bytes, wanted.memory_bytes, less) &&
		is_size(appdirect, wanted.appdirect_bytes, less) &&
		!strcmp(goal->socket, dimm->socket))
		return 0;
	return pm_err_set(err, -ENODATA,
		"module %s on socket %s has a goal of %llu bytes memory and %llu bytes App Direct "
		"on socket %s, not of %llu and %llu",
		dimm->id, dimm->socket, (unsigned long long)goal->memory_bytes,
		(unsigned long long)appdirect, goal->socket,
		(unsigned long long)wanted.memory_bytes,
		(unsigned long long)wanted.appdirect_bytes);
}

int pm_goal_compare(const struct pm_goal_request *request, const struct pm_dimms *dimms,
	const struct pm_goals *goals, const char *limited, struct pm_err *err)
{
	size_t n = 0;

	for (size_t i = 0; i < dimms->n; i++) {
		int rc;

		if (!pm_dimm_is_manageable(&dimms->list[i]))
			continue;
		n++;
		rc = compare_one(request, dimms, &dimms->list[i], goals, limited, err);
		if (rc)
			return rc;
	}
	if (!n || goals->n != n)
		return pm_err_set(err, -ENODATA, "%zu goals for %zu modules", goals->n, n);
	return 0;
}

static bool is_known(const struct pm_dimms *dimms)
{
	for (size_t i = 0; i < dimms->n; i++)
		if (dimms->list[i].memory_bytes || dimms->list[i].appdirect_bytes)
			return true;
	return false;
}

/* Both zero or neither, and at most one unit of rounding more. */
static bool is_used(uint64_t used, uint64_t wanted, uint64_t unit)
{
	return !used == !wanted && used <= wanted + unit;
}

bool pm_goal_is_met(const struct pm_goal_request *request, const struct pm_dimms *dimms)
{
	uint64_t unit = request->shares.alignment_bytes;

	if (!is_known(dimms))
		return true;
	for (size_t i = 0; i < dimms->n; i++) {
		const struct pm_dimm *dimm = &dimms->list[i];
		struct pm_partition wanted = pm_partition_of(&request->shares, dimms, dimm);

		if (pm_dimm_is_manageable(dimm) &&
			(!is_used(dimm->memory_bytes, wanted.memory_bytes, unit) ||
				!is_used(dimm->appdirect_bytes, wanted.appdirect_bytes, unit)))
			return false;
	}
	return true;
}
