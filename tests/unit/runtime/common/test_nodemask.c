/* SPDX-License-Identifier: Apache-2.0 */
/* The runtime's lists of NUMA nodes. */
#include "runtime/common/nodemask.h"

#include "tests/unit/tap.h"

static const struct {
	const char *text;
	bool good;
	unsigned long first; /* word of the set */
} lists[] = {
	{"0", true, 0x1},
	{"0-1", true, 0x3},
	{"2,4-5", true, 0x34},
	{"63", true, 1UL << 63},
	{"1023", true, 0},
	{"0-1023", true, ~0UL},
	{"", false, 7},
	{"1024", false, 7},
	{"99999999999999999999", false, 7},
	{"1-0", false, 7},
	{"-1", false, 7},
	{"0-", false, 7},
	{"0,", false, 7},
	{",0", false, 7},
	{"0 ", false, 7},
	{" 0", false, 7},
	{"+1", false, 7},
	{"0x1", false, 7},
	{"0,,1", false, 7},
	{"all", false, 7},
};

static void test_lists(void)
{
	FOR_EACH(row, lists)
	{
		struct pm_nodemask nodes = {.bits = {7}};

		is_number(pm_nodemask_parse(row->text, &nodes), row->good, row->text);
		ok(nodes.bits[0] == row->first, "its nodes");
	}
}

static void test_sets(void)
{
	struct pm_nodemask nodes = {0};

	ok(pm_nodemask_empty(&nodes), "an empty set");
	ok(pm_nodemask_parse("3,1023", &nodes) && !pm_nodemask_empty(&nodes), "a set of two");
	ok(pm_nodemask_isset(&nodes, 3) && pm_nodemask_isset(&nodes, 1023), "that holds them");
	ok(!pm_nodemask_isset(&nodes, 4) && !pm_nodemask_isset(&nodes, 1024), "and no others");
	ok(pm_nodemask_total_bytes(&nodes) == UINT64_MAX,
		"of nodes that are not there nothing is known");
	ok(pm_nodemask_bind(&nodes, &nodes, 1) < 0, "and nothing is bound to them");
}

static void test_memory(void)
{
	struct pm_nodemask nodes;

	pm_nodemask_parse("0", &nodes);
	if (pm_nodemask_total_bytes(&nodes) == UINT64_MAX) /* a kernel without NUMA */
		return;
	ok(pm_nodemask_total_bytes(&nodes) > UINT64_C(64) << 20, "node 0 has memory");
	ok(pm_nodemask_available_bytes(&nodes) < pm_nodemask_total_bytes(&nodes),
		"of which some is in use");
}

int main(void)
{
	test_lists();
	test_sets();
	test_memory();
	return tap_done();
}
