/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "node/tools/job_cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/asprintf.h"
#include "base/cleanup.h"
#include "base/file.h"

#define FILE_BYTES 65536

/* Slurm 22.05 to 24.11; a node's name is in front with several slurmd on a host. */
static const char *const places[] = {
	"sys/fs/cgroup/system.slice/*slurmstepd.scope/job_",
	"sys/fs/cgroup/memory/slurm*/uid_*/job_",
};

static char *first_match(const char *root, const char *place, uint32_t job_id)
{
	cleanup_free char *pattern = pm_asprintf("%s/%s%u", root, place, (unsigned)job_id);
	char *found = NULL;
	glob_t matches = {0};

	if (pattern && !glob(pattern, GLOB_NOSORT, NULL, &matches) && matches.gl_pathc)
		found = strdup(matches.gl_pathv[0]);
	globfree(&matches);
	return found;
}

char *pm_job_cgroup_find(const char *root, uint32_t job_id)
{
	char *found = NULL;

	for (size_t i = 0; !found && i < sizeof(places) / sizeof(places[0]); i++)
		found = first_match(root, places[i], job_id);
	return found;
}

/* Names of the files in a version of cgroups. In version 1 "total=" leaves out cgroups below. */
static const struct version {
	const char *bytes, *peak, *limit, *events;
	const char *const *lines; /* of memory.numa_stat that make up the sum, NULL at the end */
	bool in_pages;
} versions[] = {
	{"memory.current", "memory.peak", "memory.max", "memory.events",
		(const char *const[]){"anon ", "file ", NULL}, false},
	{"memory.usage_in_bytes", "memory.max_usage_in_bytes", "memory.limit_in_bytes",
		"memory.oom_control", (const char *const[]){"hierarchical_total=", NULL}, true},
};

/* Version 1 shows the largest multiple of a page instead of no limit. */
#define NO_LIMIT (UINT64_C(1) << 62)

static uint64_t read_number(int dir_fd, const char *name)
{
	cleanup_free char *text = NULL;

	if (pm_file_read(dir_fd, name, FILE_BYTES, &text, NULL, NULL))
		return 0;
	return strtoull(text, NULL, 10); /* "max" is 0 */
}

static uint64_t read_kills(int dir_fd, const char *name)
{
	cleanup_free char *text = NULL;
	const char *at;

	if (pm_file_read(dir_fd, name, FILE_BYTES, &text, NULL, NULL))
		return 0;
	at = strstr(text, "oom_kill ");
	return at ? strtoull(at + strlen("oom_kill "), NULL, 10) : 0;
}

/* Of a line "anon N0=4096 N1=0". */
static void add_line(const char *line, uint64_t unit, struct pm_job_cgroup *cgroup)
{
	size_t length = strcspn(line, "\n");
	const char *at = line;

	while ((at = strstr(at, " N")) && at < line + length) {
		char *end;
		unsigned long node = strtoul(at + 2, &end, 10);

		at += 2;
		if (*end != '=' || node >= PM_CGROUP_NODES_MAX)
			continue;
		cgroup->node_bytes[node] += strtoull(end + 1, NULL, 10) * unit;
		if (node >= cgroup->n_nodes)
			cgroup->n_nodes = (unsigned)node + 1;
	}
}

static bool is_counted(const struct version *version, const char *line)
{
	for (size_t i = 0; version->lines[i]; i++)
		if (!strncmp(line, version->lines[i], strlen(version->lines[i])))
			return true;
	return false;
}

static void read_nodes(int dir_fd, const struct version *version, struct pm_job_cgroup *cgroup)
{
	uint64_t unit = version->in_pages ? (uint64_t)sysconf(_SC_PAGESIZE) : 1;
	cleanup_free char *text = NULL;

	if (pm_file_read(dir_fd, "memory.numa_stat", FILE_BYTES, &text, NULL, NULL))
		return;
	for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n')
		if (is_counted(version, line))
			add_line(line, unit, cgroup);
}

int pm_job_cgroup_read(const char *path, struct pm_job_cgroup *ret)
{
	cleanup_close int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct pm_job_cgroup cgroup = {0};

	if (fd < 0)
		return -errno;
	for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
		const struct version *version = &versions[i];

		if (faccessat(fd, version->bytes, R_OK, 0))
			continue;
		cgroup.bytes = read_number(fd, version->bytes);
		cgroup.peak_bytes = read_number(fd, version->peak);
		cgroup.limit_bytes = read_number(fd, version->limit);
		if (cgroup.limit_bytes >= NO_LIMIT)
			cgroup.limit_bytes = 0;
		cgroup.oom_kills = read_kills(fd, version->events);
		read_nodes(fd, version, &cgroup);
		*ret = cgroup;
		return 0;
	}
	return -ENOENT;
}

/* --- tasks --- */

static const char *const task_places[] = {"step_*/user/task_*", "step_*/task_*"};

static pid_t first_process(const char *path)
{
	cleanup_free char *procs = pm_asprintf("%s/cgroup.procs", path), *text = NULL;

	if (!procs || pm_file_read(AT_FDCWD, procs, FILE_BYTES, &text, NULL, NULL))
		return 0;
	return (pid_t)strtol(text, NULL, 10);
}

/* Of ".../step_0/user/task_3". */
static void visit_task(
	const char *task_path, size_t job_length, pm_task_cgroup_action *each, void *context)
{
	const char *step_at = task_path + job_length + strlen("/step_");
	const char *task_at = strrchr(task_path, '_') + 1;
	cleanup_free char *step = strndup(step_at, strcspn(step_at, "/"));
	pid_t process = first_process(task_path);
	struct pm_job_cgroup cgroup;

	if (step && process > 0 && strcmp(task_at, "special") != 0 &&
		!pm_job_cgroup_read(task_path, &cgroup))
		each(context, step, (unsigned)strtoul(task_at, NULL, 10), process, &cgroup);
}

static void visit_tasks(
	const char *path, const char *place, pm_task_cgroup_action *each, void *context)
{
	cleanup_free char *pattern = pm_asprintf("%s/%s", path, place);
	glob_t matches = {0};

	if (pattern && !glob(pattern, 0, NULL, &matches))
		for (size_t i = 0; i < matches.gl_pathc; i++)
			visit_task(matches.gl_pathv[i], strlen(path), each, context);
	globfree(&matches);
}

void pm_job_cgroup_each_task(const char *path, pm_task_cgroup_action *each, void *context)
{
	for (size_t i = 0; i < sizeof(task_places) / sizeof(task_places[0]); i++)
		visit_tasks(path, task_places[i], each, context);
}
