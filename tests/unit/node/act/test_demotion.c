/* SPDX-License-Identifier: Apache-2.0 */
/* The switch is a plain file here, in which a write replaces the first byte alone. */
#include <errno.h>
#include <fcntl.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "node/act/demotion.h"
#include "node/state/state.h"
#include "tests/unit/scratch.h"
#include "tests/unit/tap.h"

#define SWITCH "sys/kernel/mm/numa/demotion_enabled"

static const char boot[] = "11111111-2222-3333-4444-555555555555";
static struct pm_operation op;

static char switch_byte(void)
{
	cleanup_free char *text = NULL;

	return pm_file_read(AT_FDCWD, scratch_path(SWITCH), 100, &text, NULL, NULL) ? '?' : *text;
}

static bool is_owed_on_disk(void)
{
	cleanup_with(pm_os_journal_done) struct pm_os_journal journal = {0};

	return !pm_state_read_os_journal(&op.config, &journal, NULL) && journal.demotion;
}

static int follow(struct pm_os_journal *journal, enum pm_substate wanted, struct pm_err *err)
{
	pm_os_journal_begin(journal, wanted, boot);
	return pm_demotion_follow(&op, journal, err);
}

static void test_on_and_off(void)
{
	cleanup_with(pm_os_journal_done) struct pm_os_journal journal = {0};

	scratch_file(SWITCH, "false\n");
	is_number(follow(&journal, PM_SUBSTATE_FSDAX, NULL), 0, "file systems");
	is_number(switch_byte(), 'f', "do not care");
	is_number(follow(&journal, PM_SUBSTATE_FLAT, NULL), 0, "flat");
	is_number(switch_byte(), '1', "turns it on");
	ok(is_owed_on_disk(), "and remembers that after a crash");
	is_number(follow(&journal, PM_SUBSTATE_EMPTY, NULL), 0, "back");
	is_number(switch_byte(), '0', "turns it off");
	ok(!is_owed_on_disk(), "and forgets");
}

static void test_sites_own(void)
{
	cleanup_with(pm_os_journal_done) struct pm_os_journal journal = {0};

	scratch_file(SWITCH, "true\n");
	is_number(follow(&journal, PM_SUBSTATE_FLAT, NULL), 0, "flat where it is on");
	is_number(follow(&journal, PM_SUBSTATE_EMPTY, NULL), 0, "and back");
	is_number(switch_byte(), 't', "touches nothing");
}

static void test_off_already(void)
{
	cleanup_with(pm_os_journal_done) struct pm_os_journal journal = {0};

	scratch_file(SWITCH, "false\n");
	ok(!pm_demotion_is_on(&op.config), "it is off");
	is_number(follow(&journal, PM_SUBSTATE_FLAT, NULL), 0, "flat");
	scratch_file(SWITCH, "false\n");
	is_number(follow(&journal, PM_SUBSTATE_EMPTY, NULL), 0, "somebody has turned it off");
	is_number(switch_byte(), 'f', "it is not written again");
	ok(!is_owed_on_disk(), "and forgotten");
	scratch_file(SWITCH, "true\n");
	ok(pm_demotion_is_on(&op.config), "it is on");
}

static void test_old_kernel(void)
{
	cleanup_with(pm_os_journal_done) struct pm_os_journal journal = {0};
	struct pm_err err = {0};

	op.config.fs_root = (char *)scratch_path("none");
	is_number(follow(&journal, PM_SUBSTATE_FLAT, &err), -ENOENT, "a kernel without it");
	has_text(err.text, "may be killed", "what follows from that");
	is_number(follow(&journal, PM_SUBSTATE_EMPTY, &err), 0, "owes nothing");
}

int main(void)
{
	op.config.fs_root = (char *)scratch_dir();
	op.config.state_dir = (char *)scratch_dir();
	test_on_and_off();
	test_sites_own();
	test_off_already();
	test_old_kernel();
	return tap_done();
}
