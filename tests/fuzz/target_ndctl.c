/* SPDX-License-Identifier: Apache-2.0 */
/* What ndctl prints. */
#include "node/tools/ndctl.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_with(pm_namespaces_done) struct pm_namespaces found = {0};
	cleanup_free char *text = pm_fuzz_text(data, size);
	struct pm_err err = {0};
	int rc = pm_ndctl_namespaces(text, size, &found, &err);

	CHECK_RESULT(rc, err);
	CHECK(!rc || (!found.n && !found.list));
	for (size_t i = 0; i < found.n; i++) {
		CHECK(*found.list[i].dev && found.list[i].size_bytes);
		CHECK_FITS(found.list[i].dev);
		CHECK_FITS(found.list[i].mode);
		CHECK_FITS(found.list[i].name);
	}
	return 0;
}
