/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>

#include "lib/goal.h"
#include "tests/unit/recorded.h"
#include "tests/unit/tap.h"

static struct pm_goal_request request_of(enum pm_mode mode)
{
	const struct pm_config config = {
		.appdirect_type = (char *)"AppDirect", .mixed_percent = 50};
	struct pm_goal_request request;

	pm_goal_request(pm_mode_info(mode), &config, &request);
	return request;
}

static const struct {
	enum pm_mode mode;
	unsigned mixed, reserved;
	const char *words[PM_GOAL_WORDS + 1];
} requests[] = {
	{PM_MODE_MEMORY, 50, 0, {"MemoryMode=100"}},
	{PM_MODE_MEMORY, 50, 10, {"MemoryMode=90", "Reserved=10"}},
	{PM_MODE_APPDIRECT, 50, 0, {"PersistentMemoryType=AppDirectNotInterleaved"}},
	{PM_MODE_FLAT, 50, 5, {"PersistentMemoryType=AppDirectNotInterleaved", "Reserved=5"}},
	{PM_MODE_MIXED, 25, 0, {"MemoryMode=25", "PersistentMemoryType=AppDirectNotInterleaved"}},
	{PM_MODE_MIXED, 1, 90,
		{"MemoryMode=1", "PersistentMemoryType=AppDirectNotInterleaved", "Reserved=90"}},
};

static void test_request(void)
{
	FOR_EACH(row, requests)
	{
		const struct pm_config config = {
			.appdirect_type = (char *)"AppDirectNotInterleaved",
			.mixed_percent = row->mixed,
			.reserved_percent = row->reserved};
		struct pm_goal_request request;
		size_t n = 0;

		pm_goal_request(pm_mode_info(row->mode), &config, &request);
		for (; row->words[n]; n++)
			is_text(request.words[n], row->words[n], pm_mode_name(row->mode));
		is_number((long long)request.n_words, (long long)n, "and no more words");
	}
}

static const struct {
	const char *file;
	enum pm_mode mode;
	int rc;
	const char *error;
} compared[] = {
	{"memory-goal-pending/goal.xml", PM_MODE_MEMORY, 0, ""},
	{"appdirect-goal-pending/goal.xml", PM_MODE_APPDIRECT, 0, ""},
	{"hand-made/goal-without-second.xml", PM_MODE_MEMORY, 0, ""},
	{"memory-goal-pending/goal.xml", PM_MODE_APPDIRECT, -ENODATA, "module 0x0001 of"},
	{"appdirect-goal-pending/goal.xml", PM_MODE_MEMORY, -ENODATA,
		"135291469824 bytes App Direct"},
	{"create-mixed.xml", PM_MODE_MEMORY, -ENODATA, "module 0x0001"},
	{"create-mixed.xml", PM_MODE_APPDIRECT, -ENODATA, "module 0x0001"},
	{"hand-made/goal-one-missing.xml", PM_MODE_MEMORY, -ENODATA, "module 0x0111 has 0 goals"},
	{"hand-made/goal-one-twice.xml", PM_MODE_MEMORY, -ENODATA, "module 0x0111 has 2 goals"},
	{"hand-made/goal-one-other.xml", PM_MODE_MEMORY, -ENODATA, "module 0x0211"},
	{"hand-made/goal-socket0-only.xml", PM_MODE_MEMORY, -ENODATA, "module 0x1001 has 0 goals"},
	{"appdirect/goal.xml", PM_MODE_MEMORY, -ENODATA, "module 0x0001 has 0 goals"},
	{"create-mixed.xml", PM_MODE_MIXED, 0, ""},
	{"memory-goal-pending/goal.xml", PM_MODE_MIXED, -ENODATA, "module 0x0001"},
};

static void test_compare(void)
{
	struct pm_dimms dimms;

	recorded_dimms("appdirect/dimm.xml", &dimms);
	FOR_EACH(row, compared)
	{
		const struct pm_goal_request request = request_of(row->mode);
		struct pm_goals goals;
		struct pm_err err = {0};
		int rc;

		recorded_goals(row->file, &goals);
		rc = pm_goal_compare(&request, &dimms, &goals, &err);
		is_number(rc, row->rc, row->file);
		has_text(err.text, row->error, "what differs");
		pm_goals_done(&goals);
	}
	pm_dimms_done(&dimms);
}

static void test_compare_edges(void)
{
	struct pm_dimms dimms;
	struct pm_goals goals;
	const struct pm_goal_request request = request_of(PM_MODE_MEMORY);
	const uint64_t slack = 135744454656 / 100 * 10 + (1ULL << 30);

	recorded_dimms("appdirect/dimm.xml", &dimms);
	recorded_goals("memory-goal-pending/goal.xml", &goals);
	goals.list[4].memory_bytes = 135744454656 / 100 * 100 - slack;
	is_number(pm_goal_compare(&request, &dimms, &goals, NULL), 0, "as small as allowed");
	goals.list[4].memory_bytes--;
	is_number(pm_goal_compare(&request, &dimms, &goals, NULL), -ENODATA, "too small");
	goals.list[4].memory_bytes = 135291469824;
	strcpy(goals.list[4].socket, "0x0001");
	is_number(pm_goal_compare(&request, &dimms, &goals, NULL), -ENODATA, "other socket");
	strcpy(goals.list[4].socket, "0x0000");
	strcpy(dimms.list[4].manageability, "Unmanageable");
	is_number(pm_goal_compare(&request, &dimms, &goals, NULL), -ENODATA,
		"a goal for a module that should have none");
	goals.list[4] = goals.list[--goals.n];
	is_number(pm_goal_compare(&request, &dimms, &goals, NULL), 0,
		"an unmanageable module needs no goal");
	pm_goals_done(&goals);
	dimms.n = 0;
	is_number(pm_goal_compare(&request, &dimms, &goals, NULL), -ENODATA, "no modules");
	pm_dimms_done(&dimms);
}

static void test_admit_dimms(void)
{
	struct pm_dimms dimms;
	struct pm_err err = {0};

	recorded_dimms("appdirect/dimm.xml", &dimms);
	is_number(pm_goal_admit_dimms(&dimms, &err), 0, "sound modules");
	strcpy(dimms.list[2].population_violation, "Yes");
	is_number(pm_goal_admit_dimms(&dimms, &err), -EPERM, "a wrong slot");
	has_text(err.text, "module 0x0101 has PopulationViolation 'Yes'", "is named");
	strcpy(dimms.list[2].manageability, "Unmanageable");
	is_number(pm_goal_admit_dimms(&dimms, &err), -EPERM, "unmanageable");
	has_text(err.text, "module 0x0101 has ManageabilityState", "is named first");
	pm_dimms_done(&dimms);
	recorded_dimms("locked/dimm.xml", &dimms);
	is_number(pm_goal_admit_dimms(&dimms, &err), -EPERM, "a locked module");
	has_text(
		err.text, "module 0x0011 has LockState 'Locked'; disable its security", "is named");
	pm_dimms_done(&dimms);
	recorded_dimms("unhealthy/dimm.xml", &dimms);
	is_number(pm_goal_admit_dimms(&dimms, &err), -EPERM, "an unhealthy module");
	has_text(err.text, "module 0x1101 has HealthState 'Noncritical failure'", "is named");
	pm_dimms_done(&dimms);
	is_number(pm_goal_admit_dimms(&dimms, &err), -EPERM, "no modules");
}

static void test_admit_mode(void)
{
	struct pm_capabilities both = {.allowed_volatile_mode = "1LM or 2LM"};
	struct pm_capabilities one = {.allowed_volatile_mode = "1LM"};
	struct pm_err err = {0};

	is_number(pm_goal_admit_mode(PM_MODE_MEMORY, &both, &err), 0, "Memory Mode with 2LM");
	is_number(pm_goal_admit_mode(PM_MODE_APPDIRECT, &one, &err), 0, "App Direct with 1LM");
	is_number(pm_goal_admit_mode(PM_MODE_MEMORY, &one, &err), -EPERM, "Memory Mode without");
	has_text(err.text, "AllowedVolatileMode is '1LM' and lacks 2LM", "says so");
}

int main(void)
{
	test_request();
	test_compare();
	test_compare_edges();
	test_admit_dimms();
	test_admit_mode();
	return tap_done();
}
