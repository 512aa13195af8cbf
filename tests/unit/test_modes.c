/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/modes.h"
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
		ok(pm_mode_by_feature(row->feature) == row, "%s by its feature", row->name);
		ok(is_feature_name(row->feature), "%s is a name that Slurm takes", row->feature);
		ok(!(seen & (1u << row->mode)), "%s is there once", row->name);
		ok(row->memory_percent <= 100, "%s has a percentage", row->name);
		seen |= 1u << row->mode;
	}
	is_number(seen, 1 << PM_MODE_MEMORY | 1 << PM_MODE_APPDIRECT, "all modes have rows");
}

static void test_strangers(void)
{
	static const char *const names[] = {
		"", "Memory", "memory ", "pm_memory", "unknown", "flat"};
	char *all = pm_mode_names();

	FOR_EACH(name, names)
	ok(!pm_mode_by_name(*name), "'%s' is no mode", *name);
	ok(!pm_mode_by_name(NULL) && !pm_mode_by_feature(NULL), "NULL is no mode");
	ok(!pm_mode_by_feature("memory"), "a mode's name is no feature");
	ok(!pm_mode_info(PM_MODE_UNKNOWN) && !pm_mode_info(99), "unknown has no row");
	is_text(pm_mode_name(PM_MODE_UNKNOWN), "unknown", "but it has a name");
	is_text(all, "memory, appdirect", "all names in one line");
	free(all);
}

int main(void)
{
	test_rows();
	test_strangers();
	return tap_done();
}
