/* SPDX-License-Identifier: Apache-2.0 */
/* The history of changes; what can be read can be added to, written and read again. */
#include "node/state/history.h"
#include "tests/fuzz/fuzz.h"

static void add_change(struct pm_history *history)
{
	cleanup_with(pm_journal_done) struct pm_journal journal = {0};
	struct pm_err err = {0};

	CHECK(!pm_journal_begin(&journal, PM_MODE_MEMORY, PM_MODE_APPDIRECT, "b", &err));
	CHECK(!pm_journal_step(&journal, PM_JOURNAL_UNDONE, "b", "withdrawn", &err));
	CHECK(!pm_history_add(history, &journal, &err));
	CHECK(history->n && history->n <= PM_HISTORY_MAX);
}

static void check_again(struct pm_history *history)
{
	cleanup_with(pm_history_done) struct pm_history again = {0};
	cleanup_free char *text = NULL;
	struct pm_err err = {0};

	add_change(history);
	text = pm_history_format(history);
	CHECK(text);
	pm_fuzz_set_file((const uint8_t *)text, strlen(text));
	CHECK(!pm_store_read(&pm_history_store, PM_FUZZ_FILE, &again, &err));
	CHECK(again.n == history->n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_with(pm_history_done) struct pm_history history = {0};
	struct pm_err err = {0};
	int rc;

	pm_fuzz_set_file(data, size);
	rc = pm_store_read(&pm_history_store, PM_FUZZ_FILE, &history, &err);
	CHECK_RESULT(rc, err);
	CHECK(!rc || !history.n);
	if (!rc)
		check_again(&history);
	return 0;
}
