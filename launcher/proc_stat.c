/* SPDX-License-Identifier: Apache-2.0 */
#include "launcher/proc_stat.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/file.h"

#define MAX_BYTES 4096

char *pm_proc_stat(pid_t pid)
{
	cleanup_free char *text = NULL;
	const char *end_of_name;
	char path[40];

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	if (pm_file_read(AT_FDCWD, path, MAX_BYTES, &text, NULL, NULL))
		return NULL;
	end_of_name = strrchr(text, ')');
	return end_of_name ? strdup(end_of_name + 1) : NULL;
}
