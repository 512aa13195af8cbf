/* SPDX-License-Identifier: Apache-2.0 */
#include "node/see/evidence.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/param.h>

#include "node/tools/partition.h"

#define GIB (1ULL << 30)

/*
 * Percentage of persistent memory that may be inaccessible: labels and rounding cost below 4 % on
 * the smallest modules, a socket that did not get its goal costs half.
 */
#define MAX_INACCESSIBLE_PERCENT 10

/* A module keeps its configuration when the firmware refuses a new one. */
static const char reverted[] = "Failed - Reverted";

__attribute__((format(printf, 3, 4))) static void conclude(
	struct pm_verdict *verdict, enum pm_platform platform, const char *fmt, ...)
{
	va_list args;

	verdict->platform = platform;
	verdict->waits = 0;
	va_start(args, fmt);
	vsnprintf(verdict->why, sizeof(verdict->why), fmt, args);
	va_end(args);
}

static double in_gib(uint64_t bytes)
{
	return (double)bytes / (double)GIB;
}

size_t pm_dimms_with_status(const struct pm_dimms *dimms, const char *prefix, char *ids,
	size_t ids_size, char status[64])
{
	size_t n = 0, used = 0;

	ids[0] = '\0';
	for (size_t i = 0; i < dimms->n; i++) {
		const struct pm_dimm *dimm = &dimms->list[i];

		if (strncmp(dimm->config_status, prefix, strlen(prefix)))
			continue;
		if (!n++)
			snprintf(status, 64, "%s", dimm->config_status);
		if (used + PM_DIMM_ID_MAX + 8 < ids_size)
			used += (size_t)sprintf(ids + used, "%s%s", n > 1 ? ", " : "", dimm->id);
		else if (strcmp(ids + used - 3, "..."))
			used += (size_t)sprintf(ids + used, ", ...");
	}
	return n;
}

size_t pm_dimms_not_valid(const struct pm_dimms *dimms, const struct pm_dimm **ret_first)
{
	size_t n = 0;

	for (size_t i = 0; i < dimms->n; i++)
		if (strcmp(dimms->list[i].config_status, "Valid") && !n++)
			*ret_first = &dimms->list[i];
	return n;
}

/* Unless a module is "Valid" or has kept its configuration, its capacities prove little. */
static bool has_broken_dimm(const struct pm_evidence *e, struct pm_verdict *ret)
{
	for (size_t i = 0; i < e->dimms.n; i++) {
		const struct pm_dimm *dimm = &e->dimms.list[i];

		if (!strcmp(dimm->config_status, "Valid") || !strcmp(dimm->config_status, reverted))
			continue;
		conclude(ret, PM_PLATFORM_UNKNOWN, "module %s has ConfigurationStatus '%s'",
			dimm->id, dimm->config_status);
		return true;
	}
	return false;
}

/* ipmctl counts memory that goals have reserved as inaccessible. */
static uint64_t lost_bytes(const struct pm_evidence *e)
{
	uint64_t lost = e->resources.inaccessible_pmem_bytes, reserved = 0;

	for (size_t i = 0; i < e->dimms.n; i++)
		reserved += e->dimms.list[i].reserved_bytes;
	return lost - MIN(reserved, lost);
}

static bool is_out_of_reach(const struct pm_evidence *e, struct pm_verdict *ret)
{
	uint64_t all = e->resources.physical_pmem_bytes, lost = lost_bytes(e);

	if (lost <= all / 100 * MAX_INACCESSIBLE_PERCENT)
		return false;
	conclude(ret, PM_PLATFORM_UNKNOWN,
		"%.1f of %.1f GiB of the persistent memory are inaccessible", in_gib(lost),
		in_gib(all));
	return true;
}

static bool lacks_module(const struct pm_evidence *e, struct pm_verdict *ret)
{
	const struct pm_dimm *missing = pm_roster_missing(&e->roster, &e->dimms);

	if (!missing)
		return false;
	conclude(ret, PM_PLATFORM_UNKNOWN,
		"module %s of socket %s, which the node had, is missing; put it back, or if it was "
		"taken out for good run 'pmctl health --clear', then 'pmctl verify'",
		missing->id, missing->socket);
	return true;
}

static struct pm_partition use_of(const struct pm_dimms *dimms, const char *socket)
{
	struct pm_partition sum = {0};

	for (size_t i = 0; i < dimms->n; i++) {
		if (strcmp(dimms->list[i].socket, socket))
			continue;
		sum.memory_bytes += dimms->list[i].memory_bytes;
		sum.appdirect_bytes += dimms->list[i].appdirect_bytes;
	}
	return sum;
}

/* Each socket must have the same kinds of memory as the first one. */
static bool has_uneven_sockets(const struct pm_evidence *e, struct pm_verdict *ret)
{
	struct pm_partition first = {0};

	for (size_t i = 0; i < e->dimms.n; i++) {
		const char *socket = e->dimms.list[i].socket;
		struct pm_partition use = use_of(&e->dimms, socket);

		if (!i)
			first = use;
		if (!first.memory_bytes == !use.memory_bytes &&
			!first.appdirect_bytes == !use.appdirect_bytes)
			continue;
		conclude(ret, PM_PLATFORM_UNKNOWN,
			"the sockets are in different modes: socket %s has %.1f GiB as main memory "
			"and %.1f GiB App Direct, socket %s has %.1f and %.1f GiB",
			e->dimms.list[0].socket, in_gib(first.memory_bytes),
			in_gib(first.appdirect_bytes), socket, in_gib(use.memory_bytes),
			in_gib(use.appdirect_bytes));
		return true;
	}
	return false;
}

/* A "Pending" region is healthy, and its modules have a new goal. */
static bool has_ill_region(const struct pm_evidence *e, struct pm_verdict *ret)
{
	for (size_t i = 0; i < e->regions.n; i++) {
		const struct pm_region *region = &e->regions.list[i];

		if (!strcmp(region->health, "Healthy") || !strcmp(region->health, "Pending"))
			continue;
		conclude(ret, PM_PLATFORM_UNKNOWN, "region %s of socket %s has HealthState '%s'",
			region->id, region->socket, region->health);
		return true;
	}
	return false;
}

static bool lacks_memory(const struct pm_evidence *e, struct pm_verdict *ret)
{
	uint64_t expected = e->resources.volatile_pmem_bytes;
	uint64_t seen = pm_kernel_boot_memory(&e->kernel);

	if (seen >= expected / 2)
		return false;
	conclude(ret, PM_PLATFORM_UNKNOWN,
		"ipmctl shows %.1f GiB of persistent memory as main memory, but the kernel has "
		"%.1f GiB",
		in_gib(expected), in_gib(seen));
	return true;
}

/* Too little may be temporary: the kernel may still bring up regions. */
static bool has_other_regions(const struct pm_evidence *e, struct pm_verdict *ret)
{
	uint64_t expected = e->resources.appdirect_pmem_bytes, seen = e->kernel.region_bytes;
	uint64_t tolerance = e->dimms.n * GIB;
	bool is_less = seen + tolerance < expected || !e->kernel.n_regions;

	if (!is_less && seen <= expected + tolerance)
		return false;
	conclude(ret, PM_PLATFORM_UNKNOWN,
		"ipmctl shows %.1f GiB App Direct, but the kernel has %llu region(s) of %.1f GiB",
		in_gib(expected), (unsigned long long)e->kernel.n_regions, in_gib(seen));
	ret->waits = is_less;
	return true;
}

static void decide_memory(const struct pm_evidence *e, struct pm_verdict *ret)
{
	if (e->kernel.n_regions)
		conclude(ret, PM_PLATFORM_UNKNOWN,
			"ipmctl shows Memory Mode, but the kernel has %llu persistent region(s)",
			(unsigned long long)e->kernel.n_regions);
	else if (!lacks_memory(e, ret))
		conclude(ret, PM_PLATFORM_MEMORY,
			"2LM, %.1f GiB of persistent memory as main memory, MemTotal %.1f GiB",
			in_gib(e->resources.volatile_pmem_bytes),
			in_gib(e->kernel.mem_total_bytes));
}

static void decide_appdirect(const struct pm_evidence *e, struct pm_verdict *ret)
{
	if (!has_other_regions(e, ret))
		conclude(ret, PM_PLATFORM_APPDIRECT, "1LM, %llu region(s) of %.1f GiB App Direct",
			(unsigned long long)e->kernel.n_regions, in_gib(e->kernel.region_bytes));
}

static void decide_mixed(const struct pm_evidence *e, struct pm_verdict *ret)
{
	if (!lacks_memory(e, ret) && !has_other_regions(e, ret))
		conclude(ret, PM_PLATFORM_MIXED,
			"2LM, %.1f GiB of persistent memory as main memory, MemTotal %.1f GiB, "
			"%llu region(s) of %.1f GiB App Direct",
			in_gib(e->resources.volatile_pmem_bytes), in_gib(e->kernel.mem_total_bytes),
			(unsigned long long)e->kernel.n_regions, in_gib(e->kernel.region_bytes));
}

static void decide(const struct pm_evidence *e, struct pm_verdict *ret)
{
	bool two_level = !strcmp(e->capabilities.current_volatile_mode, "2LM");
	bool one_level = !strcmp(e->capabilities.current_volatile_mode, "1LM");
	uint64_t as_main = e->resources.volatile_pmem_bytes;
	uint64_t as_appdirect = e->resources.appdirect_pmem_bytes;

	if (!as_main && !as_appdirect)
		conclude(ret, PM_PLATFORM_UNKNOWN, "the persistent memory is not configured");
	else if (lacks_module(e, ret) || has_broken_dimm(e, ret) || has_uneven_sockets(e, ret) ||
		 is_out_of_reach(e, ret) || has_ill_region(e, ret))
		return;
	else if (two_level && as_main && as_appdirect)
		decide_mixed(e, ret);
	else if (two_level && as_main)
		decide_memory(e, ret);
	else if (one_level && as_appdirect && !as_main)
		decide_appdirect(e, ret);
	else
		conclude(ret, PM_PLATFORM_UNKNOWN,
			"volatile mode %s with %.1f GiB as main memory and %.1f GiB App Direct is "
			"neither Memory Mode, nor App Direct, nor Mixed",
			e->capabilities.current_volatile_mode, in_gib(as_main),
			in_gib(as_appdirect));
}

void pm_evidence_decide(const struct pm_evidence *e, struct pm_verdict *ret)
{
	decide(e, ret);
	ret->mode = pm_mode_now(ret->platform, &e->kernel);
}

enum pm_mode pm_mode_now(enum pm_platform platform, const struct pm_kernel *kernel)
{
	const struct pm_mode_info *row = pm_mode_of_platform(platform);

	if (platform == PM_PLATFORM_APPDIRECT && kernel->n_flat_regions)
		return kernel->n_flat_regions == kernel->n_regions ? PM_MODE_FLAT : PM_MODE_UNKNOWN;
	return row ? row->mode : PM_MODE_UNKNOWN;
}

void pm_evidence_done(struct pm_evidence *evidence)
{
	pm_dimms_done(&evidence->dimms);
	pm_regions_done(&evidence->regions);
	pm_dimms_done(&evidence->roster);
}
