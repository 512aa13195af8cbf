/* SPDX-License-Identifier: Apache-2.0 */
#include "spank_plugin/prolog_mark.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/asprintf.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "node/state/idle.h"

/* The parent of a process after its own parent has ended. */
#define INIT_PID 1

static char *folder_path(const struct pm_config *config)
{
	return pm_asprintf("%s/" PM_PROLOG_MARKS, config->run_dir);
}

static char *mark_path(const struct pm_config *config, uint32_t job_id)
{
	return pm_asprintf("%s/" PM_PROLOG_MARKS "/%u", config->run_dir, (unsigned)job_id);
}

int pm_prolog_mark(const struct pm_config *config, uint32_t job_id, struct pm_err *err)
{
	cleanup_free char *folder = folder_path(config), *path = mark_path(config, job_id);
	cleanup_close int fd = -1;
	int rc;

	if (!folder || !path)
		return pm_err_nomem(err);
	rc = pm_file_make_dir(config->run_dir, 0755, err);
	if (!rc)
		rc = pm_file_make_dir(folder, 0700, err);
	if (rc)
		return rc;
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return pm_err_sys(err, -errno, "create '%s'", path);
	return dprintf(fd, "%d\n", (int)getppid()) < 0 ? pm_err_sys(err, -errno, "write '%s'", path)
						       : 0;
}

void pm_prolog_unmark(const struct pm_config *config, uint32_t job_id)
{
	cleanup_free char *path = mark_path(config, job_id);

	if (path)
		(void)unlink(path);
}

bool pm_prolog_is_marked(const struct pm_config *config, uint32_t job_id)
{
	cleanup_free char *path = mark_path(config, job_id);

	return path && !access(path, F_OK);
}

bool pm_prolog_is_waited_for(const struct pm_config *config, uint32_t job_id)
{
	cleanup_free char *path = mark_path(config, job_id);
	cleanup_file FILE *file = path ? fopen(path, "re") : NULL;
	int pid;

	return file && fscanf(file, "%d", &pid) == 1 && pid > INIT_PID && !kill(pid, 0);
}
