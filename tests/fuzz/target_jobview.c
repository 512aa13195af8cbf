/* SPDX-License-Identifier: Apache-2.0 */
/* What a job was given, which the plugin reads in each of its tasks. */
#include "node/state/jobview.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_with(pm_jobview_done) struct pm_jobview view = {0};
	cleanup_free char *text = pm_fuzz_text(data, size);
	struct pm_err err = {0};
	int rc = pm_jobview_parse(text, &view, &err);

	CHECK_RESULT(rc, err);
	CHECK(!rc || (!view.n && !view.allotments));
	CHECK(view.n <= PM_ALLOTMENTS_MAX);
	for (size_t i = 0; i < view.n; i++) {
		const char *value = view.allotments[i].value;

		CHECK(view.allotments[i].socket >= 0 && !strchr(value, '\n'));
		CHECK(view.allotments[i].kind == PM_ALLOTMENT_NODE || *value == '/');
	}
	return 0;
}
