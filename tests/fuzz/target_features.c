/* SPDX-License-Identifier: Apache-2.0 */
/* A job's constraint expression in every mode. */
#include "lib/features.h"
#include "tests/fuzz/fuzz.h"

/* It is well formed or not, whatever the mode; and one that is not about us allows every mode. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_free char *expr = pm_fuzz_text(data, size);
	bool allowed = false, mentioned = pm_features_mention(expr);
	struct pm_err err = {0};
	int first = pm_features_allow(expr, PM_MODE_UNKNOWN, &allowed, &err);

	pm_mode_foreach(row) {
		int rc = pm_features_allow(expr, row->mode, &allowed, &err);

		CHECK_RESULT(rc, err);
		CHECK(rc == first);
		CHECK(rc || mentioned || allowed);
	}
	return 0;
}
