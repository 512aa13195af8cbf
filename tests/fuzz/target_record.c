/* SPDX-License-Identifier: Apache-2.0 */
/* The record of this boot's mode, which any user's pmctl reads. */
#include "node/state/record.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pm_record record = {0};
	struct pm_err err = {0};
	int rc;

	pm_fuzz_set_file(data, size);
	rc = pm_record_read(PM_FUZZ_FILE, &record, &err);
	CHECK_RESULT(rc, err);
	CHECK_FITS(record.verdict.why);
	CHECK_FITS(record.kernel.boot_id);
	CHECK_FITS(record.time);
	if (!rc)
		CHECK(!pm_record_check(&record, &record.kernel, &err));
	return 0;
}
