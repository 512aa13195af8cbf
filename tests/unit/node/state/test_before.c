/* SPDX-License-Identifier: Apache-2.0 */
/* The files that a version before base/store.h wrote: each is read, and written again as it was, so
 * that a node can be upgraded and go back. */
#include <fcntl.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "node/state/jobs.h"
#include "node/state/journal.h"
#include "node/state/os_journal.h"
#include "node/state/pins.h"
#include "node/state/record.h"
#include "node/state/roster.h"
#include "tests/unit/scratch.h"
#include "tests/unit/tap.h"

#define BYTES_MAX 4096

/* Of the fixture: its copy, which has the owner and the mode that some readers want. */
static const char *old_file(const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "state/%s", name);
	return scratch_file(name, fixture(path, NULL));
}

static void is_same(const char *path, const char *name)
{
	cleanup_free char *text = NULL;
	char fixture_path[64];
	size_t length;

	snprintf(fixture_path, sizeof(fixture_path), "state/%s", name);
	is_number(pm_file_read(AT_FDCWD, path, BYTES_MAX, &text, &length, NULL), 0, name);
	is_text(text, fixture(fixture_path, NULL), "written as it was");
}

static void test_journal(const char *name, enum pm_journal_state state, bool for_job)
{
	cleanup_with(pm_journal_done) struct pm_journal journal = {0};
	const char *path = scratch_path("new-journal.json");

	is_number(pm_store_read(&pm_journal_store, old_file(name), &journal, NULL), 0, name);
	is_number(journal.state, state, "its state");
	is_number(journal.for_job, for_job, "who ordered it");
	is_number(pm_store_write(&pm_journal_store, path, &journal, NULL), 0, "written");
	is_same(path, name);
}

static void test_os_journal(void)
{
	cleanup_with(pm_os_journal_done) struct pm_os_journal journal = {0};
	const char *path = scratch_path("new-os-journal.json");

	is_number(pm_store_read(&pm_os_journal_store, old_file("os-journal.json"), &journal, NULL),
		0, "read");
	ok(pm_os_journal_is_dirty(&journal, 0xf1a2b3c4d5e6f708ULL), "a dirty interleave set");
	ok(journal.demotion && !strcmp(journal.policy, "online_movable"), "what goes back");
	is_number(pm_store_write(&pm_os_journal_store, path, &journal, NULL), 0, "written");
	is_same(path, "os-journal.json");
}

static void test_pins(void)
{
	cleanup_with(pm_pins_done) struct pm_pins pins = {0};
	const char *path = scratch_path("new-pins.json");

	is_number(pm_store_read(&pm_pins_store, old_file("pins.json"), &pins, NULL), 0, "read");
	ok(pm_pins_find(&pins, "c4708bbc-0000-4000-8000-000000000002"), "a pin without a name");
	is_number(pm_store_write(&pm_pins_store, path, &pins, NULL), 0, "written");
	is_same(path, "pins.json");
}

static void test_roster(void)
{
	cleanup_with(pm_dimms_done) struct pm_dimms roster = {0};
	const char *path = scratch_path("new-modules.json");

	is_number(pm_store_read(&pm_roster_store, old_file("modules.json"), &roster, NULL), 0,
		"read");
	is_number((long long)roster.n, 4, "all modules");
	is_number(pm_store_write(&pm_roster_store, path, &roster, NULL), 0, "written");
	is_same(path, "modules.json");
}

static void test_job(void)
{
	cleanup_with(pm_jobs_done) struct pm_jobs jobs = {0};
	const char *dir;

	scratch_file("jobs/1.json", fixture("state/job.json", NULL));
	dir = scratch_path("jobs");
	is_number(pm_jobs_read(dir, &jobs, NULL), 0, "read");
	is_number(jobs.list[0].state, PM_JOB_READY, "its state");
	is_number(pm_job_write(dir, &jobs.list[0], NULL), 0, "written");
	is_same(scratch_path("jobs/1.json"), "job.json");
}

/* Written anew at each boot, with its time. */
static void test_record(void)
{
	struct pm_record record = {0};

	is_number(pm_record_read(old_file("record.json"), &record, NULL), 0, "read");
	is_number(record.verdict.platform, PM_PLATFORM_MEMORY, "its mode");
}

int main(void)
{
	test_journal("journal.json", PM_JOURNAL_DONE, true);
	test_journal("journal-by-hand.json", PM_JOURNAL_FAILED, false);
	test_os_journal();
	test_pins();
	test_roster();
	test_job();
	test_record();
	return tap_done();
}
