/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "node/state/jobview.h"
#include "tests/unit/scratch.h"
#include "tests/unit/tap.h"

static void test_round_trip(void)
{
	struct pm_jobview view = {.mode = PM_MODE_APPDIRECT}, back = {0};
	const char *path = scratch_path("12");
	struct pm_err err = {0};
	struct stat st;

	is_number(pm_jobview_add(&view, PM_ALLOTMENT_DIR, "/mnt/a b/socket0/job_12", 0), 0,
		"a place");
	is_number(pm_jobview_add(&view, PM_ALLOTMENT_DAX, "/dev/dax1.0", 1), 0, "another");
	is_number(pm_jobview_add(&view, PM_ALLOTMENT_NODE, "2", 1), 0, "a third");
	view.refused = strdup("you have asked for too much");
	umask(077);
	is_number(pm_jobview_write(path, &view, &err), 0, "written");
	stat(path, &st);
	is_number(st.st_mode & 07777, 0644, "everybody may read it");
	is_number(pm_jobview_read(path, &back, &err), 0, err.text);
	is_number(back.mode, PM_MODE_APPDIRECT, "mode");
	is_number((long long)back.n, 3, "places");
	for (size_t i = 0; i < back.n; i++) {
		is_text(back.allotments[i].value, view.allotments[i].value, "value");
		is_number(back.allotments[i].kind, view.allotments[i].kind, "kind");
		is_number(back.allotments[i].socket, view.allotments[i].socket, "socket");
	}
	is_text(back.refused, view.refused, "refused");
	pm_jobview_done(&view);
	pm_jobview_done(&back);
}

/* Each but the last is somebody else's. */
static void test_owner(void)
{
	static const struct {
		const char *name;
		uint32_t job_id;
		uid_t uid;
		const char *boot_id;
		int rc;
	} rows[] = {
		{"another job's", 13, 1000, "b2", -ESTALE},
		{"another user's", 12, 1001, "b2", -ESTALE},
		{"another boot's", 12, 1000, "b1", -ESTALE},
		{"of a version that did not say", 0, 0, "", -ESTALE},
		{"the job's own", 12, 1000, "b2", 0},
	};

	scratch_file("proc/sys/kernel/random/boot_id", "b2\n");
	ok(!mkdir(scratch_path("jobs"), 0755), "a place for views");
	FOR_EACH(row, rows)
	{
		struct pm_jobview view = {
			.mode = PM_MODE_MEMORY, .owner = {.job_id = row->job_id, .uid = row->uid}};
		struct pm_err err = {0};

		strcpy(view.owner.boot_id, row->boot_id);
		is_number(pm_jobview_write(scratch_path("jobs/12"), &view, &err), 0, "written");
		view.mode = PM_MODE_UNKNOWN;
		is_number(pm_jobview_read_of(scratch_dir(), 12, 1000, scratch_dir(), &view, &err),
			row->rc, row->name);
		is_number(view.mode, row->rc ? PM_MODE_UNKNOWN : PM_MODE_MEMORY, "is taken or not");
		pm_jobview_done(&view);
	}
}

static const struct bad {
	const char *name, *text;
} bad[] = {
	{"no newline at the end", "PM_MODE=memory"},
	{"no equals", "PM_MODE\n"},
	{"an empty line", "\n"},
	{"no such mode", "PM_MODE=fast\n"},
	{"mode twice", "PM_MODE=memory\nPM_MODE=memory\n"},
	{"job twice", "PM_JOB=1\nPM_JOB=2\n"},
	{"a job that is no number", "PM_JOB=1a\n"},
	{"boot twice", "PM_BOOT=a\nPM_BOOT=b\n"},
	{"a long boot", "PM_BOOT=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n"},
	{"another key", "PATH=/tmp\n"},
	{"a key that begins like ours", "PM_DIRX=/mnt\n"},
	{"begins with the second place", "PM_DIR1=/mnt\nPM_DIR1_SOCKET=0\n"},
	{"a gap", "PM_DIR0=/a\nPM_DIR0_SOCKET=0\nPM_DIR2=/b\nPM_DIR2_SOCKET=0\n"},
	{"no socket", "PM_DIR0=/a\n"},
	{"no socket before the next", "PM_DIR0=/a\nPM_DIR1=/b\nPM_DIR1_SOCKET=0\n"},
	{"socket of another kind", "PM_DIR0=/a\nPM_DAX0_SOCKET=0\n"},
	{"socket twice", "PM_DIR0=/a\nPM_DIR0_SOCKET=0\nPM_DIR0_SOCKET=0\n"},
	{"negative socket", "PM_DIR0=/a\nPM_DIR0_SOCKET=-1\n"},
	{"huge socket", "PM_DIR0=/a\nPM_DIR0_SOCKET=99999999999\n"},
	{"a relative path", "PM_DIR0=a\nPM_DIR0_SOCKET=0\n"},
	{"no path", "PM_DIR0=\nPM_DIR0_SOCKET=0\n"},
	{"a node that is no number", "PM_NODE0=all\nPM_NODE0_SOCKET=0\n"},
	{"a control byte", "PM_DIR0=/a\tb\nPM_DIR0_SOCKET=0\n"},
	{"refused by nothing", "PM_REFUSED=\n"},
	{"refused twice", "PM_REFUSED=a\nPM_REFUSED=b\n"},
};

static void test_bad(void)
{
	FOR_EACH(row, bad)
	{
		struct pm_jobview view = {.n = 77};
		struct pm_err err = {0};

		is_number(pm_jobview_parse(row->text, &view, &err), -EBADMSG, row->name);
		is_number((long long)view.n, 77, "and the result is untouched");
	}
}

static void test_later(void)
{
	struct pm_jobview view = {0};

	is_number(pm_jobview_parse("PM_LATER=1\nPM_MODE=memory\nPM_DIR0=/a\nPM_DIR0_SOCKET=0\n"
				   "PM_LATER2=/b\n",
			  &view, NULL),
		0, "words of a later version are skipped");
	is_number(view.mode, PM_MODE_MEMORY, "the mode is there");
	is_number((long long)view.n, 1, "and the allotment");
	pm_jobview_done(&view);
}

static void test_limits(void)
{
	struct pm_jobview view = {0};

	is_number(pm_jobview_add(&view, PM_ALLOTMENT_DIR, "/a\nPM_MODE=memory", 0), -EINVAL,
		"a newline in a path");
	is_number(pm_jobview_add(&view, PM_ALLOTMENT_DIR, "a", 0), -EINVAL, "a relative path");
	for (size_t i = 0; i < PM_ALLOTMENTS_MAX; i++)
		(void)pm_jobview_add(&view, PM_ALLOTMENT_NODE, "1", 0);
	is_number((long long)view.n, PM_ALLOTMENTS_MAX, "as many places as allowed");
	is_number(pm_jobview_add(&view, PM_ALLOTMENT_NODE, "1", 0), -E2BIG, "no more");
	view.refused = strdup("two\nlines");
	is_number(pm_jobview_write(scratch_path("x"), &view, NULL), -EINVAL,
		"a sentence of two lines");
	pm_jobview_done(&view);
}

static void test_files(void)
{
	const char *path = scratch_path("13"), *link = scratch_path("link");
	struct pm_jobview view = {0};
	struct pm_err err = {0};

	is_number(pm_jobview_read(path, &view, &err), -ENOENT, "no file");
	scratch_file("13", "");
	is_number(pm_jobview_read(path, &view, &err), 0, "an empty file");
	is_number((long long)view.n + view.mode, 0, "gives nothing");
	ok(!symlink(path, link), "a link");
	is_number(pm_jobview_read(link, &view, &err), -ELOOP, "is not followed");
	scratch_file("13", "PM_DIR0=/a\n");
	is_number(pm_jobview_read(path, &view, &err), -EBADMSG, "half a file");
	has_text(err.text, path, "is named");
	if (geteuid() == 0 && !chown(path, 65534, 65534))
		is_number(pm_jobview_read(path, &view, &err), -EPERM, "a file of somebody else's");
	scratch_file("14", "");
	ok(!chmod(scratch_path("14"), 0666), "a file that all may write");
	is_number(pm_jobview_read(scratch_path("14"), &view, &err), -EPERM, "is not believed");
}

int main(void)
{
	char *path = pm_jobview_path("/run/x", 4294967295u);

	is_text(path, "/run/x/jobs/4294967295", "where it is");
	free(path);
	test_round_trip();
	test_owner();
	test_bad();
	test_later();
	test_limits();
	test_files();
	return tap_done();
}
