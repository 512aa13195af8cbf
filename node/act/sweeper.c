/* SPDX-License-Identifier: Apache-2.0 */
#include "node/act/sweeper.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/asprintf.h"
#include "base/cleanup.h"
#include "node/act/background.h"
#include "node/act/mount.h"

#define END_MS	5000
#define TRIES	10
#define STEP_MS 50

/* Bytes of sweep.lock. */
enum { WORKS, WAITS };

static int open_lock(const struct pm_operation *op, struct pm_err *err)
{
	cleanup_free char *path = pm_asprintf("%s/sweep.lock", op->config.run_dir);
	int fd;

	if (!path)
		return pm_err_nomem(err);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	return fd < 0 ? pm_err_sys(err, -errno, "open '%s'", path) : fd;
}

static struct flock byte_of(int which, short type)
{
	return (struct flock){.l_type = type, .l_whence = SEEK_SET, .l_start = which, .l_len = 1};
}

/*
 * A pidfd of the process that has the byte locked, -1 if none has. The lock is read again after
 * pidfd_open(2), since the process may have ended and its number belong to another.
 */
static int holder_of(int fd, int which)
{
	struct flock lock = byte_of(which, F_WRLCK), again = lock;
	int pid_fd;

	if (fcntl(fd, F_GETLK, &lock) || lock.l_type == F_UNLCK || lock.l_pid <= 0)
		return -1;
	pid_fd = (int)syscall(SYS_pidfd_open, lock.l_pid, 0);
	if (pid_fd < 0)
		return -1;
	if (!fcntl(fd, F_GETLK, &again) && again.l_type != F_UNLCK && again.l_pid == lock.l_pid)
		return pid_fd;
	close(pid_fd);
	return -1;
}

static bool end_holder(int fd, int which)
{
	cleanup_close int pid_fd = holder_of(fd, which);
	struct pollfd ends = {.fd = pid_fd, .events = POLLIN};

	if (pid_fd < 0)
		return true;
	(void)syscall(SYS_pidfd_send_signal, pid_fd, SIGKILL, NULL, 0);
	return poll(&ends, 1, END_MS) == 1;
}

static int stop(const struct pm_operation *op, struct pm_err *err)
{
	cleanup_close int fd = open_lock(op, err);

	if (fd < 0)
		return fd;
	/* The waiting one first, or it would start to work when the other ends. */
	if (end_holder(fd, WAITS) && end_holder(fd, WORKS))
		return 0;
	return pm_err_set(
		err, -EBUSY, "'pmctl sweep' was killed but still runs in the kernel; see 'dmesg'");
}

/* Retried, as a `pmctl sweep` that has just been started has no lock yet and is not killed. */
int pm_sweeper_unmount(
	const struct pm_operation *op, const struct pm_inventory_region *region, struct pm_err *err)
{
	const struct timespec step = {.tv_nsec = STEP_MS * 1000000L};
	int rc = -EBUSY;

	for (int i = 0; rc == -EBUSY && i < TRIES; i++) {
		if (i)
			nanosleep(&step, NULL);
		rc = stop(op, err);
		if (!rc)
			rc = pm_file_system_unmount(region, err);
	}
	return rc;
}

int pm_sweeper_enter(const struct pm_operation *op, int *ret_fd, struct pm_err *err)
{
	struct flock waits = byte_of(WAITS, F_WRLCK), works = byte_of(WORKS, F_WRLCK);
	cleanup_close int fd = open_lock(op, err);

	if (fd < 0)
		return fd;
	if (fcntl(fd, F_SETLK, &waits))
		return errno == EAGAIN || errno == EACCES
			       ? pm_err_set(err, -EALREADY, "another 'pmctl sweep' waits already")
			       : pm_err_sys(err, -errno, "lock sweep.lock");
	if (fcntl(fd, F_SETLKW, &works))
		return pm_err_sys(err, -errno, "lock sweep.lock");
	waits.l_type = F_UNLCK; /* only now may another process wait */
	(void)fcntl(fd, F_SETLK, &waits);
	*ret_fd = fd;
	fd = -1;
	return 0;
}

void pm_sweeper_start(const struct pm_operation *op)
{
	pm_background_start(op, (const char *const[]){"sweep", NULL});
}
