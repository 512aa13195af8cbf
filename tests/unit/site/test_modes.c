/* SPDX-License-Identifier: Apache-2.0 */
#include "site/modes.h"
#include "tests/unit/tap.h"

static bool is_feature_name(const char *name)
{
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.=";

	return !strncmp(name, "pm_", 3) && !name[strspn(name, letters)];
}

static void test_rows(void)
{
	unsigned seen = 0;

	pm_mode_foreach(row) {
		ok(pm_mode_info(row->mode) == row, "%s is found by its number", row->name);
		ok(pm_mode_by_name(row->name) == row, "%s is found by its name", row->name);
		ok(pm_mode_by_feature(row->feature) == pm_mode_of_platform(row->platform),
			"%s's feature finds its platform", row->name);
		ok(is_feature_name(row->feature), "%s is a name that Slurm takes", row->feature);
		ok(!(seen & (1u << row->mode)), "%s is there once", row->name);
		is_number(pm_mode_platform(row->mode), row->platform, "its platform");
		seen |= 1u << row->mode;
	}
	is_number(seen,
		1 << PM_MODE_MEMORY | 1 << PM_MODE_APPDIRECT | 1 << PM_MODE_FLAT |
			1 << PM_MODE_MIXED,
		"all modes have rows");
}

static const struct {
	const char *feature, *name;
	enum pm_platform platform;
	enum pm_substate substate;
	bool has_volatile, has_regions;
} features[] = {
	{"pm_memory", "memory", PM_PLATFORM_MEMORY, PM_SUBSTATE_EMPTY, true, false},
	{"pm_appdirect", "appdirect", PM_PLATFORM_APPDIRECT, PM_SUBSTATE_FSDAX, false, true},
	{"pm_mixed", "mixed", PM_PLATFORM_MIXED, PM_SUBSTATE_FSDAX, true, true},
};

static void test_features(void)
{
	const struct pm_mode_info *flat = pm_mode_by_name("flat");

	FOR_EACH(row, features)
	{
		const struct pm_mode_info *mode = pm_mode_by_feature(row->feature);

		is_text(mode->name, row->name, row->feature);
		is_number(mode->platform, row->platform, "its platform");
		is_number(mode->substate, row->substate, "its sub-state");
		is_number(pm_platform_has_volatile(mode->platform), row->has_volatile, "volatile");
		is_number(pm_platform_has_regions(mode->platform), row->has_regions, "regions");
	}
	is_text(flat->feature, "pm_appdirect", "flat has App Direct's feature");
	is_number(flat->substate, PM_SUBSTATE_FLAT, "and a sub-state of its own");
}

static void test_platforms(void)
{
	for (int i = PM_PLATFORM_UNKNOWN; i <= PM_PLATFORM_MIXED; i++)
		is_number(pm_platform_by_name(pm_platform_name(i)), i, pm_platform_name(i));
	is_number(pm_platform_by_name("flat"), PM_PLATFORM_UNKNOWN, "flat is no platform mode");
	is_number(pm_platform_by_name(NULL), PM_PLATFORM_UNKNOWN, "NULL is none");
	is_text(pm_platform_name(99), "unknown", "out of range");
	ok(!pm_mode_of_platform(PM_PLATFORM_UNKNOWN), "unknown has no mode");
	is_number(pm_mode_platform(PM_MODE_UNKNOWN), PM_PLATFORM_UNKNOWN, "and no platform");
}

static void test_strangers(void)
{
	static const char *const names[] = {
		"", "Memory", "memory ", "pm_memory", "unknown", "empty"};
	char *all = pm_mode_names();

	FOR_EACH(name, names)
	ok(!pm_mode_by_name(*name), "'%s' is no mode", *name);
	ok(!pm_mode_by_name(NULL) && !pm_mode_by_feature(NULL), "NULL is no mode");
	ok(!pm_mode_by_feature("memory"), "a mode's name is no feature");
	ok(!pm_mode_info(PM_MODE_UNKNOWN) && !pm_mode_info(99), "unknown has no row");
	is_text(pm_mode_name(PM_MODE_UNKNOWN), "unknown", "but it has a name");
	is_text(all, "memory, appdirect, flat, mixed", "all names in one line");
	free(all);
}

int main(void)
{
	test_rows();
	test_features();
	test_platforms();
	test_strangers();
	return tap_done();
}
