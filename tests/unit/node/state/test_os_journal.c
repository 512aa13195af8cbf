/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>

#include "node/state/os_journal.h"
#include "tests/unit/scratch.h"
#include "tests/unit/tap.h"

static const char boot[] = "11111111-2222-3333-4444-555555555555";

static void test_life(void)
{
	struct pm_os_journal journal = {0}, got = {0};
	const char *path = scratch_path("substate.json");
	struct pm_err err = {0};

	is_number(pm_store_read(&pm_os_journal_store, path, &journal, &err), 0, "no file");
	is_number(journal.state, PM_OS_NONE, "is no change yet");
	pm_os_journal_begin(&journal, PM_SUBSTATE_FLAT, boot);
	pm_os_journal_add(&journal, "ndctl create-namespace", &err);
	strcpy(journal.policy, "online");
	journal.demotion = true;
	is_number(pm_store_write(&pm_os_journal_store, path, &journal, &err), 0, "written");
	is_number(pm_store_read(&pm_os_journal_store, path, &got, &err), 0, "and read");
	is_number(got.state, PM_OS_ACTING, "acting");
	is_number(got.wanted, PM_SUBSTATE_FLAT, "on flat");
	is_text(got.boot_id, boot, "in this boot");
	is_text(got.policy, "online", "the policy to put back");
	ok(got.demotion, "demotion to be turned off");
	is_number((long long)got.n_steps, 1, "a step");
	is_text(got.steps[0].text, "ndctl create-namespace", "its command");
	pm_os_journal_end(&got, "it failed", &err);
	pm_store_write(&pm_os_journal_store, path, &got, &err);
	pm_os_journal_done(&got);
	pm_store_read(&pm_os_journal_store, path, &got, &err);
	is_number(got.state, PM_OS_FAILED, "failed");
	is_text(got.reason, "it failed", "why");
	pm_os_journal_done(&got);
	pm_os_journal_done(&journal);
}

/* A crash has left the kernel changed: that is this boot's, and no later one's. */
static void test_debts_survive(void)
{
	struct pm_os_journal journal = {0};

	pm_os_journal_begin(&journal, PM_SUBSTATE_FLAT, boot);
	strcpy(journal.policy, "online");
	journal.demotion = true;
	pm_os_journal_begin(&journal, PM_SUBSTATE_EMPTY, boot);
	is_text(journal.policy, "online", "in the same boot the policy is kept");
	ok(journal.demotion, "and that demotion is ours");
	is_number((long long)journal.n_steps, 0, "the steps are not");
	pm_os_journal_begin(&journal, PM_SUBSTATE_EMPTY, "another boot");
	is_text(journal.policy, "", "after a reboot it is not");
	ok(!journal.demotion, "nor is demotion");
	pm_os_journal_done(&journal);
}

/* Bytes that were not wiped stay so over reboots. */
static void test_dirty_survives(void)
{
	struct pm_os_journal journal = {0}, got = {0};
	const char *path = scratch_path("dirty.json");

	pm_os_journal_begin(&journal, PM_SUBSTATE_EMPTY, boot);
	pm_os_journal_mark(&journal, 16271752734322008903ULL, NULL);
	pm_os_journal_mark(&journal, 7, NULL);
	pm_os_journal_mark(&journal, 7, NULL);
	pm_store_write(&pm_os_journal_store, path, &journal, NULL);
	is_number(pm_store_read(&pm_os_journal_store, path, &got, NULL), 0, "read");
	pm_os_journal_begin(&got, PM_SUBSTATE_FSDAX, "another boot");
	is_number((long long)got.n_dirty, 2, "two are dirty");
	ok(pm_os_journal_is_dirty(&got, 16271752734322008903ULL), "beyond INT64_MAX");
	pm_os_journal_unmark(&got, 7);
	ok(!pm_os_journal_is_dirty(&got, 7), "wiped");
	is_number((long long)got.n_dirty, 1, "one is left");
	pm_os_journal_done(&got);
	pm_os_journal_done(&journal);
}

static void test_refusals(void)
{
	static const char *const texts[] = {
		"",
		"{\"version\":1",
		"{\"version\":1,\"state\":\"none\"}",
		"{\"version\":1,\"state\":\"done\",\"wanted\":\"hot\",\"boot_id\":\"x\",\"steps\":["
		"]}",
		"{\"version\":1,\"state\":\"done\",\"wanted\":\"flat\",\"boot_id\":\"x\"}",
		"{\"version\":1,\"state\":\"done\",\"wanted\":\"flat\",\"boot_id\":\"x\",\"steps\":"
		"[{}]}",
		"{\"version\":1,\"state\":\"done\",\"wanted\":\"flat\",\"boot_id\":\"\",\"steps\":["
		"]}",
	};
	struct pm_os_journal journal = {0};
	struct pm_err err;

	FOR_EACH(text, texts)
	{
		is_number(pm_store_read(
				  &pm_os_journal_store, scratch_file("bad", *text), &journal, &err),
			-EBADMSG, *text);
		has_text(err.text, "the file is kept", "the sentence");
	}
}

int main(void)
{
	test_life();
	test_debts_survive();
	test_dirty_survives();
	test_refusals();
	return tap_done();
}
