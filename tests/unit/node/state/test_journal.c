/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>

#include "base/file.h"
#include "node/state/journal.h"
#include "tests/unit/scratch.h"
#include "tests/unit/tap.h"

#define BOOT_1 "11111111-0000-0000-0000-000000000000"
#define BOOT_2 "22222222-0000-0000-0000-000000000000"

static void make(struct pm_journal *journal)
{
	pm_journal_begin(journal, PM_MODE_MEMORY, PM_MODE_APPDIRECT, BOOT_1, NULL);
	pm_journal_step(journal, PM_JOURNAL_STAGED, BOOT_1, "goal \"written\"\n", NULL);
	pm_journal_step(journal, PM_JOURNAL_FAILED, BOOT_2, "goal rejected", NULL);
}

static void test_states(void)
{
	struct pm_journal journal = {0};

	for (int i = 0; i < PM_JOURNAL_STATE_MAX; i++) {
		bool open = i == PM_JOURNAL_INTENT || i == PM_JOURNAL_STAGED ||
			    i == PM_JOURNAL_REBOOTING;

		journal.state = (enum pm_journal_state)i;
		ok(pm_journal_is_open(&journal) == open, "%s is %s",
			pm_journal_state_name(journal.state), open ? "open" : "closed");
	}
}

static void test_round_trip(void)
{
	struct pm_journal journal = {0}, back = {0};
	const char *path = scratch_path("journal.json");
	struct pm_err err = {0};

	is_number(pm_store_read(&pm_journal_store, path, &back, &err), 0, "no journal yet");
	is_number(back.state, PM_JOURNAL_NONE, "is the state none");
	make(&journal);
	is_number(pm_store_write(&pm_journal_store, path, &journal, &err), 0, "written");
	is_number(pm_store_read(&pm_journal_store, path, &back, &err), 0, "read");
	is_number(back.state, PM_JOURNAL_FAILED, "state");
	is_number(back.mode, PM_MODE_MEMORY, "wanted");
	is_number(back.from, PM_MODE_APPDIRECT, "before");
	is_text(back.boot_id, BOOT_1, "boot");
	is_text(back.reason, "goal rejected", "reason");
	is_number((long long)back.n_steps, 3, "steps");
	is_text(back.steps[0].text, "change from appdirect to memory", "the first");
	is_text(back.steps[1].text, "goal \"written\"\n", "the second, with odd letters");
	is_text(back.steps[2].boot_id, BOOT_2, "the third's boot");
	is_text(back.steps[1].time, journal.steps[1].time, "a time");
	is_number((long long)strlen(back.steps[0].time), 24, "to the millisecond");
	pm_journal_step(&back, PM_JOURNAL_CLEARED, BOOT_2, "cleared", NULL);
	ok(!back.reason, "a state that is no failure has no reason");
	pm_journal_begin(&back, PM_MODE_APPDIRECT, PM_MODE_UNKNOWN, BOOT_2, NULL);
	is_number((long long)back.n_steps, 1, "a new change drops the old one");
	pm_journal_done(&back);
	pm_journal_done(&journal);
}

/* Every way to cut the file short, except its last newline, is seen, and the file is kept. */
static void test_truncated(void)
{
	struct pm_journal journal = {0}, back = {.mode = PM_MODE_MEMORY};
	unsigned accepted = 0, changed = 0;
	char *text;
	size_t length;

	make(&journal);
	text = pm_journal_format(&journal);
	length = strlen(text);
	for (size_t cut = 0; cut < length - 1; cut++) {
		char *copy = strndup(text, cut), *kept = NULL;
		const char *path = scratch_file("cut.json", copy);

		accepted += pm_store_read(&pm_journal_store, path, &back, NULL) != -EBADMSG;
		pm_file_read(AT_FDCWD, path, length, &kept, NULL, NULL);
		changed += !kept || strcmp(kept, copy);
		free(copy);
		free(kept);
	}
	is_number(accepted, 0, "no truncated journal is accepted");
	is_number(changed, 0, "each is kept as it was");
	is_number(back.mode, PM_MODE_MEMORY, "the result is untouched");
	free(text);
	pm_journal_done(&journal);
}

static const char good[] =
	"{\"version\":1,\"state\":\"staged\",\"mode\":\"memory\",\"from\":\"unknown\","
	"\"boot_id\":\"x\",\"steps\":[{\"time\":\"t\",\"boot_id\":\"x\",\"state\":\"staged\","
	"\"text\":\"\"}]}";

/* What is replaced in the good one, by what. */
static const struct {
	const char *old, *new;
} edits[] = {
	{"\"version\":1", "\"version\":2"},
	{"\"version\":1", "\"version\":\"1\""},
	{"\"state\":\"staged\",\"mode\"", "\"state\":\"none\",\"mode\""},
	{"\"state\":\"staged\",\"mode\"", "\"state\":\"intent\",\"mode\""},
	{"\"mode\":\"memory\"", "\"mode\":\"unknown\""},
	{"\"mode\":\"memory\"", "\"mode\":\"fast\""},
	{"\"from\":\"unknown\"", "\"from\":\"\""},
	{"\"boot_id\":\"x\",\"steps\"", "\"steps\""},
	{"\"steps\":", "\"ordered_by\":\"job\",\"steps\":"},
	{"[{\"time\"", "[{\"tim\""},
	{"\"text\":\"\"}]", "\"text\":\"\"},3]"},
	{"{\"version\"", "[{\"version\""},
	{"\"\"}]}", "\"\"}]} x"},
};

static void test_garbage(void)
{
	struct pm_journal back = {0};
	struct pm_err err = {0};

	is_number(pm_store_read(&pm_journal_store, scratch_file("g.json", good), &back, &err), 0,
		"a good one");
	pm_journal_done(&back);
	FOR_EACH(edit, edits)
	{
		const char *at = strstr(good, edit->old);
		char text[sizeof(good) + 64];
		const char *path;

		snprintf(text, sizeof(text), "%.*s%s%s", (int)(at - good), good, edit->new,
			at + strlen(edit->old));
		path = scratch_file("g.json", text);
		is_number(pm_store_read(&pm_journal_store, path, &back, &err),
			strstr(edit->new, "\"version\":2") ? -EPROTONOSUPPORT : -EBADMSG,
			edit->new);
		has_text(err.text, path, "the file is named");
	}
}

int main(void)
{
	test_states();
	test_round_trip();
	test_truncated();
	test_garbage();
	return tap_done();
}
