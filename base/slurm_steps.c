/* SPDX-License-Identifier: Apache-2.0 */
#include "base/slurm_steps.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>

#include "base/cleanup.h"

/* True: the process has a step's title. */
static bool read_title(int proc_fd, const char *pid, unsigned *ret_job, char ret_step[32])
{
	cleanup_close int fd = -1;
	char path[32], text[64], bracket;
	ssize_t length;

	snprintf(path, sizeof(path), "%.16s/cmdline", pid);
	fd = openat(proc_fd, path, O_RDONLY | O_CLOEXEC);
	length = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);
	if (length <= 0)
		return false;
	text[length] = '\0';
	return sscanf(text, "slurmstepd: [%u.%31[^]]%c", ret_job, ret_step, &bracket) == 3;
}

bool pm_slurm_steps_any(
	bool (*is_wanted)(void *context, uint32_t job_id, const char *step), void *context)
{
	cleanup_dir DIR *proc = opendir("/proc");
	const struct dirent *entry;
	unsigned job;
	char step[32];

	while (proc && (entry = readdir(proc)))
		if (isdigit((unsigned char)*entry->d_name) &&
			read_title(dirfd(proc), entry->d_name, &job, step) &&
			is_wanted(context, job, step))
			return true;
	return false;
}
