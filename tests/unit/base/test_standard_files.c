/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program of which the caller has closed some standard files: the next file has none of their
 * numbers.
 */
#define _GNU_SOURCE
#include "base/standard_files.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/tap.h"

/* The number of the next file in such a program; 100: one of the three is not opened with `flags`.
 */
static int next_after(unsigned closed, int flags)
{
	int status;
	pid_t pid = fork();

	if (pid) {
		waitpid(pid, &status, 0);
		return WEXITSTATUS(status);
	}
	closefrom(STDERR_FILENO + 1);
	for (int fd = 0; fd <= STDERR_FILENO; fd++)
		if (closed & 1u << fd)
			close(fd);
	pm_standard_files_open(flags);
	for (int fd = 0; fd <= STDERR_FILENO; fd++)
		if (closed & 1u << fd && (fcntl(fd, F_GETFL) & O_ACCMODE) != flags)
			_exit(100);
	_exit(open("/", O_RDONLY));
}

static int write_to_closed(int flags)
{
	int status;
	pid_t pid = fork();

	if (pid) {
		waitpid(pid, &status, 0);
		return WEXITSTATUS(status);
	}
	close(STDOUT_FILENO);
	pm_standard_files_open(flags);
	_exit(write(STDOUT_FILENO, "x", 1) == 1);
}

int main(void)
{
	for (unsigned closed = 0; closed < 8; closed++)
		is_number(next_after(closed, O_RDWR), STDERR_FILENO + 1, "some are closed");
	is_number(next_after(7, O_RDONLY), STDERR_FILENO + 1, "all, for reading");
	is_number(write_to_closed(O_RDONLY), 0, "what is written fails, as before");
	is_number(write_to_closed(O_RDWR), 1, "or is lost");
	return tap_done();
}
