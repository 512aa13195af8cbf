/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>

#include "node/act/checks.h"
#include "tests/unit/recorded.h"
#include "tests/unit/scratch.h"
#include "tests/unit/tap.h"

#define GIB (1ULL << 30)

static void test_dimms(void)
{
	struct pm_dimms dimms;
	struct pm_err err = {0};

	recorded_dimms("appdirect/dimm.xml", &dimms);
	is_number(pm_check_dimms(&dimms, &err), 0, "sound modules");
	strcpy(dimms.list[2].population_violation, "Yes");
	is_number(pm_check_dimms(&dimms, &err), -EPERM, "a wrong slot");
	has_text(err.text, "module 0x0101 has PopulationViolation 'Yes'", "is named");
	strcpy(dimms.list[2].manageability, "Unmanageable");
	is_number(pm_check_dimms(&dimms, &err), -EPERM, "unmanageable");
	has_text(err.text, "module 0x0101 has ManageabilityState", "is named first");
	pm_dimms_done(&dimms);
	recorded_dimms("locked/dimm.xml", &dimms);
	is_number(pm_check_dimms(&dimms, &err), -EPERM, "a locked module");
	has_text(
		err.text, "module 0x0011 has LockState 'Locked'; disable its security", "is named");
	pm_dimms_done(&dimms);
	recorded_dimms("unhealthy/dimm.xml", &dimms);
	is_number(pm_check_dimms(&dimms, &err), -EPERM, "an unhealthy module");
	has_text(err.text, "module 0x1101 has HealthState 'Noncritical failure'", "is named");
	pm_dimms_done(&dimms);
	is_number(pm_check_dimms(&dimms, &err), -EPERM, "no modules");
}

static void test_mode(void)
{
	struct pm_capabilities both = {.allowed_volatile_mode = "1LM or 2LM"};
	struct pm_capabilities one = {.allowed_volatile_mode = "1LM"};
	struct pm_err err = {0};

	is_number(pm_check_platform(PM_PLATFORM_MEMORY, &both, &err), 0, "Memory Mode with 2LM");
	is_number(pm_check_platform(PM_PLATFORM_APPDIRECT, &one, &err), 0, "App Direct with 1LM");
	is_number(pm_check_platform(PM_PLATFORM_MEMORY, &one, &err), -EPERM, "Memory Mode without");
	has_text(err.text, "AllowedVolatileMode is '1LM' and lacks 2LM", "says so");
}

/* Two sockets with two modules each. */
static struct pm_dimm four[] = {
	{.id = "0x0001", .socket = "0x0000"},
	{.id = "0x0101", .socket = "0x0000"},
	{.id = "0x1001", .socket = "0x0001"},
	{.id = "0x1101", .socket = "0x0001"},
};

static struct pm_dimms modules(uint64_t capacity)
{
	for (size_t i = 0; i < 4; i++) {
		strcpy(four[i].manageability, "Manageable");
		four[i].capacity_bytes = capacity;
	}
	return (struct pm_dimms){four, 4};
}

static struct pm_goal_request request_for(
	enum pm_platform platform, unsigned memory_percent, unsigned reserved_percent)
{
	return (struct pm_goal_request){
		.platform = platform, .shares = {memory_percent, reserved_percent, GIB}};
}

static const struct {
	enum pm_platform platform;
	unsigned memory_percent, reserved_percent;
	uint64_t capacity;
	const char *error; /* NULL: passes */
} shares[] = {
	{PM_PLATFORM_MEMORY, 100, 0, 8564768768, NULL},
	{PM_PLATFORM_APPDIRECT, 0, 0, 8564768768, NULL},
	{PM_PLATFORM_MIXED, 50, 0, 8564768768, NULL},
	{PM_PLATFORM_MIXED, 10, 0, 8564768768,
		"module 0x0001 of 8.0 GiB nothing as main memory; change MixedPercent"},
	{PM_PLATFORM_MIXED, 75, 20, 8564768768, "nothing as App Direct; change MixedPercent or"},
	{PM_PLATFORM_MEMORY, 10, 90, 8564768768,
		"nothing as main memory; make ReservedPercent in pmem.conf smaller"},
};

static void test_shares(void)
{
	struct pm_goal_request request = request_for(PM_PLATFORM_MIXED, 40, 20);
	struct pm_dimms dimms;
	struct pm_err err = {0};

	FOR_EACH(row, shares)
	{
		const struct pm_goal_request one =
			request_for(row->platform, row->memory_percent, row->reserved_percent);

		err = (struct pm_err){0};
		dimms = modules(row->capacity);
		is_number(pm_check_shares(&one, &dimms, &err), row->error ? -EPERM : 0,
			row->error ? row->error : pm_platform_name(row->platform));
		has_text(err.text, row->error ? row->error : "", "what is left");
	}
	dimms = modules(128 * GIB);
	is_number(pm_check_shares(&request, &dimms, &err), 0, "a part is reserved");
	dimms.list[3].capacity_bytes = 256 * GIB;
	is_number(pm_check_shares(&request, &dimms, &err), -EPERM, "of uneven modules");
	has_text(err.text, "modules 0x1001 and 0x1101 of socket 0x0001 are not of one size",
		"is not");
	request.shares.reserved_percent = 0;
	is_number(pm_check_shares(&request, &dimms, &err), 0, "without reserve they are taken");
}

static const struct {
	enum pm_platform platform;
	unsigned memory_percent, reserved_percent;
	uint64_t dram_gib[2];
	const char *error;
} ratios[] = {
	{PM_PLATFORM_MEMORY, 100, 0, {32, 32}, NULL},
	{PM_PLATFORM_MEMORY, 100, 0, {256, 256}, NULL},
	{PM_PLATFORM_MEMORY, 100, 0, {32, 257},
		"socket 0x0001 has 257.0 GiB of DRAM as cache and would have only 256.0 GiB of "
		"persistent memory as main memory behind it; the socket needs less DRAM"},
	{PM_PLATFORM_MEMORY, 50, 50, {160, 32}, "socket 0x0000 has 160.0 GiB of DRAM"},
	{PM_PLATFORM_MEMORY, 50, 50, {160, 32}, "make ReservedPercent in pmem.conf smaller"},
	{PM_PLATFORM_MIXED, 50, 0, {128, 128}, NULL},
	{PM_PLATFORM_MIXED, 49, 0, {128, 128}, "set MixedPercent to 50 or more in pmem.conf"},
	{PM_PLATFORM_MIXED, 50, 0, {256, 0}, "the socket needs less DRAM"},
	{PM_PLATFORM_APPDIRECT, 0, 0, {999, 999}, NULL},
};

static void test_sockets(void)
{
	struct pm_slot list[] = {
		{.dimm = "N/A", .socket = "0x0000", .type = "DDR4"},
		{.dimm = "N/A", .socket = "0x0001", .type = "DDR5"},
		{.dimm = "0x0001", .socket = "0x0000", .type = "Logical Non-Volatile Device"},
		{.dimm = "N/A", .socket = "0x0002", .type = "DDR4", .capacity_bytes = GIB},
	};
	struct pm_slots slots = {list, 3};
	struct pm_dimms dimms = modules(128 * GIB);
	struct pm_goal_request request = request_for(PM_PLATFORM_MEMORY, 100, 0);
	struct pm_err err = {0};

	FOR_EACH(row, ratios)
	{
		const struct pm_goal_request one =
			request_for(row->platform, row->memory_percent, row->reserved_percent);

		err = (struct pm_err){0};
		list[0].capacity_bytes = row->dram_gib[0] * GIB;
		list[1].capacity_bytes = row->dram_gib[1] * GIB;
		is_number(pm_check_sockets(&one, &dimms, &slots, &err), row->error ? -EPERM : 0,
			row->error ? row->error : pm_platform_name(row->platform));
		has_text(err.text, row->error ? row->error : "", "the sentence");
	}
	list[0].capacity_bytes = list[1].capacity_bytes = GIB;
	slots.n = 4;
	is_number(pm_check_sockets(&request, &dimms, &slots, &err), -EPERM, "a socket without");
	has_text(
		err.text, "socket 0x0002 has 1.0 GiB of DRAM and no persistent memory", "is named");
}

static void test_roster(void)
{
	const char *path = scratch_path("modules.json");
	struct pm_dimms dimms = modules(GIB);
	struct pm_dimms roster = {0};
	struct pm_err err = {0};

	is_number(pm_store_read(&pm_roster_store, path, &roster, &err), 0, "no file");
	is_number((long long)roster.n, 0, "is an empty roster");
	is_number(pm_check_roster(&roster, &dimms, &err), 0, "which misses nothing");
	is_number(pm_store_write(&pm_roster_store, path, &dimms, &err), 0, "written");
	is_number(pm_store_read(&pm_roster_store, path, &roster, &err), 0, "and read");
	ok(pm_roster_equals(&roster, &dimms), "is the same");
	is_number(pm_check_roster(&roster, &dimms, &err), 0, "all are there");
	dimms.list[1].capacity_bytes++;
	ok(!pm_roster_equals(&roster, &dimms), "another size differs");
	dimms.n = 3;
	ok(!pm_roster_equals(&roster, &dimms), "another number differs");
	is_number(pm_check_roster(&roster, &dimms, &err), -EPERM, "one has gone");
	has_text(err.text, "module 0x1101 of socket 0x0001 is missing, 3 of 4 are there", "which");
	pm_dimms_done(&roster);
}

static const char *const bad_rosters[] = {"", "[]", "{}", "{\"version\":2,\"modules\":[]}",
	"{\"version\":1,\"modules\":{}}", "{\"version\":1,\"modules\":[1]}",
	"{\"version\":1,\"modules\":[{\"id\":\"\",\"socket\":\"0x0\",\"capacity_bytes\":1}]}",
	"{\"version\":1,\"modules\":[{\"id\":\"0x1\",\"socket\":\"0x0\"}]}"};

static void test_bad_rosters(void)
{
	FOR_EACH(text, bad_rosters)
	{
		const char *path = scratch_file("bad.json", *text);
		struct pm_dimms roster = {.n = 7};
		struct pm_err err = {0};

		is_number(pm_store_read(&pm_roster_store, path, &roster, &err),
			strstr(*text, "\"version\":2") ? -EPROTONOSUPPORT : -EBADMSG, *text);
		has_text(err.text, "bad.json", "is named");
		is_number((long long)roster.n, 7, "the result is untouched");
	}
}

int main(void)
{
	test_dimms();
	test_mode();
	test_shares();
	test_sockets();
	test_roster();
	test_bad_rosters();
	return tap_done();
}
