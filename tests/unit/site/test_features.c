/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>

#include "site/features.h"
#include "tests/unit/tap.h"

static const struct {
	const char *expr;
	bool in_memory, in_appdirect, in_mixed, in_unknown;
	bool mentions;
} good[] = {
	{NULL, true, true, true, true, false},
	{"", true, true, true, true, false},
	{"rack1", true, true, true, true, false},
	{"rack1|rack2", true, true, true, true, false},
	{"[rack1|rack2]", true, true, true, true, false},
	{"[rack1*2&rack2*1]", true, true, true, true, false},
	{"pm_memory", true, false, false, false, true},
	{"pm_appdirect", false, true, false, false, true},
	{"pm_mixed", false, false, true, false, true},
	{"pm_flat", false, false, false, false, true},
	{"pm_memory2", false, false, false, false, true},
	{"pm_mem", false, false, false, false, true},
	{"xpm_memory", true, true, true, true, false},
	{"rack1&pm_memory", true, false, false, false, true},
	{"rack-1,pm_memory", true, false, false, false, true},
	{"pm_memory|pm_appdirect", true, true, false, false, true},
	{"pm_memory&pm_appdirect", false, false, false, false, true},
	{"(pm_memory|pm_appdirect)&rack1", true, true, false, false, true},
	{"(pm_memory)*4", true, false, false, false, true},
	{"pm_memory*2", true, false, false, false, true},
	{"pm_memory|rack1", true, true, true, true, true},
};

/* With where they are refused. */
static const struct {
	const char *expr, *sentence;
} bad[] = {
	{"  ", "a feature expected at character 1, not ' '"},
	{"&", "a feature expected at character 1, not '&'"},
	{"pm_memory&", "a feature expected at character 11, not the end"},
	{"|pm_memory", "a feature expected at character 1, not '|'"},
	{"pm_memory||rack", "a feature expected at character 11, not '|'"},
	{"(pm_memory", "')' expected at character 11, not the end"},
	{"pm_memory)", "'&' or '|' expected at character 10, not ')'"},
	{"()", "a feature expected at character 2, not ')'"},
	{"(pm_memory]", "')' expected at character 11, not ']'"},
	{"[pm_memory", "']' expected at character 11, not the end"},
	{"pm_memory*", "a count expected at character 11, not the end"},
	{"pm_memory*x", "a count expected at character 11, not 'x'"},
	{"pm_memory rack", "'&' or '|' expected at character 10, not ' '"},
	{" pm_memory & rack1 ", "a feature expected at character 1, not ' '"},
	{"pm_memory\t", "'&' or '|' expected at character 10, not byte 0x09"},
	{"!pm_memory", "a feature expected at character 1, not '!'"},
	{"((((pm_memory))))", "a feature expected at character 2, not '('"},
	{"((((((((((((((((((((a))))))))))))))))))))", "a feature expected at character 2, not '('"},
	/* 22.05 reads (a|b)&c from left to right, 24.11 a|(b&c) */
	{"pm_memory|rack1&pm_appdirect",
		"'(' and ')' around the alternatives expected at character 16, not '&'"},
};

static void test_good(void)
{
	FOR_EACH(row, good)
	{
		const bool wanted[] = {
			[PM_MODE_UNKNOWN] = row->in_unknown,
			[PM_MODE_MEMORY] = row->in_memory,
			[PM_MODE_APPDIRECT] = row->in_appdirect,
			[PM_MODE_FLAT] = row->in_appdirect,
			[PM_MODE_MIXED] = row->in_mixed,
		};
		const char *expr = row->expr ? row->expr : "(null)";
		struct pm_features features = {0};

		is_number(pm_features_read(row->expr, &features, NULL), 0, expr);
		for (enum pm_mode mode = 0; mode <= PM_MODE_MIXED; mode++)
			ok(pm_features_allow(&features, mode) == wanted[mode], "'%s' in %s is %s",
				expr, pm_mode_name(mode), wanted[mode] ? "true" : "false");
		ok(features.mentioned == row->mentions, "'%s' %s us", expr,
			row->mentions ? "speaks of" : "is not about");
	}
}

static void test_bad(void)
{
	FOR_EACH(row, bad)
	{
		struct pm_features features = {.modes = 42};
		struct pm_err err = {0};

		is_number(pm_features_read(row->expr, &features, &err), -EINVAL, row->expr);
		has_text(err.text, row->expr, "the error quotes it");
		has_text(err.text, row->sentence, "the error says where");
		ok(features.modes == 42, "the result is untouched");
	}
}

static void test_ours(void)
{
	ok(pm_features_is_ours("pm_memory") && pm_features_is_ours("pm_x"), "ours");
	ok(!pm_features_is_ours("xpm_memory") && !pm_features_is_ours("pm"), "not ours");
	ok(pm_features_may_be_ours("rack\"pm_memory"), "an unreadable one may be ours");
	ok(!pm_features_may_be_ours("rack\"") && !pm_features_may_be_ours(NULL), "or not");
}

int main(void)
{
	test_good();
	test_bad();
	test_ours();
	return tap_done();
}
