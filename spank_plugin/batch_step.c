/* SPDX-License-Identifier: Apache-2.0 */
#include "spank_plugin/batch_step.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"

static bool has_title(int proc_fd, const char *pid, const char *title)
{
	cleanup_close int fd = -1;
	char path[32], text[64];
	ssize_t length;

	snprintf(path, sizeof(path), "%.16s/cmdline", pid);
	fd = openat(proc_fd, path, O_RDONLY | O_CLOEXEC);
	length = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);
	if (length <= 0)
		return false;
	text[length] = '\0';
	return !strcmp(text, title);
}

bool pm_batch_step_exists(uint32_t job_id)
{
	cleanup_dir DIR *proc = opendir("/proc");
	const struct dirent *entry;
	char title[48];

	snprintf(title, sizeof(title), "slurmstepd: [%u.batch]", (unsigned)job_id);
	while (proc && (entry = readdir(proc)))
		if (isdigit((unsigned char)*entry->d_name) &&
			has_title(dirfd(proc), entry->d_name, title))
			return true;
	return false;
}
