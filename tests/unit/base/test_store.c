/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file of the store is replaced by a process that is killed at each of its system calls, or to
 * which each of them fails. A kill shows nothing of the order in which a disk keeps things, so the
 * order of the calls is looked at by itself.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/lock.h"
#include "base/store.h"
#include "tests/unit/scratch.h"
#include "tests/unit/tap.h"

/* More than one page, so that a part of it would be a file that is cut. */
#define FILLING	       6000
#define MAX_CALLS      400
#define N_KEPT	       4 /* the file, the lock, the directory itself and its parent */
#define PATH_OF(name_) scratch_path("kept/" name_)

struct value {
	char name[16];
	char filling[FILLING];
	char *copy;
};

static const struct pm_field fields[] = {
	{"name", PM_FIELD_TEXT, PM_FIELD(struct value, name), .filled = true},
	{"filling", PM_FIELD_TEXT, PM_FIELD(struct value, filling)},
	{"copy", PM_FIELD_STRING, PM_FIELD(struct value, copy), .optional = true},
	{0},
};

/* A value that says so does not fit. */
static bool fits(const void *value)
{
	return strcmp(((const struct value *)value)->name, "misfit");
}

static const struct pm_store row = {
	.what = "a value",
	.oldest = 2,
	.version = 3,
	.mode = 0640,
	.max_bytes = 8000,
	.starts_empty = true,
	.size = sizeof(struct value),
	.fields = fields,
	.fits = fits,
};

static struct value value_of(const char *name)
{
	struct value value = {0};

	snprintf(value.name, sizeof(value.name), "%s", name);
	memset(value.filling, *name, sizeof(value.filling) - 1);
	return value;
}

static int write_name(const char *path, const char *name)
{
	struct value value = value_of(name);

	return pm_store_write(&row, path, &value, NULL);
}

/* The name in a file that is whole; "" for no file, "?" for one that is neither. */
static const char *name_in(const char *path)
{
	static struct value value;
	struct value whole;

	free(value.copy);
	value = (struct value){0};
	if (pm_store_read(&row, path, &value, NULL))
		return "?";
	whole = value_of(value.name);
	return !*value.name || !strcmp(value.filling, whole.filling) ? value.name : "?";
}

/* --- reading --- */

static void test_read(void)
{
	static const char *const bad[] = {"", "{", "[]", "{}", "{\"version\": 3}",
		"{\"version\": 1, \"name\": \"a\", \"filling\": \"\"}",
		"{\"version\": 3, \"name\": \"misfit\", \"filling\": \"\", \"copy\": \"x\"}",
		"{\"version\": \"3\", \"name\": \"a\", \"filling\": \"\"}",
		"{\"version\": 3, \"name\": \"a\", \"filling\": \"\"} more"};
	struct value value = value_of("untouched");
	struct pm_store must_exist = row;
	struct pm_err err = {0};
	const char *path;

	is_text(name_in(scratch_path("no")), "", "no file is empty");
	must_exist.starts_empty = false;
	is_number(pm_store_read(&must_exist, scratch_path("no"), &value, &err), -ENOENT,
		"or is an error");
	/* What was read of it is released: the address sanitizer looks. */
	FOR_EACH(text, bad)
	{
		path = scratch_file("bad", *text);
		is_number(pm_store_read(&row, path, &value, &err), -EBADMSG, *text);
		is_text(value.name, "untouched", "the value is not touched");
	}
	has_text(err.text, "truncated or not a value; the file is kept", "the sentence");
	path = scratch_file("later", "{\"version\": 4, \"words\": {\"of\": \"later\"}}");
	is_number(pm_store_read(&row, path, &value, &err), -EPROTONOSUPPORT, "a later version");
	has_text(err.text, "version 4 is of a newer slurm-pmem, this one reads 3", "is named");
	is_text(value.name, "untouched", "the value is not touched");
	ok(pm_store_is_newer(&row, path), "newer");
	ok(!pm_store_is_newer(&row, scratch_path("bad")), "a broken file is not");
	ok(!pm_store_is_newer(&row, scratch_path("no")), "nor is a missing one");
	path = scratch_file("old", "{\"version\": 2, \"name\": \"old\", \"filling\": \"\"}");
	is_number(pm_store_read(&row, path, &value, &err), 0, "the version before is read");
	is_text(value.name, "old", "as it is");
	free(value.copy);
}

static void test_ours(void)
{
	struct pm_store ours = row;
	struct value value;
	const char *path =
		scratch_file("ours", "{\"version\": 3, \"name\": \"ours\", \"filling\": \"\"}");

	ours.is_ours = true;
	chmod(path, 0644);
	is_number(pm_store_read(&ours, path, &value, NULL), 0, "ours");
	free(value.copy);
	is_number(pm_store_read(&ours, scratch_link("link", "ours"), &value, NULL), -ELOOP,
		"a link is not");
	chmod(path, 0664);
	is_number(
		pm_store_read(&ours, path, &value, NULL), -EPERM, "what a group may write is not");
}

static void test_bounds(void)
{
	const char *path = scratch_path("bounds");
	struct pm_store small = row;
	struct value value = value_of("longer one");
	struct pm_err err;
	struct stat st;

	umask(077);
	is_number(write_name(path, "first"), 0, "written");
	stat(path, &st);
	is_number(st.st_mode & 07777, 0640, "with its mode, whatever the umask");
	small.max_bytes = (size_t)st.st_size - 1;
	is_number(pm_store_write(&small, path, &value, &err), -EFBIG, "what could not be read");
	has_text(err.text, "longer than", "is refused");
	is_text(name_in(path), "first", "and the old one stays");
	is_number(pm_store_read(&small, path, &value, &err), -EFBIG, "nor is a longer one read");
}

static const char *text_of(const char *name)
{
	static char *text;
	size_t length;

	free(text);
	text = NULL;
	return pm_file_read(AT_FDCWD, scratch_path(name), 100, &text, &length, NULL) ? "" : text;
}

static void test_aside(void)
{
	const char *path = scratch_file("broken", "{");

	is_number(pm_store_set_aside(path, NULL), 0, "set aside");
	is_number(pm_store_set_aside(path, NULL), 0, "twice");
	is_text(name_in(path), "", "it is not there any more");
	is_text(name_in(scratch_path("broken.unreadable")), "?", "but kept");
	scratch_file("broken", "{\"second\"");
	is_number(pm_store_keep_aside(path, NULL), 0, "a second name for the next");
	is_text(name_in(path), "?", "it is there as before");
	unlink(path);
	scratch_file("broken", "{\"third\"");
	is_number(pm_store_set_aside(path, NULL), 0, "the third");
	is_text(text_of("broken.unreadable"), "{\"third\"", "the newest has the name");
	is_text(text_of("broken.unreadable.1"), "{", "the first is kept");
	is_text(text_of("broken.unreadable.2"), "{\"second\"", "the second, too");
	scratch_file("gone", "{");
	scratch_file("gone.new.a1b2c3", "{");
	is_number(pm_store_remove(scratch_path("gone"), NULL), 0, "removed");
	ok(access(scratch_path("gone"), F_OK) && access(scratch_path("gone.new.a1b2c3"), F_OK),
		"with what its writers left");
	is_number(pm_store_remove(scratch_path("gone"), NULL), 0, "twice");
}

/* --- a process that replaces the file --- */

/* As each program of ours does it: the lock, the file; the lock goes with the process. */
static void replace(const char *name)
{
	int fd = -1;
	int rc = pm_lock_take(PATH_OF("lock"), "test", 0, &fd, NULL);

	if (!rc)
		rc = write_name(PATH_OF("pins"), name);
	_exit(rc ? 1 : 0);
}

static pid_t start(const char *name)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	raise(SIGSTOP);
	replace(name);
	return 0;
}

/* Goes to the next entry or exit of a call; false: the process has ended, with *ret_status. */
static bool next_stop(pid_t pid, int *ret_status)
{
	ptrace(PTRACE_SYSCALL, pid, NULL, NULL);
	waitpid(pid, ret_status, 0);
	return WIFSTOPPED(*ret_status);
}

static long call_of(pid_t pid)
{
	struct user_regs_struct regs = {0};

	ptrace(PTRACE_GETREGS, pid, NULL, &regs);
	return (long)regs.orig_rax;
}

/* At the exit of a call. */
static bool has_renamed(pid_t pid)
{
	struct user_regs_struct regs = {0};

	ptrace(PTRACE_GETREGS, pid, NULL, &regs);
	return regs.orig_rax == SYS_rename && !regs.rax;
}

/* A process makes a few calls more or less each time: for memory and for random names. */
struct outcome {
	int status; /* as of waitpid() */
	long call;  /* that was met; -1: there were fewer */
	bool has_renamed;
};

static void set_registers(pid_t pid, bool is_made, int code)
{
	struct user_regs_struct regs;

	ptrace(PTRACE_GETREGS, pid, NULL, &regs);
	if (!is_made)
		regs.orig_rax = (unsigned long long)-1;
	else
		regs.rax = (unsigned long long)-(long long)code;
	ptrace(PTRACE_SETREGS, pid, NULL, &regs);
}

enum fate { KILL_BEFORE, KILL_AFTER, FAIL };

/* At the entry of the call: one that is to fail is not made. */
static void meet_entry(pid_t pid, enum fate fate)
{
	if (fate == KILL_BEFORE)
		kill(pid, SIGKILL);
	else if (fate == FAIL)
		set_registers(pid, false, 0);
}

static void meet_exit(pid_t pid, enum fate fate, int code)
{
	if (fate == KILL_AFTER)
		kill(pid, SIGKILL);
	else if (fate == FAIL)
		set_registers(pid, true, code);
}

/* Lets a process write `name`, and does this to its call number `n`, counted from 1. */
static struct outcome run(const char *name, unsigned n, enum fate fate, int code)
{
	struct outcome outcome = {.call = -1};
	pid_t pid = start(name);
	unsigned i = 0;

	waitpid(pid, &outcome.status, 0);
	while (next_stop(pid, &outcome.status)) {
		if (++i == n) {
			outcome.call = call_of(pid);
			meet_entry(pid, fate);
		}
		if (!next_stop(pid, &outcome.status))
			break;
		outcome.has_renamed |= has_renamed(pid);
		if (i == n)
			meet_exit(pid, fate, code);
	}
	return outcome;
}

static unsigned count_entries(const char *path)
{
	cleanup_dir DIR *dir = opendir(path);
	unsigned n = 0;

	while (dir && readdir(dir))
		n++;
	return n;
}

static bool is_lock_free(void)
{
	cleanup_close int fd = -1;

	return !pm_lock_take(PATH_OF("lock"), "test", 0, &fd, NULL);
}

/* Old or new, no lock, room for the next, nothing left: true when all hold. */
static bool is_well(const char *seen, const char *old, const char *new)
{
	bool whole = !strcmp(seen, old) || !strcmp(seen, new);
	bool can_go_on = is_lock_free() && !write_name(PATH_OF("pins"), "next");

	return whole && can_go_on && !strcmp(name_in(PATH_OF("pins")), "next") &&
	       count_entries(scratch_path("kept")) == N_KEPT;
}

static void test_killed(enum fate fate, const char *old)
{
	unsigned n = 0, n_old = 0, n_new = 0, n_bad = 0;
	struct outcome outcome;

	do {
		cleanup_free char *seen = NULL;

		(void)pm_store_remove(PATH_OF("pins"), NULL);
		if (*old)
			(void)write_name(PATH_OF("pins"), old);
		outcome = run("new", ++n, fate, 0);
		seen = strdup(name_in(PATH_OF("pins")));
		n_old += !strcmp(seen, old);
		n_new += !strcmp(seen, "new");
		if (!is_well(seen, old, "new") && !n_bad++)
			printf("# call %u is %ld: '%s'\n", n, outcome.call, seen);
	} while (outcome.call >= 0 && n < MAX_CALLS);
	is_number(n_bad, 0, fate == KILL_BEFORE ? "killed before each call" : "or after it");
	ok(n_old > 5 && n_new > 2 && n < MAX_CALLS, "%u times the old, %u the new", n_old, n_new);
}

/* Without these the file is replaced all the same: memory, time, what is closed. */
static bool may_fail(long call)
{
	static const long calls[] = {SYS_brk, SYS_mmap, SYS_munmap, SYS_mprotect, SYS_getrandom,
		SYS_clock_gettime, SYS_getpid, SYS_close, SYS_exit_group, SYS_rt_sigprocmask,
		SYS_gettid, SYS_tgkill, SYS_madvise, SYS_futex};

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (calls[i] == call)
			return true;
	return false;
}

/* An error, and the old file: but the new one when only its directory was not synced. */
static bool is_told(const struct outcome *outcome, const char *seen)
{
	bool failed = WIFEXITED(outcome->status) && WEXITSTATUS(outcome->status) == 1;

	if (outcome->call < 0 || may_fail(outcome->call))
		return true;
	return failed && !strcmp(seen, outcome->has_renamed ? "new" : "old");
}

static void test_failing(int code)
{
	unsigned n = 0, n_bad = 0, n_failed = 0;
	struct outcome outcome;

	do {
		cleanup_free char *seen = NULL;
		bool told, nothing_left;

		(void)write_name(PATH_OF("pins"), "old");
		outcome = run("new", ++n, FAIL, code);
		seen = strdup(name_in(PATH_OF("pins")));
		told = is_told(&outcome, seen);
		nothing_left = count_entries(scratch_path("kept")) == N_KEPT;
		n_failed += WIFEXITED(outcome.status) && WEXITSTATUS(outcome.status) == 1;
		if ((!is_well(seen, "old", "new") || !told || !nothing_left) && !n_bad++)
			printf("# call %u is %ld: '%s', status %d\n", n, outcome.call, seen,
				outcome.status);
	} while (outcome.call >= 0 && n < MAX_CALLS);
	is_number(n_bad, 0, strerror(code));
	ok(n_failed > 5 && n < MAX_CALLS, "%u of %u calls fail it", n_failed, n - 1);
}

/* "write sync rename sync": of the calls that change the file, repeated ones once. */
static void test_order(void)
{
	static const struct {
		long call;
		const char *name;
	} names[] = {{SYS_write, "write"}, {SYS_fchmod, "mode"}, {SYS_fsync, "sync"},
		{SYS_rename, "rename"}, {SYS_ftruncate, "cut"}, {SYS_unlinkat, "remove"}};
	char order[200] = "";
	pid_t pid = start("ordered");
	int status;

	waitpid(pid, &status, 0);
	while (next_stop(pid, &status)) {
		long call = call_of(pid);

		FOR_EACH(known, names)
		if (known->call == call)
			snprintf(order + strlen(order), sizeof(order) - strlen(order), "%s ",
				known->name);
		if (!next_stop(pid, &status))
			break;
	}
	is_text(order, "cut write mode sync rename sync ",
		"all of it is on disk before it has its name, then the name is");
}

int main(void)
{
	test_read();
	test_ours();
	test_bounds();
	test_aside();
	(void)mkdir(scratch_path("kept"), 0755);
	test_killed(KILL_BEFORE, "old");
	test_killed(KILL_AFTER, "old");
	test_killed(KILL_BEFORE, "");
	test_failing(EIO);
	test_failing(ENOSPC);
	test_order();
	return tap_done();
}
