/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>

#include "node/tools/daxctl.h"
#include "tests/unit/scratch.h"
#include "tests/unit/tap.h"

static const struct {
	const char *file;
	int rc;
	size_t n;
} cases[] = {
	{"ndctl-81/empty.daxes.json", 0, 0},
	{"ndctl-81/one.daxes.json", 0, 1},
	{"ndctl-81/devdax.daxes.json", 0, 2},
	{"ndctl-81/flat.daxes.json", 0, 2},
	{"hand-made/dax-unmovable.json", 0, 1},
	{"hand-made/dax-no-size.json", -EBADMSG, 0},
	{"hand-made/dax-negative.json", -EBADMSG, 0},
	{"hand-made/dax-words.json", -EBADMSG, 0},
	{"hand-made/truncated.json", -EBADMSG, 0},
};

static int read_file(const char *file, struct pm_daxes *ret, struct pm_err *err)
{
	char path[200];
	size_t length;
	const char *text;

	snprintf(path, sizeof(path), "substate/%s", file);
	text = fixture(path, &length);
	return pm_daxctl_devices(text, length, ret, err);
}

static void test_forms(void)
{
	FOR_EACH(row, cases)
	{
		struct pm_daxes got = {0};
		struct pm_err err = {0};

		is_number(read_file(row->file, &got, &err), row->rc, row->file);
		is_number((long long)got.n, (long long)row->n, "how many");
		if (row->rc)
			has_text(err.text, "devices of daxctl expected", "what was expected");
		pm_daxes_done(&got);
	}
}

static void test_memory(void)
{
	struct pm_daxes got = {0};

	read_file("ndctl-81/flat.daxes.json", &got, NULL);
	is_text(got.list[1].chardev, "dax0.0", "device");
	ok(pm_dax_is_ram(&got.list[1]), "is memory");
	is_number(got.list[1].target_node, 2, "node");
	is_number((long long)got.list[1].online_blocks, 31, "online");
	is_number((long long)got.list[1].total_blocks, 31, "of");
	ok(got.list[1].is_movable, "movable");
	ok(!got.list[1].is_disabled, "has a driver");
	pm_daxes_done(&got);
	read_file("ndctl-81/flat-offline.daxes.json", &got, NULL);
	is_number((long long)got.list[1].online_blocks, 0, "offline");
	ok(!got.list[1].is_movable, "not said to be movable");
	pm_daxes_done(&got);
	read_file("hand-made/dax-unmovable.json", &got, NULL);
	ok(!got.list[0].is_movable, "said not to be movable");
	pm_daxes_done(&got);
}

static void test_without_driver(void)
{
	struct pm_daxes got = {0};

	read_file("ndctl-81/flat-disabled.daxes.json", &got, NULL);
	ok(got.list[1].is_disabled, "has no driver");
	ok(!pm_dax_is_ram(&got.list[1]), "is no memory");
	pm_daxes_done(&got);
}

int main(void)
{
	test_forms();
	test_memory();
	test_without_driver();
	return tap_done();
}
