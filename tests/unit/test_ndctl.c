/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>

#include "lib/ndctl.h"
#include "tests/unit/scratch.h"
#include "tests/unit/tap.h"

static const struct {
	const char *file;
	int rc;
	size_t n;
} cases[] = {
	{"nothing", 0, 0},
	{"seed-only.json", 0, 0},
	{"hand-made/empty-array.json", 0, 0},
	{"one-object.json", 0, 1},
	{"array-with-seed.json", 0, 2},
	{"hand-made/truncated.json", -EBADMSG, 0},
	{"hand-made/no-size.json", -EBADMSG, 0},
	{"hand-made/no-dev.json", -EBADMSG, 0},
	{"hand-made/negative.json", -EBADMSG, 0},
	{"hand-made/size-string.json", -EBADMSG, 0},
	{"hand-made/number.json", -EBADMSG, 0},
	{"hand-made/trailing.json", -EBADMSG, 0},
	{"hand-made/words.txt", -EBADMSG, 0},
};

static const char *recorded(const char *name, size_t *ret_length)
{
	char path[200];

	snprintf(path, sizeof(path), "ndctl/%s", name);
	return fixture(path, ret_length);
}

static void test_forms(void)
{
	FOR_EACH(row, cases)
	{
		struct pm_namespaces got = {0};
		struct pm_err err = {0};
		size_t length;
		const char *text = recorded(row->file, &length);

		is_number(pm_ndctl_namespaces(text, length, &got, &err), row->rc, row->file);
		is_number((long long)got.n, (long long)row->n, "how many");
		if (row->rc)
			has_text(err.text, "it printed: '", "what was printed is quoted");
		pm_namespaces_done(&got);
	}
}

static void test_fields(void)
{
	struct pm_namespaces got = {0};
	size_t length;
	const char *text = recorded("array-with-seed.json", &length);

	pm_ndctl_namespaces(text, length, &got, NULL);
	is_text(got.list[0].dev, "namespace1.0", "device");
	is_text(got.list[0].mode, "fsdax", "mode");
	is_text(got.list[0].name, "slurm-17", "name");
	is_text(got.list[1].name, "", "no name");
	is_number((long long)got.list[1].size_bytes, 4225761280, "size");
	pm_namespaces_done(&got);
}

int main(void)
{
	test_forms();
	test_fields();
	return tap_done();
}
