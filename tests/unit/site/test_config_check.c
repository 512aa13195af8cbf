/* SPDX-License-Identifier: Apache-2.0 */
#include "site/config_check.h"

#include <stdio.h>

#include "base/cleanup.h"
#include "tests/unit/scratch.h"
#include "tests/unit/tap.h"

static char told[4096];
static unsigned errors, remarks;

static void take(void *context, bool is_error, const char *text)
{
	size_t length = strlen(told);

	(void)context;
	*(is_error ? &errors : &remarks) += 1;
	snprintf(told + length, sizeof(told) - length, "%s\n", text);
}

static int check(const char *text, struct pm_config *ret)
{
	struct pm_err err;

	told[0] = '\0';
	errors = remarks = 0;
	return pm_config_check(scratch_file("pmem.conf", text), "n1", take, NULL, ret, &err);
}

static const struct {
	const char *name, *text;
	unsigned errors, remarks;
	const char *sentence;
} cases[] = {
	{"an empty file", "", 0, 0, ""},
	{"a line that cannot be read", "Modes=memory\nNonsense=1\n", 1, 0,
		"pmem.conf:2: unknown key 'Nonsense'"},
	{"a second one", "Nonsense=1\nDelayBoot=soon\nWipe=never\n", 3, 0,
		"pmem.conf:3: Wipe='never'"},
	{"one for another node", "NodeName=n2 MixedPercent=200\n", 1, 0,
		"pmem.conf:1: MixedPercent='200'"},
	{"one for a partition", "PartitionName=big Wipe=zero\n", 1, 0,
		"pmem.conf:1: Wipe= cannot differ by job"},
	{"shares that leave nothing", "MixedPercent=60 ReservedPercent=50\n", 1, 0,
		"leave nothing for App Direct"},
	{"a default that is not offered", "Modes=memory DefaultMode=flat\n", 1, 0,
		"pmem.conf:1: DefaultMode=flat is not one of Modes=memory"},
	{"one that is", "Modes=memory,flat DefaultMode=flat\n", 0, 0, ""},
	{"in a partition", "DefaultMode=flat\nPartitionName=a,b Modes=memory\n", 2, 0,
		"Modes=memory (/"},
	{"which says otherwise",
		"DefaultMode=flat\nPartitionName=a Modes=memory DefaultMode=memory\n", 0, 0, ""},
	{"a later line for all", "PartitionName=a DefaultMode=flat\nModes=memory\n", 1, 0,
		"in partition a"},
	{"a group of nowhere", "RebootUsers=none,@no-such-group,@root\n", 0, 1,
		"RebootUsers=@no-such-group: this machine has no such group"},
	{"a user of nowhere", "PartitionName=a,b RebootUsers=no-such-user\n", 0, 1,
		"RebootUsers=no-such-user: this machine has no such user"},
	{"a key twice", "DelayBoot=1\nDelayBoot=2\n", 0, 1,
		"pmem.conf:2: DelayBoot for all is on line 1, too"},
	{"for other nodes each", "NodeName=n1 Wipe=zero\nNodeName=n2 Wipe=zero\n", 0, 0, ""},
	{"for the same nodes", "NodeName=n1 Wipe=zero\nNodeName=n1 wipe=zero\n", 0, 1,
		"wipe for nodes n1 is on line 1, too"},
	{"for all and for some", "DelayBoot=1\nPartitionName=a DelayBoot=2\n", 0, 0, ""},
};

static void test_findings(void)
{
	FOR_EACH(row, cases)
	{
		cleanup_with(pm_config_done) struct pm_config config = {0};

		is_number(check(row->text, &config), 0, row->name);
		is_number(errors, row->errors, "its errors");
		/* The scratch directory may be one where others write. */
		ok(remarks == row->remarks ||
				(remarks == row->remarks + 1 && strstr(told, "root would not")),
			"its remarks: %s", told);
		ok(strstr(told, row->sentence) != NULL, "%s", *told ? told : "nothing");
	}
}

static void test_values(void)
{
	cleanup_with(pm_config_done) struct pm_config config = {0};

	is_number(check("Nonsense=1\nDelayBoot=7\n", &config), 0, "lines behind an error");
	is_number(config.delay_boot_s, 7, "count");
}

static void test_no_file(void)
{
	cleanup_with(pm_config_done) struct pm_config config = {0};
	struct pm_err err;

	ok(pm_config_check("/nonexistent/pmem.conf", "n1", take, NULL, &config, &err) < 0,
		"a file that is not there");
	ok(strstr(err.text, "/nonexistent/pmem.conf") != NULL, "is named");
}

int main(void)
{
	test_findings();
	test_values();
	test_no_file();
	return tap_done();
}
