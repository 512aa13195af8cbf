/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "runtime/profile/profile_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/common/cancel.h"
#include "runtime/common/log.h"

static struct {
	pthread_mutex_t lock;
	bool is_created;
	bool is_off;		    /* closed, or a write has failed */
	int unreported;		    /* errno of a write that failed in a thread without stderr */
	size_t program_bytes, used; /* in `bytes`: the program's record alone; all records */
	char path[PATH_MAX];
	char bytes[1 << 16];
} file = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool make_directory(char *path)
{
	char absolute[PATH_MAX];

	(void)mkdir(path, 0777);
	if (!realpath(path, absolute))
		return false;
	strcpy(path, absolute);
	return true;
}

bool pm_profile_file_prepare(
	const char *directory, const char *rank, const struct pm_record_program *program)
{
	char path[PATH_MAX] = "", host[64] = "";
	int n;

	gethostname(host, sizeof(host) - 1);
	strncat(path, directory, PATH_MAX - 1);
	if (!make_directory(path)) {
		pm_log("PM_PROFILE='%.200s': %s; there is no profile", directory,
			strerrordesc_np(errno));
		return false;
	}
	n = snprintf(file.path, PATH_MAX, "%.*s/%s.%s.%d.pmprof", PATH_MAX - 128, path, host,
		rank ? rank : "-", (int)getpid());
	memcpy(file.bytes, program, program->head.bytes);
	file.program_bytes = file.used = program->head.bytes;
	return n < PATH_MAX;
}

/* --- under the lock --- */

static void report(int error)
{
	pm_log("profile '%.200s': %s; it is incomplete", file.path, strerrordesc_np(error));
}

/* The thread that measures accesses has a table of descriptors of its own: accesses.h. */
static void fail(void)
{
	int error = errno;

	if (fcntl(STDERR_FILENO, F_GETFD) < 0)
		file.unreported = error;
	else
		report(error);
	file.is_off = true;
}

static bool write_all(int fd)
{
	size_t done = 0;

	while (done < file.used) {
		ssize_t n = write(fd, file.bytes + done, file.used - done);

		if (n < 0 && errno != EINTR)
			return false;
		done += n > 0 ? (size_t)n : 0;
	}
	return true;
}

static void flush(void)
{
	int how = file.is_created ? O_APPEND : O_CREAT | O_TRUNC, cancel = pm_cancel_disable();
	int fd = open(file.path, O_WRONLY | O_CLOEXEC | O_NOCTTY | how, 0666);

	if (fd < 0 || !write_all(fd))
		fail();
	if (fd >= 0)
		close(fd);
	pm_cancel_restore(cancel);
	file.is_created = true;
	file.used = 0;
}

static void append(const struct pm_record *record)
{
	if (file.used + record->bytes > sizeof(file.bytes))
		flush();
	if (file.is_off)
		return;
	memcpy(file.bytes + file.used, record, record->bytes);
	file.used += record->bytes;
}

/* --- public --- */

void pm_profile_file_lock(void)
{
	pthread_mutex_lock(&file.lock);
}

void pm_profile_file_unlock(void)
{
	pthread_mutex_unlock(&file.lock);
}

void pm_profile_file_append(const struct pm_record *record)
{
	int saved = errno;

	pm_profile_file_lock();
	if (!file.is_off)
		append(record);
	pm_profile_file_unlock();
	errno = saved;
}

bool pm_profile_file_has_records(void)
{
	bool has;

	pm_profile_file_lock();
	has = file.is_created || file.used > file.program_bytes;
	pm_profile_file_unlock();
	return has;
}

void pm_profile_file_close(void)
{
	pm_profile_file_lock();
	if (!file.is_off)
		flush();
	if (file.unreported)
		report(file.unreported);
	file.unreported = 0;
	file.is_off = true;
	pm_profile_file_unlock();
}
