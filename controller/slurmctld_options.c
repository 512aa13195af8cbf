/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/slurmctld_options.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/asprintf.h"
#include "base/cleanup.h"
#include "base/file.h"

#define PID_FILE_BYTES	   32
#define COMMAND_LINE_BYTES 65536
#define WITH_A_VALUE	   "fLn" /* options of slurmctld(8) with a value: the rest of their word */

/* A word of options, as "-R" or "-DR". */
static bool has_option(const char *word, char option)
{
	const char *found = *word == '-' ? strchr(word, option) : NULL;

	return found && word[1] != '-' && word + strcspn(word, WITH_A_VALUE) > found;
}

/* slurmctld's words, each with its NUL; NULL: not known. */
static char *read_command_line(const char *pid_file, size_t *ret_length)
{
	cleanup_free char *pid = NULL, *path = NULL;
	char *words = NULL;

	if (!pid_file || pm_file_read(AT_FDCWD, pid_file, PID_FILE_BYTES, &pid, NULL, NULL))
		return NULL;
	path = pm_asprintf("/proc/%lu/cmdline", strtoul(pid, NULL, 10));
	if (!path || pm_file_read(AT_FDCWD, path, COMMAND_LINE_BYTES, &words, ret_length, NULL))
		return NULL;
	return words;
}

bool pm_slurmctld_lacks_option(const char *pid_file, char option)
{
	size_t length = 0;
	cleanup_free char *words = read_command_line(pid_file, &length);

	for (const char *word = words; word && word < words + length; word += strlen(word) + 1)
		if (has_option(word, option))
			return false;
	return words;
}
