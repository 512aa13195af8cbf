/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/goal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define GIB (1ULL << 30)

void pm_goal_property(
	const struct pm_mode_info *mode, const char *appdirect_type, char *ret, size_t ret_size)
{
	if (mode->memory_percent)
		snprintf(ret, ret_size, "MemoryMode=%u", mode->memory_percent);
	else
		snprintf(ret, ret_size, "PersistentMemoryType=%s", appdirect_type);
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

static int compare_one(bool wants_memory, const struct pm_dimm *dimm, const struct pm_goals *goals,
	struct pm_err *err)
{
	size_t n;
	const struct pm_goal *goal = find_goal(goals, dimm->id, &n);
	uint64_t slack = dimm->capacity_bytes / 10 + GIB, memory, appdirect;

	if (n != 1)
		return pm_err_set(err, -ENODATA, "module %s has %zu goals", dimm->id, n);
	memory = goal->memory_bytes;
	appdirect = goal->appdirect1_bytes + goal->appdirect2_bytes;
	if ((wants_memory ? appdirect : memory) == 0 && (wants_memory ? memory : appdirect) > 0 &&
		(wants_memory ? memory : appdirect) + slack >= dimm->capacity_bytes &&
		!strcmp(goal->socket, dimm->socket))
		return 0;
	return pm_err_set(err, -ENODATA,
		"module %s of %llu bytes on socket %s has a goal of %llu bytes memory and %llu "
		"bytes "
		"App Direct on socket %s",
		dimm->id, (unsigned long long)dimm->capacity_bytes, dimm->socket,
		(unsigned long long)memory, (unsigned long long)appdirect, goal->socket);
}

int pm_goal_compare(enum pm_mode mode, const struct pm_dimms *dimms, const struct pm_goals *goals,
	struct pm_err *err)
{
	const struct pm_mode_info *row = pm_mode_info(mode);
	size_t n = 0;

	if (!row)
		return pm_err_set(err, -EINVAL, "compare goals with mode 'unknown'");
	for (size_t i = 0; i < dimms->n; i++) {
		int rc;

		if (!pm_dimm_is_manageable(&dimms->list[i]))
			continue;
		n++;
		rc = compare_one(row->memory_percent > 0, &dimms->list[i], goals, err);
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
	const struct pm_mode_info *row = pm_mode_info(mode);
	const char *needed = row && row->memory_percent ? "2LM" : "1LM";

	if (strstr(capabilities->allowed_volatile_mode, needed))
		return 0;
	return pm_err_set(err, -EPERM,
		"AllowedVolatileMode is '%s' and lacks %s; change the volatile memory mode in the "
		"firmware setup",
		capabilities->allowed_volatile_mode, needed);
}
