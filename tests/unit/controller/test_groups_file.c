/* SPDX-License-Identifier: Apache-2.0 */
/* The users of the groups that pmem.conf names, of this machine's own /etc/group and /etc/passwd.
 */
#include "controller/groups_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/asprintf.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "tests/unit/scratch.h"
#include "tests/unit/tap.h"

static void test_text(void)
{
	const char *const names[] = {"root", "no-such-group", NULL};
	cleanup_free char *text = pm_groups_text(names);

	ok(text && !strncmp(text, "slurm-pmem-groups 1\nroot ", 25), "the form, and a group");
	ok(text && strstr(text, " root\n"), "a user with it as the primary group");
	ok(text && strstr(text, "\nno-such-group\n"), "a group that is not there has no users");
}

/* The file once the child that is started now has ended; the caller frees it. */
static char *after_turn(const char *config, const char *run_dir)
{
	struct pm_child child = {0};
	cleanup_free char *path = pm_asprintf("%s/groups", run_dir);
	char *text = NULL;

	pm_groups_turn(&child, config, run_dir);
	ok(child.pid > 0, "a child looks them up");
	for (int i = 0; child.pid && i < 1000; i++) {
		(void)usleep(10000);
		pm_groups_turn(&child, config, run_dir);
	}
	ok(!child.pid, "and ends");
	(void)pm_file_read(AT_FDCWD, path, 4096, &text, NULL, NULL);
	return text;
}

static void test_file(void)
{
	const char *config = scratch_path("pmem.conf"), *run_dir = scratch_dir();
	cleanup_free char *all = NULL, *kept = NULL;

	scratch_file("pmem.conf",
		"RebootUsers=alice,@root\nUser=@daemon,bob Account=x RebootUsers=@no-such-group\n");
	all = after_turn(config, run_dir);
	ok(all && strstr(all, "\nroot "), "of RebootUsers");
	ok(all && strstr(all, "\ndaemon "), "of a line's condition");
	ok(all && strstr(all, "\nno-such-group\n"), "of a line's RebootUsers");
	ok(all && !strstr(all, "alice") && !strstr(all, "bob"), "no users that lines name");
	scratch_file("pmem.conf", "Nonsense=1\n");
	kept = after_turn(config, run_dir);
	ok(kept && all && !strcmp(kept, all), "a file with an error leaves them");
}

static void test_reading(void)
{
	const char text[] = "slurm-pmem-groups 1\nstaff erin frank\nempty\nlast staff-x bob";

	ok(pm_groups_have(text, "staff", "erin") && pm_groups_have(text, "staff", "frank"),
		"the users of a group");
	ok(!pm_groups_have(text, "staff", "eri") && !pm_groups_have(text, "staff", "rank"),
		"not parts of their names");
	ok(!pm_groups_have(text, "staff", "bob") && pm_groups_have(text, "last", "bob"),
		"each line has its own");
	ok(!pm_groups_have(text, "empty", "erin") && !pm_groups_have(text, "staf", "erin"),
		"a group without users, and one that is not there");
	ok(!pm_groups_have(NULL, "staff", "erin") && !pm_groups_have(text, "staff", ""),
		"no file, and no user");
}

static void test_torn(void)
{
	const char *run_dir = scratch_dir();
	cleanup_free char *whole = NULL;

	scratch_file("groups", "slurm-pmem-groups 1\nstaff erin\n");
	whole = pm_groups_load(run_dir);
	ok(whole && pm_groups_have(whole, "staff", "erin"), "a whole file");
	scratch_file("groups", "slurm-pmem-groups 1\nstaff er");
	ok(!pm_groups_load(run_dir), "a torn one");
	scratch_file("groups", "");
	ok(!pm_groups_load(run_dir), "an empty one");
}

int main(void)
{
	test_reading();
	test_torn();
	test_text();
	test_file();
	return tap_done();
}
