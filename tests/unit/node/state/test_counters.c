/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <sys/stat.h>

#include "node/state/counters.h"
#include "tests/unit/scratch.h"
#include "tests/unit/tap.h"

static struct pm_config config;

static struct pm_counters now(void)
{
	struct pm_counters got = {0};
	struct pm_err err = {0};

	is_number(pm_counters_read(&config, &got, &err), 0, "counters are read");
	return got;
}

static void test_changes(void)
{
	struct pm_counters got = now();

	is_number((long long)(got.done + got.failed + got.undone), 0, "no file is no change");
	pm_counters_add_change(&config, PM_JOURNAL_INTENT);
	pm_counters_add_change(&config, PM_JOURNAL_STAGED);
	pm_counters_add_change(&config, PM_JOURNAL_REBOOTING);
	pm_counters_add_change(&config, PM_JOURNAL_CLEARED);
	got = now();
	is_number((long long)(got.done + got.failed + got.undone), 0, "an open one does not count");
	pm_counters_add_change(&config, PM_JOURNAL_DONE);
	pm_counters_add_change(&config, PM_JOURNAL_DONE);
	pm_counters_add_change(&config, PM_JOURNAL_FAILED);
	pm_counters_add_change(&config, PM_JOURNAL_UNDONE);
	got = now();
	is_number((long long)got.done, 2, "done");
	is_number((long long)got.failed, 1, "failed");
	is_number((long long)got.undone, 1, "undone");
}

static void test_wipes(void)
{
	const struct pm_counters two = {.wipes = 2, .wiped_bytes = 1LL << 41, .wipe_ms = 900};
	const struct pm_counters bad = {.failed_wipes = 1, .wipe_ms = 100};
	struct pm_counters got;

	pm_counters_add_wipes(&config, &two);
	pm_counters_add_wipes(&config, &two);
	pm_counters_add_wipes(&config, &bad);
	got = now();
	is_number((long long)got.wipes, 4, "wipes");
	is_number((long long)got.failed_wipes, 1, "of these failed");
	is_number((long long)got.wiped_bytes, 1LL << 42, "bytes");
	is_number((long long)got.wipe_ms, 1900, "time, of those that failed, too");
	is_number((long long)got.done, 2, "changes are still counted");
}

static void test_bad_files(void)
{
	const char *path = scratch_file("counters.json", "{\"version\": 1");
	struct pm_counters got = {.done = 7};

	is_number(pm_counters_read(&config, &got, NULL), -EBADMSG, "a malformed file");
	is_number((long long)got.done, 7, "is not read");
	pm_counters_add_change(&config, PM_JOURNAL_DONE);
	is_number((long long)now().done, 1, "and begins again");
	is_number(chmod(path, 0666), 0, "a file that all may write");
	pm_counters_add_change(&config, PM_JOURNAL_DONE);
	is_number(pm_counters_read(&config, &got, NULL), -EPERM, "is not read, and not replaced");
	is_number(chmod(path, 0644), 0, "mended");
	is_number((long long)now().done, 1, "it has what it had");
}

int main(void)
{
	config.state_dir = (char *)scratch_dir();
	test_changes();
	test_wipes();
	test_bad_files();
	return tap_done();
}
