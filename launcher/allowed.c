/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "launcher/allowed.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "launcher/proc_stat.h"
#include "launcher/srun.h"

#define MAX_ENVIRONMENT (4 * 1024 * 1024)

static bool has_variable(const char *environment, size_t length, const char *name)
{
	size_t n = strlen(name);

	for (const char *at = environment; at < environment + length; at += strlen(at) + 1)
		if (!strncmp(at, name, n) && at[n] == '=')
			return true;
	return false;
}

static bool is_rank(pid_t pid, const char *variable)
{
	cleanup_free char *environment = NULL;
	char path[40];
	size_t length;

	snprintf(path, sizeof(path), "/proc/%d/environ", (int)pid);
	return !pm_file_read(AT_FDCWD, path, MAX_ENVIRONMENT, &environment, &length, NULL) &&
	       has_variable(environment, length, variable);
}

static pid_t parent_of(pid_t pid)
{
	cleanup_free char *stat = pm_proc_stat(pid);
	int parent;

	return stat && sscanf(stat, " %*c %d", &parent) == 1 ? parent : 0;
}

pid_t pm_launcher_process(const struct pm_rank *rank)
{
	pid_t pid = getpid();

	while (rank->variable && pid > 0 && is_rank(pid, rank->variable))
		pid = parent_of(pid);
	return pid;
}

void pm_allowed_cpus(const struct pm_rank *rank, cpu_set_t *ret)
{
	pid_t pid = pm_launcher_process(rank);

	if (rank->is_srun && pm_srun_cpus(ret))
		return;
	if (pid <= 0 || sched_getaffinity(pid, sizeof(*ret), ret))
		(void)sched_getaffinity(0, sizeof(*ret), ret);
}
