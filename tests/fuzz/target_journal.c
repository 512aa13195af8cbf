/* SPDX-License-Identifier: Apache-2.0 */
/* The journal; what can be read can be written and read again. */
#include "node/state/journal.h"
#include "tests/fuzz/fuzz.h"

static void check_again(const struct pm_journal *journal)
{
	cleanup_with(pm_journal_done) struct pm_journal again = {0};
	cleanup_free char *text = pm_journal_format(journal);
	struct pm_err err = {0};

	CHECK(text);
	pm_fuzz_set_file((const uint8_t *)text, strlen(text));
	CHECK(!pm_store_read(&pm_journal_store, PM_FUZZ_FILE, &again, &err));
	CHECK(again.state == journal->state && again.n_steps == journal->n_steps);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_with(pm_journal_done) struct pm_journal journal = {0};
	struct pm_err err = {0};
	int rc;

	pm_fuzz_set_file(data, size);
	rc = pm_store_read(&pm_journal_store, PM_FUZZ_FILE, &journal, &err);
	CHECK_RESULT(rc, err);
	CHECK_FITS(journal.boot_id);
	if (!rc)
		check_again(&journal);
	return 0;
}
