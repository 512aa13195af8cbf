/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/drain_cause.h"
#include "tests/unit/tap.h"

static const struct {
	const char *reason, *cause;
} reasons[] = {
	{NULL, "none"},
	{"", "none"},
	{"pm: rebooting: flat memory of job 12 cannot be taken back", "rebooting"},
	{"pm: the node's mode is unknown: the persistent memory is not configured", "mode_unknown"},
	{"pm: prolog: the node's mode cannot be read: ipmctl failed", "mode_unknown"},
	{"pm: prolog: make devdax: ndctl failed", "prolog"},
	{"pm: epilog: wipe /dev/dax0.0: Input/output error", "epilog"},
	{"pm: goal memory was not applied at reboot; the node is in appdirect", "change_failed"},
	{"pmem: ansible: provision", "ansible"},
	{"reboot timed out", "reboot_timeout"},
	{"Not responding", "not_responding"},
	{"Low RealMemory (reported:3 < 100.00% of configured:4)", "low_memory"},
	{"Failed to set node feature(s): pm_memory", "features"},
	{"Reported active features (pm_flat) are not a superset", "features"},
	{"the fan, says anna: pm: prolog: ", "other"},
	{"pmx: the mode is unknown", "other"},
};

static void test_reasons(void)
{
	FOR_EACH(row, reasons)
	{
		is_text(pm_drain_cause(row->reason), row->cause,
			row->reason ? row->reason : "NULL");
	}
}

static void test_causes(void)
{
	const char *const *causes = pm_drain_causes();
	size_t n = 0;

	for (; causes[n]; n++)
		for (size_t i = 0; i < n; i++)
			ok(strcmp(causes[i], causes[n]) != 0, "'%s' stands once", causes[n]);
	is_number((long long)n, 12, "all causes");
	FOR_EACH(row, reasons)
	{
		size_t i = 0;

		while (causes[i] && strcmp(causes[i], row->cause))
			i++;
		ok(causes[i], "'%s' is one of them", row->cause);
	}
}

int main(void)
{
	test_reasons();
	test_causes();
	return tap_done();
}
