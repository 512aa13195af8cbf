/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "plan/apply/attach.h"
#include "tests/unit/scratch.h"
#include "tests/unit/tap.h"

#define RANKS 5

static void missing_is(int fd, const char *expected, const char *name)
{
	char *text = pm_attach_missing(fd, RANKS);

	is_text(text, expected, name);
	free(text);
}

/* Attaches as a runtime does: pmrun(1). */
static void attach(int fd, unsigned rank)
{
	pid_t number = 0;
	off_t offset = rank * (off_t)sizeof(number);

	if (pread(fd, &number, sizeof(number), offset) == sizeof(number) && number == getpid()) {
		number = 0;
		ok(pwrite(fd, &number, sizeof(number), offset) == sizeof(number), "signed");
	}
}

static void attach_in_child(int fd, unsigned rank)
{
	pid_t child = fork();

	if (!child) {
		attach(fd, rank);
		_exit(0);
	}
	waitpid(child, NULL, 0);
}

static void test_ranks(int fd)
{
	missing_is(fd, NULL, "no rank is expected at first");
	for (unsigned rank = 1; rank < RANKS; rank++)
		is_number(pm_attach_expect(fd, rank), 0, "a rank");
	missing_is(fd, "1-4", "those that wait");
	attach_in_child(fd, 2);
	missing_is(fd, "1-4", "a child does not attach for its rank");
	attach(fd, 2);
	missing_is(fd, "1,3-4", "one has attached");
	pm_attach_forget(fd, 4);
	missing_is(fd, "1,3", "one will not run");
}

static void test_last(int fd)
{
	for (unsigned i = 1; i < RANKS; i++)
		ok(!pm_attach_is_last(fd, RANKS), "rank %u of %u is not the last", i, RANKS);
	ok(pm_attach_is_last(fd, RANKS), "the last is");
	missing_is(fd, "1,3", "the number of those that have ended is no rank");
}

static void test_descriptor(int fd)
{
	int other = pm_attach_open(1);

	is_number(fcntl(other, F_GETFD), FD_CLOEXEC, "closed on exec");
	is_number(fcntl(fd, F_GETFD), 0, "but in a rank");
	is_number(ftruncate(fd, 0) ? -errno : 0, -EPERM, "it cannot be made shorter");
	is_number(ftruncate(fd, 1 << 20) ? -errno : 0, -EPERM, "or longer");
	close(other);
}

static void test_told_by(void)
{
	static const char text[] = "\177ELF and " PM_ATTACH_FD;
	const char *path = scratch_path("told");

	is_number(pm_file_write(path, 0644, text, sizeof(text), NULL), 0, "a library");
	ok(pm_attach_is_supported(path), "it names the variable");
	ok(!pm_attach_is_supported(scratch_file("longer", PM_ATTACH_FD "S")),
		"a name that goes on");
	ok(!pm_attach_is_supported(scratch_file("none", "")), "an empty file");
	ok(!pm_attach_is_supported("/nonexistent"), "no file");
	ok(!pm_attach_is_supported("/dev/zero"), "a device");
}

int main(void)
{
	int fd = pm_attach_open(RANKS);

	ok(fd >= 0, "opened");
	test_ranks(fd);
	test_last(fd);
	test_descriptor(fd);
	test_told_by();
	return tap_done();
}
