/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>

#include "base/hostlist.h"
#include "tests/unit/tap.h"

static const struct {
	const char *list, *name;
	bool in;
} good[] = {
	{"n1", "n1", true},
	{"n1", "n10", false},
	{"n10", "n1", false},
	{"n1,n2", "n2", true},
	{"n[1-4,7]", "n1", true},
	{"n[1-4,7]", "n4", true},
	{"n[1-4,7]", "n7", true},
	{"n[1-4,7]", "n5", false},
	{"n[1-4,7]", "n", false},
	{"n[1-4,7]", "n01", false},
	{"n[1-4,7]", "n1x", false},
	{"n[01-10]", "n07", true},
	{"n[01-10]", "n7", false},
	{"n[01-10]", "n10", true},
	{"n[8-12]", "n10", true},
	{"n[8-12]-ib", "n10-ib", true},
	{"n[8-12]-ib", "n10", false},
	{"r[0-1]n[1-2]", "r1n2", true},
	{"r[0-1]n[1-2]", "r2n2", false},
	{"n[1-2]0", "n10", true},
	{"n[1-2]0", "n1", false},
	{"n[1-99][0-1]", "n990", true},
	{"x,n[1-2],y", "y", true},
	{"n[1-2]", "N1", false},
	{"a-b.c_d", "a-b.c_d", true},
	{"n[1-2]", "n99999999999999999999", false},
	/* tried one way after the other, this takes years */
	{"n[0-9,00-99][0-9,00-99][0-9,00-99][0-9,00-99][0-9,00-99][0-9,00-99][0-9,00-99]"
	 "[0-9,00-99][0-9,00-99][0-9,00-99][0-9,00-99][0-9,00-99][0-9,00-99][0-9,00-99]"
	 "[0-9,00-99][0-9,00-99][0-9,00-99][0-9,00-99][0-9,00-99][0-9,00-99]x",
		"n1111111111111111111111111111111111y", false},
	{"n[0-9,00-99][0-9,00-99][0-9,00-99][0-9,00-99][0-9,00-99][0-9,00-99]", "n111111111", true},
};

static const char *const bad[] = {"", ",", "n1,", ",n1", "n1,,n2", "n[", "n[]", "n[1", "n[1-]",
	"n[-1]", "n[2-1]", "n[1,]", "n[a-b]", "n1]", "[1-2]", "n 1", "n*", "n[1-2]]",
	"n[1234567890]"};

int main(void)
{
	FOR_EACH(row, good)
	{
		bool in = !row->in;
		int rc = pm_hostlist_contains(row->list, row->name, &in, NULL);

		ok(!rc && in == row->in, "%s is %s %s", row->name, row->in ? "in" : "not in",
			row->list);
	}
	FOR_EACH(list, bad)
	{
		struct pm_err err = {0};
		bool in = true;

		is_number(pm_hostlist_contains(*list, "n1", &in, &err), -EINVAL, *list);
		has_text(err.text, *list, "the error quotes it");
	}
	return tap_done();
}
