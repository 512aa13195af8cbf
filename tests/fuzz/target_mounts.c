/* SPDX-License-Identifier: Apache-2.0 */
/* /proc/self/mountinfo: users choose the names of what they mount. */
#include "node/tools/mounts.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_with(pm_mounts_done) struct pm_mounts found = {0};
	cleanup_free char *text = pm_fuzz_text(data, size);
	struct pm_err err = {0};
	int rc = pm_mounts_read(text, &found, &err);

	CHECK_RESULT(rc, err);
	for (size_t i = 0; i < found.n; i++) {
		const struct pm_mount *seen = pm_mounts_at(&found, found.list[i].point);

		CHECK(seen && seen >= &found.list[i]);
		(void)pm_mount_has(&found.list[i], "dax=always");
	}
	return 0;
}
