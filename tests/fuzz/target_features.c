/* SPDX-License-Identifier: Apache-2.0 */
/* A job's constraint expression. */
#include "site/features.h"
#include "tests/fuzz/fuzz.h"

/* One that is not about us allows every mode; and none is about us where "pm_" is nowhere. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_free char *expr = pm_fuzz_text(data, size);
	struct pm_features features = {0};
	struct pm_err err = {0};
	int rc = pm_features_read(expr, &features, &err);

	CHECK_RESULT(rc, err);
	CHECK(rc || features.mentioned || features.modes == ~0u);
	CHECK(!features.mentioned || pm_features_may_be_ours(expr));
	return 0;
}
