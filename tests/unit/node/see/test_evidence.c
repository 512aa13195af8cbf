/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "node/see/evidence.h"
#include "tests/unit/recorded.h"
#include "tests/unit/tap.h"

#define GIB (1ULL << 30)

static void change_nothing(struct pm_evidence *e)
{
	(void)e;
}

static void add_region(struct pm_evidence *e)
{
	e->kernel.n_regions = 1;
}

static void little_memory(struct pm_evidence *e)
{
	e->kernel.mem_total_bytes = 200 * GIB;
}

static void flat_memory(struct pm_evidence *e)
{
	e->kernel.flat_bytes = e->kernel.mem_total_bytes - 200 * GIB;
}

static void no_regions(struct pm_evidence *e)
{
	e->kernel.n_regions = 0;
	e->kernel.region_bytes = 0;
}

static void one_region_of_two(struct pm_evidence *e)
{
	e->kernel.n_regions = 1;
	e->kernel.region_bytes /= 2;
}

static void regions_too_big(struct pm_evidence *e)
{
	e->kernel.region_bytes *= 2;
}

static void regions_rounded(struct pm_evidence *e)
{
	e->kernel.region_bytes -= 4 * GIB;
}

static void ill_region(struct pm_evidence *e)
{
	strcpy(e->regions.list[1].health, "Error");
}

static void without_regions(struct pm_evidence *e)
{
	pm_regions_done(&e->regions);
}

static void ill_module(struct pm_evidence *e)
{
	strcpy(e->dimms.list[3].config_status, "Failed - Broken interleave");
}

static void uneven_sockets(struct pm_evidence *e)
{
	for (size_t i = 0; i < e->dimms.n; i++)
		e->dimms.list[i].memory_bytes = strcmp(e->dimms.list[i].socket, "0x0000") ? 0 : GIB;
}

static void third_reserved(struct pm_evidence *e)
{
	e->resources.inaccessible_pmem_bytes = e->resources.physical_pmem_bytes / 3;
	for (size_t i = 0; i < e->dimms.n; i++)
		e->dimms.list[i].reserved_bytes = e->resources.inaccessible_pmem_bytes / e->dimms.n;
}

static void lost_module(struct pm_evidence *e)
{
	static struct pm_dimm gone = {.id = "0x0321", .socket = "0x0000"};

	e->roster.list = malloc(sizeof(gone));
	e->roster.list[0] = gone;
	e->roster.n = 1;
}

static void one_level(struct pm_evidence *e)
{
	strcpy(e->capabilities.current_volatile_mode, "1LM");
}

static void two_level(struct pm_evidence *e)
{
	strcpy(e->capabilities.current_volatile_mode, "2LM");
}

static void unknown_level(struct pm_evidence *e)
{
	strcpy(e->capabilities.current_volatile_mode, "Unknown");
}

static void half_lost(struct pm_evidence *e)
{
	e->resources.inaccessible_pmem_bytes = e->resources.physical_pmem_bytes / 2;
}

static const struct {
	const char *state;
	void (*change)(struct pm_evidence *e);
	enum pm_platform platform;
	const char *why;
	bool waits;
	const char *name;
} cases[] = {
	{"memory", change_nothing, PM_PLATFORM_MEMORY, "2LM, 2016.0 GiB", false, "Memory Mode"},
	{"appdirect", change_nothing, PM_PLATFORM_APPDIRECT, "1LM, 2 region(s) of 2016.0 GiB",
		false, "App Direct"},
	{"appdirect", without_regions, PM_PLATFORM_APPDIRECT, "1LM", false,
		"App Direct, ipmctl's regions not looked at"},
	{"appdirect", regions_rounded, PM_PLATFORM_APPDIRECT, "1LM", false, "regions are rounded"},
	{"memory-goal-pending", change_nothing, PM_PLATFORM_APPDIRECT, "1LM", false,
		"a pending goal does not count"},
	{"memory-goal-rejected", change_nothing, PM_PLATFORM_APPDIRECT, "1LM", false,
		"a rejected goal leaves the old mode"},
	{"unconfigured", change_nothing, PM_PLATFORM_UNKNOWN, "is not configured", false,
		"not configured"},
	{"appdirect-goal-pending", change_nothing, PM_PLATFORM_UNKNOWN, "is not configured", false,
		"a first goal does not count"},
	{"mixed", change_nothing, PM_PLATFORM_MIXED,
		"2LM, 1008.0 GiB of persistent memory as main memory", false, "Mixed"},
	{"mixed", change_nothing, PM_PLATFORM_MIXED, "2 region(s) of 1008.0 GiB App Direct", false,
		"Mixed has regions"},
	{"mixed", one_level, PM_PLATFORM_UNKNOWN,
		"volatile mode 1LM with 1008.0 GiB as main memory and 1008.0 GiB App Direct", false,
		"Mixed in 1LM"},
	{"mixed", little_memory, PM_PLATFORM_UNKNOWN, "but the kernel has 200.0 GiB", false,
		"Mixed without memory"},
	{"mixed", flat_memory, PM_PLATFORM_UNKNOWN, "but the kernel has 200.0 GiB", false,
		"memory that flat added does not count"},
	{"mixed", no_regions, PM_PLATFORM_UNKNOWN, "but the kernel has 0 region(s)", true,
		"Mixed without regions yet"},
	{"mixed", regions_too_big, PM_PLATFORM_UNKNOWN, "region(s) of 2016.0 GiB", false,
		"Mixed with too large regions"},
	{"mixed", ill_region, PM_PLATFORM_UNKNOWN, "HealthState 'Error'", false,
		"Mixed with a broken region"},
	{"memory", add_region, PM_PLATFORM_UNKNOWN, "but the kernel has 1 persistent region", false,
		"Memory Mode with a region"},
	{"memory", little_memory, PM_PLATFORM_UNKNOWN, "but the kernel has 200.0 GiB", false,
		"Memory Mode without memory"},
	{"memory", one_level, PM_PLATFORM_UNKNOWN, "volatile mode 1LM", false,
		"Memory Mode in 1LM"},
	{"memory", unknown_level, PM_PLATFORM_UNKNOWN, "volatile mode Unknown", false, "no level"},
	{"memory", half_lost, PM_PLATFORM_UNKNOWN, "of 2022.8 GiB of the persistent memory are",
		false, "half of it inaccessible"},
	{"memory", third_reserved, PM_PLATFORM_MEMORY, "2LM", false, "a third is reserved"},
	{"memory", lost_module, PM_PLATFORM_UNKNOWN,
		"module 0x0321 of socket 0x0000, which the node had, is missing", false,
		"a module has gone"},
	{"memory", uneven_sockets, PM_PLATFORM_UNKNOWN, "the sockets are in different modes", false,
		"one socket in Memory Mode"},
	{"memory", ill_module, PM_PLATFORM_UNKNOWN, "module 0x0111 has ConfigurationStatus", false,
		"a module is broken"},
	{"appdirect", two_level, PM_PLATFORM_UNKNOWN, "volatile mode 2LM", false,
		"App Direct in 2LM"},
	{"appdirect", no_regions, PM_PLATFORM_UNKNOWN, "but the kernel has 0 region(s)", true,
		"the kernel has no region yet"},
	{"appdirect", one_region_of_two, PM_PLATFORM_UNKNOWN, "1 region(s) of 1008.0 GiB", true,
		"the kernel has one region of two"},
	{"appdirect", regions_too_big, PM_PLATFORM_UNKNOWN, "region(s) of 4032.0 GiB", false,
		"the kernel has more than there is"},
	{"appdirect", ill_region, PM_PLATFORM_UNKNOWN, "of socket 0x0001 has HealthState 'Error'",
		false, "a region is broken"},
};

static void test_cases(void)
{
	FOR_EACH(row, cases)
	{
		struct pm_evidence evidence;
		struct pm_verdict verdict = {.platform = 99};

		recorded_evidence(row->state, &evidence);
		row->change(&evidence);
		pm_evidence_decide(&evidence, &verdict);
		is_text(pm_platform_name(verdict.platform), pm_platform_name(row->platform),
			row->name);
		is_number(verdict.mode, pm_mode_now(row->platform, &evidence.kernel), "the mode");
		has_text(verdict.why, row->why, "why");
		is_number(verdict.waits, row->waits, "does waiting help");
		pm_evidence_done(&evidence);
	}
}

static const struct {
	enum pm_platform platform;
	uint64_t n_regions, n_flat_regions;
	enum pm_mode mode;
} modes[] = {
	{PM_PLATFORM_UNKNOWN, 0, 0, PM_MODE_UNKNOWN},
	{PM_PLATFORM_UNKNOWN, 2, 2, PM_MODE_UNKNOWN},
	{PM_PLATFORM_MEMORY, 0, 0, PM_MODE_MEMORY},
	{PM_PLATFORM_MIXED, 2, 0, PM_MODE_MIXED},
	{PM_PLATFORM_APPDIRECT, 2, 0, PM_MODE_APPDIRECT},
	{PM_PLATFORM_APPDIRECT, 2, 1, PM_MODE_UNKNOWN},
	{PM_PLATFORM_APPDIRECT, 2, 2, PM_MODE_FLAT},
};

static void test_mode_now(void)
{
	FOR_EACH(row, modes)
	{
		struct pm_kernel kernel = {
			.n_regions = row->n_regions, .n_flat_regions = row->n_flat_regions};

		is_text(pm_mode_name(pm_mode_now(row->platform, &kernel)), pm_mode_name(row->mode),
			pm_platform_name(row->platform));
	}
}

static void test_status(void)
{
	struct pm_dimms dimms;
	const struct pm_dimm *first = NULL;
	char ids[200], few[40], status[64] = "";

	recorded_dimms("memory-goal-rejected/dimm.xml", &dimms);
	is_number((long long)pm_dimms_with_status(&dimms, "Failed", ids, sizeof(ids), status), 16,
		"modules that failed");
	is_text(status, "Failed - Reverted", "how");
	ok(!strncmp(ids, "0x0001, 0x0011, 0x0101", 22), "which: %s", ids);
	pm_dimms_with_status(&dimms, "Failed", few, sizeof(few), status);
	has_text(few, ", ...", "a long list is cut");
	strcpy(dimms.list[0].config_status, "Valid");
	is_number((long long)pm_dimms_not_valid(&dimms, &first), 15, "modules that are not valid");
	is_text(first ? first->id : NULL, "0x0011", "the first of them");
	is_number((long long)pm_dimms_with_status(&dimms, "Valid", ids, sizeof(ids), status), 1,
		"one is valid");
	is_text(ids, "0x0001", "which");
	is_number((long long)pm_dimms_with_status(&dimms, "Bad", ids, sizeof(ids), status), 0,
		"none is bad");
	is_text(ids, "", "and the list is empty");
	pm_dimms_done(&dimms);
}

int main(void)
{
	test_cases();
	test_mode_now();
	test_status();
	return tap_done();
}
