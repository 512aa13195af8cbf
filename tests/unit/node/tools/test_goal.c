/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>

#include "node/tools/goal.h"
#include "tests/unit/recorded.h"
#include "tests/unit/tap.h"

static const struct pm_capabilities capabilities = {.alignment_bytes = 1ULL << 30};

static struct pm_goal_request request_of(enum pm_mode mode)
{
	const struct pm_config config = {
		.appdirect_type = (char *)"AppDirect", .mixed_percent = 50};
	struct pm_goal_request request;

	pm_goal_request(pm_mode_info(mode), &config, &capabilities, &request);
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

		pm_goal_request(pm_mode_info(row->mode), &config, &capabilities, &request);
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
	{"memory-goal-pending/goal.xml", PM_MODE_APPDIRECT, -ENODATA, "module 0x0001 on socket"},
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
		rc = pm_goal_compare(&request, &dimms, &goals, NULL, &err);
		is_number(rc, row->rc, row->file);
		has_text(err.text, row->error, "what differs");
		pm_goals_done(&goals);
	}
	pm_dimms_done(&dimms);
}

static void test_compare_edges(void)
{
	const struct pm_goal_request request = request_of(PM_MODE_MEMORY);
	struct pm_dimms dimms;
	struct pm_goals goals;

	recorded_dimms("appdirect/dimm.xml", &dimms);
	recorded_goals("memory-goal-pending/goal.xml", &goals);
	goals.list[4].memory_bytes -= 1ULL << 30;
	is_number(pm_goal_compare(&request, &dimms, &goals, NULL, NULL), -ENODATA, "too small");
	is_number(pm_goal_compare(&request, &dimms, &goals, " 0x0001", NULL), -ENODATA,
		"another socket's CPU is limited");
	is_number(pm_goal_compare(&request, &dimms, &goals, " 0x0001 0x0000", NULL), 0,
		"its CPU is limited");
	goals.list[4].memory_bytes = 0;
	is_number(pm_goal_compare(&request, &dimms, &goals, " 0x0000", NULL), -ENODATA,
		"no CPU is limited to nothing");
	goals.list[4].memory_bytes = 136365211648;
	is_number(
		pm_goal_compare(&request, &dimms, &goals, " 0x0000", NULL), -ENODATA, "too large");
	goals.list[4].memory_bytes = 135291469824;
	strcpy(goals.list[4].socket, "0x0001");
	is_number(pm_goal_compare(&request, &dimms, &goals, NULL, NULL), -ENODATA, "other socket");
	strcpy(goals.list[4].socket, "0x0000");
	strcpy(dimms.list[4].manageability, "Unmanageable");
	is_number(pm_goal_compare(&request, &dimms, &goals, NULL, NULL), -ENODATA,
		"a goal for a module that should have none");
	goals.list[4] = goals.list[--goals.n];
	is_number(pm_goal_compare(&request, &dimms, &goals, NULL, NULL), 0,
		"an unmanageable module needs no goal");
	pm_goals_done(&goals);
	dimms.n = 0;
	is_number(pm_goal_compare(&request, &dimms, &goals, NULL, NULL), -ENODATA, "no modules");
	pm_dimms_done(&dimms);
}

static void test_limited(void)
{
	const struct pm_goal_request request = request_of(PM_MODE_MIXED);
	struct pm_dimms dimms;
	struct pm_goals goals;

	recorded_dimms("dimm-memory-reserved.xml", &dimms);
	recorded_goals("create-limited.xml", &goals);
	is_number(pm_goal_compare(&request, &dimms, &goals, NULL, NULL), -ENODATA, "no limit");
	is_number(pm_goal_compare(&request, &dimms, &goals, " 0x0000 0x0001", NULL), 0, "limits");
	pm_goals_done(&goals);
	pm_dimms_done(&dimms);
}

static void set_use(struct pm_dimms *dimms, uint64_t memory_gib, uint64_t appdirect_gib)
{
	for (size_t i = 0; i < dimms->n; i++) {
		dimms->list[i].memory_bytes = memory_gib << 30;
		dimms->list[i].appdirect_bytes = appdirect_gib << 30;
	}
}

static const struct {
	enum pm_mode mode;
	unsigned memory_gib, appdirect_gib;
	bool is_met;
} uses[] = {
	{PM_MODE_MIXED, 63, 63, true},
	{PM_MODE_MIXED, 63, 53, true},
	{PM_MODE_MIXED, 64, 62, true},
	{PM_MODE_MIXED, 65, 61, false},
	{PM_MODE_MIXED, 61, 65, false},
	{PM_MODE_MIXED, 63, 0, false},
	{PM_MODE_MIXED, 0, 0, true},
	{PM_MODE_MEMORY, 126, 0, true},
	{PM_MODE_MEMORY, 116, 0, true},
	{PM_MODE_MEMORY, 63, 63, false},
	{PM_MODE_APPDIRECT, 0, 126, true},
	{PM_MODE_APPDIRECT, 126, 0, false},
};

static void test_is_met(void)
{
	struct pm_dimms dimms;

	recorded_dimms("dimm-memory-reserved.xml", &dimms);
	FOR_EACH(row, uses)
	{
		const struct pm_goal_request request = request_of(row->mode);

		set_use(&dimms, row->memory_gib, row->appdirect_gib);
		ok(pm_goal_is_met(&request, &dimms) == row->is_met, "%s with %u and %u GiB",
			pm_mode_name(row->mode), row->memory_gib, row->appdirect_gib);
	}
	set_use(&dimms, 63, 63);
	dimms.list[11].memory_bytes += 2ULL << 30;
	ok(!pm_goal_is_met(&(struct pm_goal_request){.shares = {50, 0, 1ULL << 30}}, &dimms),
		"one module differs");
	pm_dimms_done(&dimms);
}

int main(void)
{
	test_request();
	test_compare();
	test_compare_edges();
	test_limited();
	test_is_met();
	return tap_done();
}
