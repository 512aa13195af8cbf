/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>

#include "node/tools/ipmctl.h"
#include "tests/unit/scratch.h"
#include "tests/unit/tap.h"

#define MODULE 135744454656ULL
#define GIB    (1ULL << 30)

static const char *recorded(const char *name, size_t *ret_length)
{
	char path[200];

	snprintf(path, sizeof(path), "ipmctl/%s", name);
	return fixture(path, ret_length);
}

static const struct {
	const char *file;
	struct pm_resources expected;
} resources[] = {
	{"unconfigured/memoryresources.xml", {.volatile_ddr_bytes = 274877906944,
						     .inaccessible_pmem_bytes = 16 * MODULE,
						     .physical_pmem_bytes = 16 * MODULE}},
	{"appdirect/memoryresources.xml", {.volatile_ddr_bytes = 274877906944,
						  .appdirect_pmem_bytes = 2164663517184,
						  .inaccessible_pmem_bytes = 7247757312,
						  .physical_pmem_bytes = 16 * MODULE}},
	{"memory/memoryresources.xml", {.volatile_pmem_bytes = 16 * 126 * GIB,
					       .inaccessible_pmem_bytes = 16 * (MODULE - 126 * GIB),
					       .physical_pmem_bytes = 16 * MODULE}},
	{"mixed/memoryresources.xml", {.volatile_pmem_bytes = 16 * 63 * GIB,
					      .appdirect_pmem_bytes = 16 * 63 * GIB,
					      .inaccessible_pmem_bytes = 16 * (MODULE - 126 * GIB),
					      .physical_pmem_bytes = 16 * MODULE}},
	{"hand-made/older-names.xml", {.volatile_ddr_bytes = 274877906944,
					      .appdirect_pmem_bytes = 2164663517184,
					      .inaccessible_pmem_bytes = 7247757312,
					      .physical_pmem_bytes = 16 * MODULE}},
};

static void test_resources(void)
{
	FOR_EACH(row, resources)
	{
		struct pm_resources got = {0};
		struct pm_err err = {0};
		size_t length;
		const char *text = recorded(row->file, &length);

		is_number(pm_ipmctl_resources(text, length, &got, &err), 0, row->file);
		is_number((long long)got.volatile_ddr_bytes,
			(long long)row->expected.volatile_ddr_bytes, "volatile DRAM");
		is_number((long long)got.volatile_pmem_bytes,
			(long long)row->expected.volatile_pmem_bytes, "volatile PMem");
		is_number((long long)got.appdirect_pmem_bytes,
			(long long)row->expected.appdirect_pmem_bytes, "App Direct");
		is_number((long long)got.inaccessible_pmem_bytes,
			(long long)row->expected.inaccessible_pmem_bytes, "inaccessible");
		is_number((long long)got.physical_pmem_bytes,
			(long long)row->expected.physical_pmem_bytes, "physical");
	}
}

static const struct {
	const char *file;
	int rc;
	const char *error, *quote;
} bad_resources[] = {
	{"hand-made/issue-170.xml", -EBADMSG,
		"cannot read <PMemModule>17179869056.000 GiB</PMemModule>", "17179869056.000 GiB"},
	{"hand-made/below-zero.xml", -EBADMSG, "18446743936270598144 B", "MemoryResources"},
	{"hand-made/unknown.xml", -EBADMSG, "<PMemModule>Unknown</PMemModule>", "<?xml"},
	{"hand-made/truncated.xml", -EBADMSG, "XML expected of ipmctl", "<MemoryResources>"},
	{"hand-made/empty", -EBADMSG, "XML expected of ipmctl", "printed: ''"},
	{"hand-made/doctype.xml", -EBADMSG, "no document type expected", "DOCTYPE"},
	{"hand-made/row-missing.xml", -EBADMSG, "Volatile, AppDirect, Inaccessible", "Volatile"},
	{"no-pmem/goal.txt", -EBADMSG, "XML expected of ipmctl",
		"Initialization failed. No PMem modules in the system."},
	{"syntax.txt", -EBADMSG, "XML expected of ipmctl", "Syntax Error: Invalid or unexpected"},
	{"error-115.xml", -EREMOTEIO, "ipmctl failed", "Error 115"},
	{"error-13.xml", -EREMOTEIO, "ipmctl failed", "Invalid DimmID: 0x9999"},
	{"appdirect/goal.xml", -EBADMSG, "<MemoryResources> expected", "There are no goal configs"},
	{"appdirect/dimm.xml", -EBADMSG, "<MemoryResources> expected", "DimmList"},
};

static void test_bad_resources(void)
{
	FOR_EACH(row, bad_resources)
	{
		struct pm_resources got = {.volatile_ddr_bytes = 77};
		struct pm_err err = {0};
		size_t length;
		const char *text = recorded(row->file, &length);

		is_number(pm_ipmctl_resources(text, length, &got, &err), row->rc, row->file);
		has_text(err.text, row->error, "what is wrong");
		has_text(err.text, row->quote, "is quoted");
		ok(!strchr(err.text, '\n'), "on one line");
		is_number((long long)got.volatile_ddr_bytes, 77, "the result is untouched");
	}
}

static void test_dimms(void)
{
	struct pm_dimms dimms = {0};
	struct pm_err err = {0};
	size_t length;
	const char *text = recorded("locked/dimm.xml", &length);

	is_number(pm_ipmctl_dimms(text, length, &dimms, &err), 0, "modules");
	is_number((long long)dimms.n, 16, "all of them");
	is_text(dimms.list[0].id, "0x0001", "the first one's number");
	is_text(dimms.list[15].socket, "0x0001", "the last one's socket");
	is_number((long long)dimms.list[3].capacity_bytes, MODULE, "a capacity");
	is_text(dimms.list[0].lock, "Disabled", "not locked");
	is_text(dimms.list[1].lock, "Locked", "locked");
	is_text(dimms.list[1].health, "Healthy", "health");
	is_text(dimms.list[1].manageability, "Manageable", "manageability");
	is_text(dimms.list[1].population_violation, "No", "population");
	is_text(dimms.list[1].config_status, "Valid", "status");
	pm_dimms_done(&dimms);
	ok(!dimms.list && !dimms.n, "released");
	text = recorded("hand-made/dimm-without-status.xml", &length);
	is_number(pm_ipmctl_dimms(text, length, &dimms, &err), -EBADMSG, "a state missing");
	has_text(err.text, "no <ConfigurationStatus> in <Dimm>", "is named");
	ok(!dimms.list, "nothing is returned");
	text = recorded("appdirect/region.xml", &length);
	is_number(pm_ipmctl_dimms(text, length, &dimms, &err), -EBADMSG, "regions are no modules");
	text = "<?xml version=\"1.0\"?><DimmList></DimmList>";
	is_number(pm_ipmctl_dimms(text, strlen(text), &dimms, &err), -EBADMSG, "an empty list");
}

static const struct {
	const char *file;
	int rc;
	size_t n;
} goals[] = {
	{"appdirect/goal.xml", 0, 0},
	{"memory-goal-rejected/goal.xml", 0, 0},
	{"delete-goal-after.xml", 0, 0},
	{"memory-goal-pending/goal.xml", 0, 16},
	{"create-memory.xml", 0, 16},
	{"create-appdirect.xml", 0, 16},
	{"hand-made/goal-without-second.xml", 0, 16},
	{"hand-made/goal-socket0-only.xml", 0, 8},
	{"hand-made/goal-foreign-element.xml", -EBADMSG, 0},
	{"appdirect/region.xml", -EBADMSG, 0},
	{"unconfigured/region.xml", -EBADMSG, 0}, /* no regions is not no goals */
	{"delete-goal.xml", -EBADMSG, 0},
	{"error-115.xml", -EREMOTEIO, 0},
	{"no-pmem/goal.txt", -EBADMSG, 0},
	{"hand-made/empty", -EBADMSG, 0},
};

static void test_goals(void)
{
	struct pm_goals got = {0};
	size_t length;
	const char *text;

	FOR_EACH(row, goals)
	{
		text = recorded(row->file, &length);
		is_number(pm_ipmctl_goals(text, length, &got, NULL), row->rc, row->file);
		is_number((long long)got.n, (long long)row->n, "how many goals");
		pm_goals_done(&got);
	}
	text = recorded("create-mixed.xml", &length);
	is_number(pm_ipmctl_goals(text, length, &got, NULL), 0, "a mixed goal");
	is_text(got.list[2].dimm, "0x0101", "its module");
	is_text(got.list[2].socket, "0x0000", "its socket");
	is_number((long long)got.list[2].memory_bytes, 63 * GIB, "its memory");
	is_number((long long)got.list[2].appdirect1_bytes, 63 * GIB, "its App Direct");
	is_number((long long)got.list[2].appdirect2_bytes, 0, "its second App Direct");
	pm_goals_done(&got);
}

static void test_regions(void)
{
	struct pm_regions got = {0};
	size_t length;
	const char *text = recorded("memory-goal-pending/region.xml", &length);

	is_number(pm_ipmctl_regions(text, length, &got, NULL), 0, "regions");
	is_number((long long)got.n, 2, "one a socket");
	is_text(got.list[1].socket, "0x0001", "its socket");
	is_text(got.list[1].type, "AppDirect", "its type");
	is_text(got.list[1].health, "Pending", "its health");
	is_number((long long)got.list[0].capacity_bytes, 1082331758592, "its capacity");
	is_number((long long)got.list[0].free_bytes, 1082331758592, "what is free");
	pm_regions_done(&got);
	text = recorded("memory/region.xml", &length);
	is_number(pm_ipmctl_regions(text, length, &got, NULL), 0, "no regions");
	is_number((long long)got.n, 0, "is an empty list");
}

static void test_slots(void)
{
	struct pm_slots got = {0};
	struct pm_err err = {0};
	size_t length;
	const char *text = recorded("topology.xml", &length);

	is_number(pm_ipmctl_slots(text, length, &got, &err), 0, "slots");
	is_number((long long)got.n, 24, "of DRAM and of persistent memory");
	is_text(got.list[0].type, "DDR4", "the first");
	is_text(got.list[0].dimm, "N/A", "has no number");
	is_number((long long)got.list[0].capacity_bytes, 17179869184, "its capacity");
	is_text(got.list[23].type, "Logical Non-Volatile Device", "the last");
	is_text(got.list[23].dimm, "0x1121", "its number");
	is_text(got.list[23].socket, "0x0001", "its socket");
	pm_slots_done(&got);
	text = recorded("appdirect/dimm.xml", &length);
	is_number(pm_ipmctl_slots(text, length, &got, &err), -EBADMSG, "modules are none");
}

static void test_use(void)
{
	struct pm_dimms got = {0};
	size_t length;
	const char *text = recorded("dimm-memory-reserved.xml", &length);

	is_number(pm_ipmctl_dimms(text, length, &got, NULL), 0, "modules with their use");
	is_number((long long)got.list[11].memory_bytes, 94489280512, "main memory");
	is_number((long long)got.list[11].appdirect_bytes, 0, "App Direct");
	is_number((long long)got.list[11].reserved_bytes, 40802189312, "reserved");
	pm_dimms_done(&got);
}

static void test_report(void)
{
	struct pm_dimms got = {0};
	size_t length;
	const char *text = recorded("dimm-report.xml", &length);

	is_number(pm_ipmctl_dimms(text, length, &got, NULL), 0, "modules for a report");
	is_number((long long)got.n, 4, "four");
	is_text(got.list[3].firmware, "02.02.00.1352", "firmware");
	is_text(got.list[3].part, "NMB1XXD128GPS", "part number");
	pm_dimms_done(&got);
	text = replaced(text, "02.02.00.1352", "N/A");
	is_number(pm_ipmctl_dimms(text, strlen(text), &got, NULL), 0, "one does not answer");
	is_text(got.list[0].firmware, "", "its firmware is not known");
	is_text(got.list[1].firmware, "02.02.00.1352", "that of the next is");
	pm_dimms_done(&got);
	free((void *)text);
}

static const struct {
	const char *text;
	bool is_number;
	double number;
} sensor_values[] = {
	{"38C", true, 38},
	{"-2C", true, -2},
	{"100%", true, 100},
	{"31536000s", true, 31536000},
	{"7", true, 7},
	{"0", true, 0},
	{"Healthy", false, 0},
	{"Unknown", false, 0},
	{"", false, 0},
	{"38F", false, 0},
	{"38C 3", false, 0},
};

static void test_sensors(void)
{
	struct pm_sensors got = {0};
	struct pm_err err = {0};
	size_t length;
	const char *text = recorded("sensor.xml", &length);

	is_number(pm_ipmctl_sensors(text, length, &got, &err), 0, "sensors");
	is_number((long long)got.n, 40, "ten of each of four modules");
	is_text(got.list[11].dimm, "0x0101", "the module");
	is_text(got.list[11].type, "MediaTemperature", "the sensor");
	is_text(got.list[11].text, "38C", "its value");
	pm_sensors_done(&got);
	text = recorded("sensor-failed.xml", &length);
	is_number(pm_ipmctl_sensors(text, length, &got, &err), -EREMOTEIO, "a module fails");
	has_text(err.text, "from PMem module 0x0001", "ipmctl names it");
	FOR_EACH(row, sensor_values)
	{
		struct pm_sensor sensor = {0};
		double number = 0;

		strcpy(sensor.text, row->text);
		ok(pm_sensor_number(&sensor, &number) == row->is_number, "'%s'", row->text);
		ok(number == row->number, "is %g", row->number);
	}
}

static void test_capabilities(void)
{
	struct pm_capabilities got = {0};
	size_t length;
	const char *text = recorded("memory/capabilities.xml", &length);

	is_number(pm_ipmctl_capabilities(text, length, &got, NULL), 0, "capabilities");
	is_text(got.allowed_volatile_mode, "1LM or 2LM", "allowed");
	is_text(got.current_volatile_mode, "2LM", "current");
	is_number((long long)got.alignment_bytes, 1LL << 30, "alignment");
	text = recorded("memory/dimm.xml", &length);
	is_number(pm_ipmctl_capabilities(text, length, &got, NULL), -EBADMSG, "modules are none");
}

static const struct {
	const char *text;
	const char *version; /* NULL: refused */
} versions[] = {
	{"Intel(R) Optane(TM) Persistent Memory Command Line Interface Version 03.00.00.0468-1\n",
		"03.00.00.0468"},
	{"... Version 02.00.00.3809\n", "02.00.00.3809"},
	{"... Version \n", NULL},
	{"... version 1\n", NULL},
	{"", NULL},
	{"Version 1111111111111111111111111111111111111111111111111111111\n", NULL},
};

static void test_versions(void)
{
	FOR_EACH(row, versions)
	{
		struct pm_ipmctl_version got = {"untouched"};
		int rc = pm_ipmctl_version(row->text, strlen(row->text), &got, NULL);

		is_number(rc, row->version ? 0 : -EBADMSG, row->text);
		is_text(got.text, row->version ? row->version : "untouched", "the version");
	}
}

static const struct {
	const char *file;
	int rc;
	const char *quote, *warnings, *limited;
} dry_runs[] = {
	{"dry-run-appdirect.txt", 0, "", "", ""},
	{"dry-run-memory.txt", 0, "", "", ""},
	{"dry-run-warning.txt", 0, "",
		"WARNING! The requested memory mode size is above the recommended NM:FM limit of "
		"1:16",
		""},
	{"dry-run-limited.txt", 0, "",
		"Socket 0x0000: Error 127 - The amount of mapped memory was limited based on the "
		"SKU resulting in un-mapped capacity.; Socket 0x0001: Error 127 - The amount of "
		"mapped memory was limited based on the SKU resulting in un-mapped capacity.",
		"0x0000 0x0001"},
	{"error-115.txt", -EREMOTEIO, "Error 115 - PMem modules on one or more sockets", "", ""},
	{"error-36.txt", -EREMOTEIO, "Error 36", "", ""},
	{"error-93.txt", -EREMOTEIO, "below the NM:FM limit", "", ""},
	{"syntax.txt", -EREMOTEIO, "Syntax Error", "", ""},
	{"create-memory.xml", -EREMOTEIO, "ConfigGoal", "", ""},
	{"hand-made/empty", -EREMOTEIO, "''", "", ""},
};

static void test_dry_runs(void)
{
	FOR_EACH(row, dry_runs)
	{
		struct pm_err err = {0};
		size_t length;
		const char *text = recorded(row->file, &length);
		struct pm_dry_run got = {"untouched", ""};

		is_number(pm_ipmctl_dry_run(text, length, &got, &err), row->rc, row->file);
		is_text(got.warnings, row->rc ? "untouched" : row->warnings, "its warnings");
		is_text(got.limited, row->limited, "sockets with a limited CPU");
		has_text(err.text, row->quote, "what ipmctl says");
	}
}

int main(void)
{
	test_resources();
	test_bad_resources();
	test_dimms();
	test_goals();
	test_regions();
	test_slots();
	test_use();
	test_report();
	test_sensors();
	test_capabilities();
	test_versions();
	test_dry_runs();
	return tap_done();
}
