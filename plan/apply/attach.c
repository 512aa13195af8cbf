/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "plan/apply/attach.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/cpulist.h"

#define FD_MIN 100 /* scripts redirect small descriptors, as 3, that they have not opened */

#ifndef MFD_NOEXEC_SEAL /* Linux 6.3; vm.memfd_noexec=2 requires it */
#define MFD_NOEXEC_SEAL 8U
#endif

static int make_file(void)
{
	const unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
	int fd = memfd_create("slurm-pmem-ranks", flags | MFD_NOEXEC_SEAL);

	if (fd < 0 && errno == EINVAL)
		fd = memfd_create("slurm-pmem-ranks", flags);
	return fd < 0 ? -errno : fd;
}

static off_t offset_of_slot(unsigned slot)
{
	return (off_t)slot * (off_t)sizeof(pid_t);
}

static int put(int fd, unsigned slot, pid_t number)
{
	ssize_t length = pwrite(fd, &number, sizeof(number), offset_of_slot(slot));

	if (length < 0)
		return -errno;
	return length == (ssize_t)sizeof(number) ? 0 : -EIO;
}

static pid_t get(int fd, unsigned slot)
{
	pid_t number;

	return pread(fd, &number, sizeof(number), offset_of_slot(slot)) == (ssize_t)sizeof(number)
		       ? number
		       : 0;
}

/* Moves a descriptor to FD_MIN or above, if RLIMIT_NOFILE allows it. */
static int move_up(int fd)
{
	int moved = fcntl(fd, F_DUPFD_CLOEXEC, FD_MIN);

	if (moved < 0)
		return fd;
	close(fd);
	return moved;
}

int pm_attach_open(unsigned n)
{
	int fd = make_file();

	if (fd < 0)
		return fd;
	fd = move_up(fd);
	if (ftruncate(fd, offset_of_slot(n + 1)) ||
		fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)) {
		int rc = -errno;

		close(fd);
		return rc;
	}
	return fd;
}

bool pm_attach_is_supported(const char *runtime)
{
	cleanup_close int fd = open(runtime, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct stat info;
	void *text;
	bool found;

	if (fd < 0 || fstat(fd, &info) || !S_ISREG(info.st_mode) || !info.st_size)
		return false;
	text = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (text == MAP_FAILED)
		return false;
	found = memmem(text, (size_t)info.st_size, PM_ATTACH_FD, sizeof(PM_ATTACH_FD));
	munmap(text, (size_t)info.st_size);
	return found;
}

int pm_attach_expect(int fd, unsigned rank)
{
	if (fcntl(fd, F_SETFD, 0))
		return -errno;
	return put(fd, rank, getpid());
}

void pm_attach_forget(int fd, unsigned rank)
{
	(void)put(fd, rank, 0);
}

bool pm_attach_is_last(int fd, unsigned n)
{
	pid_t ended = get(fd, n) + 1;

	(void)put(fd, n, ended);
	return ended == (pid_t)n;
}

char *pm_attach_missing(int fd, unsigned n)
{
	cpu_set_t missing;

	CPU_ZERO(&missing);
	for (unsigned rank = 0; rank < n && rank < CPU_SETSIZE; rank++)
		if (get(fd, rank))
			CPU_SET(rank, &missing);
	return CPU_COUNT(&missing) ? pm_cpulist_format(&missing) : NULL;
}
