/* SPDX-License-Identifier: Apache-2.0 */
/* A node name in the first line, a list of nodes in the rest. */
#include "base/hostlist.h"
#include "tests/fuzz/fuzz.h"

/* The list is well formed or not, whatever the name. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_free char *text = pm_fuzz_text(data, size);
	char *list = text;
	const char *name = strsep(&list, "\n");
	struct pm_err err = {0};
	bool found = false;
	int rc;

	if (!list)
		return 0;
	rc = pm_hostlist_contains(list, name, &found, &err);
	CHECK_RESULT(rc, err);
	CHECK(rc == pm_hostlist_contains(list, "", &found, &err));
	CHECK(rc || !found);
	return 0;
}
