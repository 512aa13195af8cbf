/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "agent/pmreport.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/asprintf.h"
#include "base/cleanup.h"

int pm_run_pmreport(char *const *list, struct pm_err *err)
{
	char path[PATH_MAX], *name;
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - sizeof("pmreport"));

	if (n < 0)
		return pm_err_sys(err, -errno, "read '/proc/self/exe'");
	path[n] = '\0';
	name = strrchr(path, '/') + 1;
	strcpy(name, "pmreport");
	execv(path, list);
	return pm_err_set(err, -errno,
		"run '%s': %s; it is in the package slurm-pmem-client, and needs python3", path,
		strerrordesc_np(errno));
}

/* Stdin is then a file in memory that holds the text. */
static int give_stdin(const char *text, struct pm_err *err)
{
	cleanup_close int fd = memfd_create("report", MFD_CLOEXEC);
	size_t length = strlen(text);

	if (fd < 0 || write(fd, text, length) != (ssize_t)length || lseek(fd, 0, SEEK_SET) ||
		dup2(fd, STDIN_FILENO) < 0)
		return pm_err_sys(err, errno ? -errno : -ENOSPC, "hand a report to pmreport");
	return 0;
}

int pm_run_pmreport_of_job(const char *text, const char *file, struct pm_err *err)
{
	cleanup_free char *html = pm_asprintf("--html=%s", file);
	char *list[] = {"pmreport", "job", "-", html, NULL};
	int rc = html ? give_stdin(text, err) : pm_err_nomem(err);

	return rc ? rc : pm_run_pmreport(list, err);
}
