/* SPDX-License-Identifier: Apache-2.0 */
/* What daxctl prints. */
#include "node/tools/daxctl.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_with(pm_daxes_done) struct pm_daxes found = {0};
	cleanup_free char *text = pm_fuzz_text(data, size);
	struct pm_err err = {0};
	int rc = pm_daxctl_devices(text, size, &found, &err);

	CHECK_RESULT(rc, err);
	CHECK(!rc || (!found.n && !found.list));
	for (size_t i = 0; i < found.n; i++) {
		CHECK_FITS(found.list[i].chardev);
		CHECK_FITS(found.list[i].mode);
		CHECK(found.list[i].target_node >= -1);
	}
	return 0;
}
