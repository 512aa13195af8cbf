/* SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "tests/unit/scratch.h"
#include "tests/unit/tap.h"

static unsigned count_entries(const char *path)
{
	DIR *dir = opendir(path);
	unsigned n = 0;

	while (dir && readdir(dir))
		n++;
	if (dir)
		closedir(dir);
	return n;
}

static void test_read(void)
{
	const char *path = scratch_file("ten", "0123456789");
	struct pm_err err = {0};
	char *text = NULL;
	size_t length = 0;

	is_number(pm_file_read(AT_FDCWD, path, 10, &text, &length, &err), 0, "as long as allowed");
	is_text(text, "0123456789", "is read");
	is_number((long long)length, 10, "with its length");
	free(text);
	text = NULL;
	is_number(pm_file_read(AT_FDCWD, path, 9, &text, NULL, &err), -EFBIG, "longer");
	has_text(err.text, "longer than 9 bytes", "is refused");
	is_number(pm_file_read(AT_FDCWD, scratch_path("no"), 9, &text, NULL, &err), -ENOENT,
		"missing");
	is_number(pm_file_read(AT_FDCWD, scratch_dir(), 9, &text, NULL, &err), -EISDIR,
		"a directory");
	ok(!text, "the result is untouched");
}

static void test_write(void)
{
	const char *path = scratch_path("w/file"), *dir = scratch_path("w");
	struct pm_err err = {0};
	struct stat st;
	char *text = NULL;

	umask(077);
	is_number(pm_file_make_dir(dir, 0755, &err), 0, "a directory is made");
	is_number(pm_file_make_dir(dir, 0700, &err), 0, "and may be there already");
	stat(dir, &st);
	is_number(st.st_mode & 07777, 0755, "as it was made, whatever the umask");
	is_number(pm_file_write(path, 0644, "one", 3, &err), 0, "a new file");
	is_number(pm_file_write(path, 0644, "second", 6, &err), 0, "is replaced");
	is_number(pm_file_read(AT_FDCWD, path, 100, &text, NULL, &err), 0, "read back");
	is_text(text, "second", "as a whole");
	free(text);
	stat(path, &st);
	is_number(st.st_mode & 07777, 0644, "with its mode");
	is_number(count_entries(dir), 3, "no temporary file is left");
	is_number(mkdir(scratch_path("w/dir"), 0755), 0, "a directory in the way");
	is_number(mkdir(scratch_path("w/dir/full"), 0755), 0, "that is not empty");
	ok(pm_file_write(scratch_path("w/dir"), 0644, "x", 1, &err) < 0, "cannot be replaced");
	is_number(count_entries(dir), 4, "no temporary file is left then either");
	is_number(pm_file_write(scratch_path("none/file"), 0644, "x", 1, &err), -ENOENT,
		"no directory");
	has_text(err.text, "none/file", "is named");
}

static void test_sweep(void)
{
	static const char *const kept[] = {"s/mode.json", "s/12", "s/12.json", "s/notes.backup",
		"s/mode.json.backup", "s/pins.a1b2c3", "s/.new.a1b2c3", "s/12.json.old", "s/lock",
		"s/12.abc", "s/12.new.a1b2c", "s/pins.new.a1b2.c", "s/pins.new"};
	char endless[PATH_MAX + 10] = "/";
	struct stat st;

	memset(endless, '/', sizeof(endless) - 1);
	is_number(pm_file_sweep_of(endless, NULL), -ENAMETOOLONG, "too long a path");
	is_number(pm_file_sweep(scratch_path("none"), NULL, NULL), 0, "no directory");
	is_number(pm_file_sweep_of(scratch_path("none/pins"), NULL), 0, "none of a file either");
	scratch_file("s/mode.json.new.a1B2c3", "x");
	scratch_file("s/12.new.a1B2c3", "x");
	scratch_file("s/12.json.new.XXXXXX", "x");
	scratch_file("s/pins.new.a1B2c3", "x");
	scratch_file("s/pins.new.backup", "x");
	FOR_EACH(name, kept)
	scratch_file(*name, "x");
	is_number(pm_file_sweep_of(scratch_path("s/pins"), NULL), 0, "what writers of one left");
	is_number(count_entries(scratch_path("s")), 2 + 13 + 3, "that of others is kept");
	is_number(pm_file_sweep(scratch_path("s"), NULL, NULL), 0, "what killed writers left");
	FOR_EACH(name, kept)
	ok(!stat(scratch_path(*name), &st), "%s is kept", *name);
	is_number(count_entries(scratch_path("s")), 2 + 13, "the rest is gone");
	is_number(pm_file_sweep(scratch_path("s/lock"), NULL, NULL), -ENOTDIR, "a file");
}

int main(void)
{
	test_read();
	test_write();
	test_sweep();
	return tap_done();
}
