/* SPDX-License-Identifier: Apache-2.0 */
/* pmem.conf as a whole, as the node n7 and as n1 read it; form and values. */
#include "site/config.h"
#include "tests/fuzz/fuzz.h"

static int load_as(const char *node)
{
	cleanup_with(pm_config_done) struct pm_config config = {0};
	struct pm_err err = {0};
	int rc = pm_config_load_for(PM_FUZZ_FILE, node, &config, &err);

	CHECK_RESULT(rc, err);
	for (int key = 0; !rc && key < PM_KEY_MAX; key++)
		CHECK(config.text[key] && config.origin[key]);
	return rc;
}

/* A line for another node is read as strictly: a file is good on all nodes or on none. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	pm_fuzz_set_file(data, size);
	CHECK(load_as("n7") == load_as("n1"));
	return 0;
}
