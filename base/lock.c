/* SPDX-License-Identifier: Apache-2.0 */
#include "base/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/holder.h"
#include "base/run.h"

#define STEP_MS 50

/* "pmctl set (pid 4711)", as the holder wrote it; "" until it has written it. */
static char *read_signature(int fd)
{
	char text[64] = "";
	ssize_t length = pread(fd, text, sizeof(text) - 1, 0);

	return pm_quote(text, length > 0 ? (size_t)length : 0, sizeof(text));
}

/* A killed holder leaves the lock to a tool that it has started, see base/run.h. */
static int report_holder(int fd, const char *path, struct pm_err *err)
{
	cleanup_free char *signature = read_signature(fd), *tool = NULL;
	const char *holder = signature && *signature ? signature : "another pmctl";
	const char *pid = strstr(holder, "(pid ");
	int tool_pid = 0;

	if (pid && !pm_holder_is(atoi(pid + strlen("(pid ")), fd))
		tool = pm_holder_find(fd, &tool_pid);
	if (!tool)
		return pm_err_set(err, -EBUSY, "lock '%s': held by %s", path, holder);
	return pm_err_set(err, -EBUSY, "lock '%s': held by '%s' (pid %d), left behind by %s", path,
		tool, tool_pid, holder);
}

static int sign(int fd, const char *path, const char *verb, struct pm_err *err)
{
	char text[64];
	int length = snprintf(text, sizeof(text), "pmctl %.20s (pid %d)\n", verb, (int)getpid());
	ssize_t written = ftruncate(fd, 0) ? -1 : pwrite(fd, text, (size_t)length, 0);

	if (written == length)
		return 0;
	/* A short write of so few bytes means that the file system is full. */
	return pm_err_sys(err, written < 0 ? -errno : -ENOSPC, "write '%s'", path);
}

int pm_lock_take(
	const char *path, const char *verb, unsigned timeout_ms, int *ret_fd, struct pm_err *err)
{
	cleanup_close int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	int rc;

	if (fd < 0)
		return pm_err_sys(err, -errno, "open '%s'", path);
	for (unsigned waited_ms = 0; flock(fd, LOCK_EX | LOCK_NB); waited_ms += STEP_MS) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			return pm_err_sys(err, -errno, "lock '%s'", path);
		if (waited_ms >= timeout_ms)
			return report_holder(fd, path, err);
		pm_pause_ms(STEP_MS);
	}
	rc = sign(fd, path, verb, err);
	if (rc)
		return rc;
	*ret_fd = fd;
	fd = -1;
	return 0;
}
