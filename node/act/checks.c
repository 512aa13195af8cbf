/* SPDX-License-Identifier: Apache-2.0 */
#include "node/act/checks.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define GIB (1ULL << 30)

static int refuse(const struct pm_dimm *dimm, const char *what, const char *state, const char *cure,
	struct pm_err *err)
{
	return pm_err_set(err, -EPERM, "module %s has %s '%s'; %s", dimm->id, what, state, cure);
}

static int check_dimm(const struct pm_dimm *dimm, struct pm_err *err)
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

int pm_check_dimms(const struct pm_dimms *dimms, struct pm_err *err)
{
	int rc = 0;

	if (!dimms->n)
		return pm_err_set(err, -EPERM, "there are no persistent memory modules");
	for (size_t i = 0; !rc && i < dimms->n; i++)
		rc = check_dimm(&dimms->list[i], err);
	return rc;
}

int pm_check_platform(
	enum pm_platform platform, const struct pm_capabilities *capabilities, struct pm_err *err)
{
	const char *needed = pm_platform_has_volatile(platform) ? "2LM" : "1LM";

	if (strstr(capabilities->allowed_volatile_mode, needed))
		return 0;
	return pm_err_set(err, -EPERM,
		"AllowedVolatileMode is '%s' and lacks %s; change the volatile memory mode in the "
		"firmware setup",
		capabilities->allowed_volatile_mode, needed);
}

static const char *first_cure(const struct pm_goal_request *request)
{
	if (request->platform == PM_PLATFORM_MIXED)
		return "change MixedPercent or ReservedPercent in pmem.conf";
	return "make ReservedPercent in pmem.conf smaller";
}

static int check_partition(const struct pm_goal_request *request, const struct pm_dimms *dimms,
	size_t i, struct pm_err *err)
{
	const struct pm_dimm *dimm = &dimms->list[i];
	struct pm_partition part = pm_partition_of(&request->shares, dimms, dimm);
	bool no_memory = pm_platform_has_volatile(request->platform) && !part.memory_bytes;
	bool no_regions = pm_platform_has_regions(request->platform) && !part.appdirect_bytes;

	if (!no_memory && !no_regions)
		return 0;
	return pm_err_set(err, -EPERM,
		"rounding would leave module %s of %.1f GiB nothing as %s; %s", dimm->id,
		(double)dimm->capacity_bytes / GIB, no_memory ? "main memory" : "App Direct",
		first_cure(request));
}

static int check_sizes(const struct pm_dimms *dimms, size_t i, struct pm_err *err)
{
	for (size_t k = 0; k < i; k++)
		if (!strcmp(dimms->list[k].socket, dimms->list[i].socket) &&
			dimms->list[k].capacity_bytes != dimms->list[i].capacity_bytes)
			return pm_err_set(err, -EPERM,
				"modules %s and %s of socket %s are not of one size, so that no "
				"part of them can be reserved; set ReservedPercent=0 in pmem.conf",
				dimms->list[k].id, dimms->list[i].id, dimms->list[i].socket);
	return 0;
}

int pm_check_shares(
	const struct pm_goal_request *request, const struct pm_dimms *dimms, struct pm_err *err)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < dimms->n; i++) {
		rc = check_partition(request, dimms, i, err);
		if (!rc && request->shares.reserved_percent)
			rc = check_sizes(dimms, i, err);
	}
	return rc;
}

static uint64_t dram_of(const struct pm_slots *slots, const char *socket)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < slots->n; i++)
		if (!strncmp(slots->list[i].type, "DDR", 3) &&
			!strcmp(slots->list[i].socket, socket))
			sum += slots->list[i].capacity_bytes;
	return sum;
}

/* The least MixedPercent that gives the socket as much memory as it has DRAM; 0: none does. */
static unsigned least_percent(const struct pm_goal_request *request, const struct pm_dimms *dimms,
	const char *socket, uint64_t dram)
{
	struct pm_shares shares = request->shares;

	for (shares.memory_percent = 1; shares.memory_percent + shares.reserved_percent < 100;
		shares.memory_percent++)
		if (pm_partition_memory(&shares, dimms, socket) >= dram)
			return shares.memory_percent;
	return 0;
}

static void say_ratio_cure(const struct pm_goal_request *request, const struct pm_dimms *dimms,
	const char *socket, uint64_t dram, char *ret, size_t size)
{
	unsigned percent = request->platform == PM_PLATFORM_MIXED
				   ? least_percent(request, dimms, socket, dram)
				   : 0;

	if (percent)
		snprintf(ret, size, "set MixedPercent to %u or more in pmem.conf", percent);
	else if (request->shares.reserved_percent)
		snprintf(ret, size, "make ReservedPercent in pmem.conf smaller");
	else
		snprintf(ret, size, "the socket needs less DRAM or more persistent memory");
}

static int check_socket(const struct pm_goal_request *request, const struct pm_dimms *dimms,
	const struct pm_slots *slots, const char *socket, struct pm_err *err)
{
	uint64_t dram = dram_of(slots, socket);
	uint64_t far = pm_partition_memory(&request->shares, dimms, socket);
	char cure[100];

	if (far >= dram)
		return 0;
	if (!far)
		return pm_err_set(err, -EPERM,
			"socket %s has %.1f GiB of DRAM and no persistent memory, and all sockets "
			"must be in one mode; put modules into its slots",
			socket, (double)dram / GIB);
	say_ratio_cure(request, dimms, socket, dram, cure, sizeof(cure));
	return pm_err_set(err, -EPERM,
		"socket %s has %.1f GiB of DRAM as cache and would have only %.1f GiB of "
		"persistent "
		"memory as main memory behind it; %s",
		socket, (double)dram / GIB, (double)far / GIB, cure);
}

int pm_check_sockets(const struct pm_goal_request *request, const struct pm_dimms *dimms,
	const struct pm_slots *slots, struct pm_err *err)
{
	int rc = 0;

	if (!pm_platform_has_volatile(request->platform))
		return 0;
	for (size_t i = 0; !rc && i < slots->n; i++)
		rc = check_socket(request, dimms, slots, slots->list[i].socket, err);
	return rc;
}

int pm_check_roster(const struct pm_dimms *roster, const struct pm_dimms *dimms, struct pm_err *err)
{
	const struct pm_dimm *missing = pm_roster_missing(roster, dimms);

	if (!missing)
		return 0;
	return pm_err_set(err, -EPERM,
		"module %s of socket %s is missing, %zu of %zu are there; put it back, or if it "
		"was "
		"taken out for good run 'pmctl health --clear'",
		missing->id, missing->socket, dimms->n, roster->n);
}
