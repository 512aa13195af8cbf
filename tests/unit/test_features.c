/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>

#include "lib/features.h"
#include "tests/unit/tap.h"

static const struct {
	const char *expr;
	bool in_memory, in_appdirect, in_mixed, in_unknown;
	bool mentions;
} good[] = {
	{NULL, true, true, true, true, false},
	{"", true, true, true, true, false},
	{"  ", true, true, true, true, false},
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
	{"rack1,pm_memory", true, false, false, false, true},
	{"pm_memory|pm_appdirect", true, true, false, false, true},
	{"pm_memory&pm_appdirect", false, false, false, false, true},
	{"(pm_memory|pm_appdirect)&rack1", true, true, false, false, true},
	{"(pm_memory)*4", true, false, false, false, true},
	{"pm_memory*2", true, false, false, false, true},
	{" pm_memory & rack1 ", true, false, false, false, true},
	/* from left to right, so not the same as a|(b&c) */
	{"pm_memory|rack1&pm_appdirect", false, true, false, false, true},
	{"((((pm_memory))))", true, false, false, false, true},
};

static const char *const bad[] = {
	"&",
	"pm_memory&",
	"|pm_memory",
	"pm_memory||rack",
	"(pm_memory",
	"pm_memory)",
	"()",
	"(pm_memory]",
	"[pm_memory",
	"pm_memory*",
	"pm_memory*x",
	"pm_memory rack",
	"pm;memory",
	"((((((((((((((((((((a))))))))))))))))))))",
};

static void test_good(void)
{
	FOR_EACH(row, good)
	{
		const bool expected[] = {
			[PM_MODE_UNKNOWN] = row->in_unknown,
			[PM_MODE_MEMORY] = row->in_memory,
			[PM_MODE_APPDIRECT] = row->in_appdirect,
			[PM_MODE_FLAT] = row->in_appdirect,
			[PM_MODE_MIXED] = row->in_mixed,
		};
		const char *expr = row->expr ? row->expr : "(null)";

		for (enum pm_mode mode = 0; mode <= PM_MODE_MIXED; mode++) {
			bool allowed = !expected[mode];
			int rc = pm_features_allow(row->expr, mode, &allowed, NULL);

			ok(!rc && allowed == expected[mode], "'%s' in %s is %s", expr,
				pm_mode_name(mode), expected[mode] ? "true" : "false");
		}
		ok(pm_features_mention(row->expr) == row->mentions, "'%s' %s us", expr,
			row->mentions ? "speaks of" : "is not about");
	}
}

static void test_bad(void)
{
	FOR_EACH(expr, bad)
	{
		struct pm_err err = {0};
		bool allowed = true;

		is_number(pm_features_allow(*expr, PM_MODE_MEMORY, &allowed, &err), -EINVAL, *expr);
		has_text(err.text, *expr, "the error quotes it");
		ok(allowed, "the result is untouched");
	}
}

int main(void)
{
	test_good();
	test_bad();
	return tap_done();
}
