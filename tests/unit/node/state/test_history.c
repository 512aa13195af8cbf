/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "node/state/state.h"
#include "tests/unit/scratch.h"
#include "tests/unit/tap.h"

#define BOOT_1 "11111111-0000-0000-0000-000000000000"
#define BOOT_2 "22222222-0000-0000-0000-000000000000"

static unsigned warnings;
static char last_warning[PM_ERR_TEXT_MAX];

static void report(const struct pm_operation *op, enum pm_tone tone, const char *text)
{
	(void)op;
	warnings += tone == PM_TONE_WARNING;
	snprintf(last_warning, sizeof(last_warning), "%s", text);
}

static struct pm_operation operation(const char *state_dir)
{
	struct pm_operation op = {.name = "test", .report = report};

	mkdir(state_dir, 0755);
	op.config.state_dir = strdup(state_dir);
	return op;
}

/* A change that began `start` (hours and minutes) and was staged in `boot`. */
static void begin(struct pm_journal *journal, const char *start, const char *boot)
{
	pm_journal_begin(journal, PM_MODE_MEMORY, PM_MODE_APPDIRECT, boot, NULL);
	snprintf(journal->steps[0].time, sizeof(journal->steps[0].time), "2026-01-31T%s:00.000Z",
		start);
}

static void test_seconds(void)
{
	static const struct {
		const char *start, *end;
		long long seconds;
	} rows[] = {
		{"2026-01-31T12:00:00.000Z", "2026-01-31T12:05:01.999Z", 301},
		{"2026-02-28T23:59:59.000Z", "2026-03-01T00:00:01.000Z", 2},
		{"2026-01-31T12:00:00.000Z", "2026-01-31T11:00:00.000Z", 0},
		{"2026-01-31T12:00:00.000Z", "later", 0},
		{"2026-01-31", "2026-01-31T12:05:01.999Z", 0},
	};

	FOR_EACH(row, rows)
	{
		cleanup_with(pm_journal_done) struct pm_journal journal = {0};
		cleanup_with(pm_history_done) struct pm_history history = {0};

		begin(&journal, "12:00", BOOT_1);
		pm_journal_step(&journal, PM_JOURNAL_DONE, BOOT_2, "", NULL);
		strcpy(journal.steps[0].time, row->start);
		strcpy(journal.steps[1].time, row->end);
		pm_history_add(&history, &journal, NULL);
		is_number((long long)history.list[0].seconds, row->seconds, row->end);
	}
}

static void test_steps(void)
{
	struct pm_operation op = operation(scratch_path("steps"));
	cleanup_with(pm_journal_done) struct pm_journal journal = {0}, written = {0};
	cleanup_with(pm_history_done) struct pm_history history = {0};
	struct pm_err err = {0};

	begin(&journal, "12:00", BOOT_1);
	pm_journal_order(&journal, true);
	pm_state_step(&op, &journal, PM_JOURNAL_STAGED, BOOT_1, "written", &err);
	pm_state_step(&op, &journal, PM_JOURNAL_REBOOTING, BOOT_1, "reboot", &err);
	is_number(pm_state_read_history(&op.config, &history, &err), 0, "no file yet");
	is_number((long long)history.n, 0, "a change that goes on is not in the history");
	pm_state_step(&op, &journal, PM_JOURNAL_FAILED, BOOT_2, "goal rejected", &err);
	pm_state_step(&op, &journal, PM_JOURNAL_CLEARED, BOOT_2, "cleared", &err);
	is_number(pm_state_read_history(&op.config, &history, &err), 0, "read");
	is_number((long long)history.n, 1, "one that has ended is in it, once");
	is_text(history.list[0].start, "2026-01-31T12:00:00.000Z", "its start");
	is_text(history.list[0].end, journal.steps[3].time, "its end");
	is_text(history.list[0].boot_id, BOOT_1, "its boot");
	is_number(history.list[0].from, PM_MODE_APPDIRECT, "from");
	is_number(history.list[0].mode, PM_MODE_MEMORY, "to");
	is_number(history.list[0].for_job, true, "by whom");
	is_number(history.list[0].outcome, PM_JOURNAL_FAILED, "a cleared failure has failed");
	is_text(history.list[0].reason, "goal rejected", "its reason");
	is_number(pm_state_read_journal(&op.config, &written, &err), 0, "the journal is there");
	is_number(written.state, PM_JOURNAL_CLEARED, "and goes on");
	is_number(warnings, 0, "no warning");
	free(op.config.state_dir);
}

/* A crash after the history and before the journal: verify comes to an end again, perhaps to
 * another one. */
static void test_twice(void)
{
	struct pm_operation op = operation(scratch_path("twice"));
	cleanup_with(pm_history_done) struct pm_history history = {0};
	struct pm_err err;

	for (int run = 0; run < 2; run++) {
		cleanup_with(pm_journal_done) struct pm_journal journal = {0};

		begin(&journal, "12:00", BOOT_1);
		pm_state_step(&op, &journal, run ? PM_JOURNAL_DONE : PM_JOURNAL_FAILED, BOOT_2,
			"verified", &err);
	}
	for (int other = 0; other < 2; other++) {
		cleanup_with(pm_journal_done) struct pm_journal journal = {0};

		begin(&journal, other ? "13:00" : "12:00", other ? BOOT_1 : BOOT_2);
		pm_state_step(&op, &journal, PM_JOURNAL_UNDONE, BOOT_2, "withdrawn", &err);
	}
	pm_state_read_history(&op.config, &history, &err);
	is_number((long long)history.n, 3, "the same boot and start are the same change");
	is_number(history.list[0].outcome, PM_JOURNAL_DONE, "which ended as its last end says");
	ok(!history.list[0].reason, "without the reason of the first");
	is_number(history.list[2].outcome, PM_JOURNAL_UNDONE, "the newest is the last");
	free(op.config.state_dir);
}

static void test_bounded(void)
{
	cleanup_with(pm_history_done) struct pm_history history = {0}, back = {0};
	const char *path = scratch_path("bounded.json");
	char reason[PM_ERR_TEXT_MAX];
	struct pm_err err;

	memset(reason, '"', sizeof(reason) - 1);
	reason[sizeof(reason) - 1] = '\0';
	for (int i = 0; i < PM_HISTORY_MAX + 3; i++) {
		cleanup_with(pm_journal_done) struct pm_journal journal = {0};

		begin(&journal, "12:00", BOOT_1);
		snprintf(journal.steps[0].time, sizeof(journal.steps[0].time), "t%d", i);
		pm_journal_step(&journal, PM_JOURNAL_FAILED, BOOT_1, reason, NULL);
		pm_history_add(&history, &journal, NULL);
	}
	is_number((long long)history.n, PM_HISTORY_MAX, "no more than its bound");
	is_text(history.list[0].start, "t3", "the oldest went");
	is_text(history.list[PM_HISTORY_MAX - 1].start, "t258", "the newest is there");
	is_number(pm_store_write(&pm_history_store, path, &history, &err), 0,
		"with the longest reasons it fits into its file");
	is_number(pm_store_read(&pm_history_store, path, &back, &err), 0, "and is read again");
	is_number((long long)back.n, PM_HISTORY_MAX, "all of it");
}

static const struct {
	const char *text;
	int rc;
} malformed[] = {
	{"", -EBADMSG},
	{"{\"version\":1", -EBADMSG},
	{"{\"version\":2,\"changes\":[]}", -EPROTONOSUPPORT},
	{"{\"version\":1,\"changes\":[{\"start\":\"t\"}]}", -EBADMSG},
	{"[]", -EBADMSG},
};

static void test_malformed(void)
{
	FOR_EACH(row, malformed)
	{
		struct pm_operation op = operation(scratch_path("malformed"));
		cleanup_with(pm_journal_done) struct pm_journal journal = {0};
		cleanup_with(pm_history_done) struct pm_history history = {0};
		struct pm_err err = {0};

		scratch_file("malformed/history.json", row->text);
		warnings = 0;
		is_number(pm_state_read_history(&op.config, &history, &err), row->rc, row->text);
		begin(&journal, "12:00", BOOT_1);
		is_number(pm_state_step(&op, &journal, PM_JOURNAL_DONE, BOOT_2, "", &err), 0,
			"the change ends");
		is_number(warnings, 1, "with a warning");
		has_text(last_warning, "history.json.unreadable", "that names the old file");
		is_number(access(scratch_path("malformed/history.json.unreadable"), F_OK), 0,
			"which is kept");
		is_number(pm_state_read_history(&op.config, &history, &err), 0, "a new one");
		is_number((long long)history.n, 1, "has the change");
		free(op.config.state_dir);
	}
}

/* A directory stands where the file should be. */
static void test_not_written(void)
{
	struct pm_operation op = operation(scratch_path("blocked"));
	cleanup_with(pm_journal_done) struct pm_journal journal = {0}, back = {0};
	struct pm_err err = {0};

	mkdir(scratch_path("blocked/history.json"), 0755);
	warnings = 0;
	begin(&journal, "12:00", BOOT_1);
	is_number(pm_state_step(&op, &journal, PM_JOURNAL_DONE, BOOT_2, "", &err), 0,
		"a history that cannot be written fails no change");
	is_number(warnings, 1, "but warns");
	has_text(last_warning, "the change is not in the history: ", "and says so");
	is_number(pm_state_read_journal(&op.config, &back, &err), 0, "the journal");
	is_number(back.state, PM_JOURNAL_DONE, "has ended");
	free(op.config.state_dir);
}

int main(void)
{
	test_seconds();
	test_steps();
	test_twice();
	test_bounded();
	test_malformed();
	test_not_written();
	return tap_done();
}
