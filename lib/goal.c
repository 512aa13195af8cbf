/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/goal.h"

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
	struct pm_goal_request *ret)
{
	*ret = (struct pm_goal_request){
		.platform = mode->platform,
		.memory_percent = memory_percent(mode->platform, config),
		.reserved_percent = config->reserved_percent,
	};
	if (ret->memory_percent)
		add_word(ret, "MemoryMode=%u", ret->memory_percent);
	if (pm_platform_has_regions(mode->platform))
		add_word(ret, "PersistentMemoryType=%s", config->appdirect_type);
	if (ret->reserved_percent)
		add_word(ret, "Reserved=%u", ret->reserved_percent);
}

bool pm_dimm_is_manageable(const struct pm_dimm *dimm)
{
	return !strcmp(dimm->manageability, "Manageable");
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

static bool is_near(uint64_t goal, uint64_t wanted, uint64_t slack)
{
	return wanted ? goal && goal + slack >= wanted && goal <= wanted + slack : !goal;
}

static int compare_one(const struct pm_goal_request *request, const struct pm_dimm *dimm,
	const struct pm_goals *goals, struct pm_err *err)
{
	size_t n;
	const struct pm_goal *goal = find_goal(goals, dimm->id, &n);
	uint64_t percent = dimm->capacity_bytes / 100, slack = 10 * percent + GIB;
	unsigned rest = 100 - request->memory_percent - request->reserved_percent;
	uint64_t memory, appdirect;

	if (n != 1)
		return pm_err_set(err, -ENODATA, "module %s has %zu goals", dimm->id, n);
	memory = goal->memory_bytes;
	appdirect = goal->appdirect1_bytes + goal->appdirect2_bytes;
	if (is_near(memory, percent * request->memory_percent, slack) &&
		is_near(appdirect, percent * rest, slack) && !strcmp(goal->socket, dimm->socket))
		return 0;
	return pm_err_set(err, -ENODATA,
		"module %s of %llu bytes on socket %s has a goal of %llu bytes memory and %llu "
		"bytes App Direct on socket %s",
		dimm->id, (unsigned long long)dimm->capacity_bytes, dimm->socket,
		(unsigned long long)memory, (unsigned long long)appdirect, goal->socket);
}

int pm_goal_compare(const struct pm_goal_request *request, const struct pm_dimms *dimms,
	const struct pm_goals *goals, struct pm_err *err)
{
	size_t n = 0;

	for (size_t i = 0; i < dimms->n; i++) {
		int rc;

		if (!pm_dimm_is_manageable(&dimms->list[i]))
			continue;
		n++;
		rc = compare_one(request, &dimms->list[i], goals, err);
		if (rc)
			return rc;
	}
	if (!n || goals->n != n)
		return pm_err_set(err, -ENODATA, "%zu goals for %zu modules", goals->n, n);
	return 0;
}

static int refuse(const struct pm_dimm *dimm, const char *what, const char *state, const char *cure,
	struct pm_err *err)
{
	return pm_err_set(err, -EPERM, "module %s has %s '%s'; %s", dimm->id, what, state, cure);
}

static int admit_dimm(const struct pm_dimm *dimm, struct pm_err *err)
{
	if (!pm_dimm_is_manageable(dimm))
		return refuse(dimm, "ManageabilityState", dimm->manageability,
			"replace it or update its firmware", err);
	if (strcmp(dimm->health, "Healthy"))
		return refuse(dimm, "HealthState", dimm->health,
			"see 'ipmctl show -a -dimm', it may have to be replaced", err);
	if (strcmp(dimm->lock, "Disabled"))
		return refuse(dimm, "LockState", dimm->lock,
			"disable its security in the firmware setup or with 'ndctl "
			"remove-passphrase'",
			err);
	if (strcmp(dimm->population_violation, "No"))
		return refuse(dimm, "PopulationViolation", dimm->population_violation,
			"put the modules into slots that the platform supports", err);
	return 0;
}

int pm_goal_admit_dimms(const struct pm_dimms *dimms, struct pm_err *err)
{
	int rc = 0;

	if (!dimms->n)
		return pm_err_set(err, -EPERM, "there are no persistent memory modules");
	for (size_t i = 0; !rc && i < dimms->n; i++)
		rc = admit_dimm(&dimms->list[i], err);
	return rc;
}

int pm_goal_admit_mode(
	enum pm_mode mode, const struct pm_capabilities *capabilities, struct pm_err *err)
{
	const char *needed = pm_platform_has_volatile(pm_mode_platform(mode)) ? "2LM" : "1LM";

	if (strstr(capabilities->allowed_volatile_mode, needed))
		return 0;
	return pm_err_set(err, -EPERM,
		"AllowedVolatileMode is '%s' and lacks %s; change the volatile memory mode in the "
		"firmware setup",
		capabilities->allowed_volatile_mode, needed);
}
