/* SPDX-License-Identifier: Apache-2.0 */
/* The journal of sub-states; a new change can begin behind whatever was read. */
#include "node/state/os_journal.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_with(pm_os_journal_done) struct pm_os_journal journal = {0};
	struct pm_err err = {0};
	int rc;

	pm_fuzz_set_file(data, size);
	rc = pm_store_read(&pm_os_journal_store, PM_FUZZ_FILE, &journal, &err);
	CHECK_RESULT(rc, err);
	CHECK_FITS(journal.boot_id);
	CHECK_FITS(journal.policy);
	if (!rc) {
		pm_os_journal_begin(&journal, PM_SUBSTATE_FLAT, "b");
		CHECK(!pm_os_journal_add(&journal, "step", &err));
		CHECK(!pm_os_journal_end(&journal, "reason", &err));
	}
	return 0;
}
