/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/suspended.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/asprintf.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/run.h"
#include "node/state/job_use.h"

/* Below the limit of the callers: slurmd ends a helper after ExecTime, 120 s in the sample. */
#define SQUEUE_MS 20000

#define FORMAT	   "--format=%A %T" /* "12 SUSPENDED", also for a task of an array */
#define STATE_MAX  31
#define READ_STATE "%u %31s"

/* Flags of a socket that listens, proc_net(5): a step's does as long as its slurmstepd lives. */
#define LISTENS		  0x10000
#define READ_SOCKET	  "%*s %*s %*s %lx %*s %*s %*s %255s"
#define READ_JOB_AND_STEP "_%u.%u"

#define STAT_MAX 4096
#define JOBS_MAX 256
#define AGAIN_S	 60

/* Only root makes files in SlurmdSpoolDir. */
static bool is_roots(const char *path)
{
	struct stat status;

	return !lstat(path, &status) && status.st_uid == 0;
}

/* A line of /proc/net/unix; slurmstepd's socket is SlurmdSpoolDir/NODE_JOB.STEP. */
static bool read_step(const char *line, const char *node, uint32_t *ret_job)
{
	size_t length = strlen(node);
	char path[256], *name;
	unsigned long flags;
	uint32_t step;

	if (sscanf(line, READ_SOCKET, &flags, path) != 2 || !(flags & LISTENS))
		return false;
	name = strrchr(path, '/');
	return name && !strncmp(name + 1, node, length) &&
	       sscanf(name + 1 + length, READ_JOB_AND_STEP, ret_job, &step) == 2 && is_roots(path);
}

/* job_id 0: of any job; *ret_id is the job's. */
static bool has_step(const struct pm_operation *op, uint32_t job_id, uint32_t *ret_id)
{
	cleanup_file FILE *sockets = fopen("/proc/net/unix", "re");
	char line[512];

	while (sockets && fgets(line, sizeof(line), sockets))
		if (read_step(line, op->config.node, ret_id) && (!job_id || *ret_id == job_id))
			return true;
	return false;
}

/* squeue finds slurm.conf by SLURM_CONF where slurmd was given another one. */
static int run_squeue(const struct pm_operation *op, struct pm_output *ret, struct pm_err *err)
{
	const char *given = getenv("SLURM_CONF");
	cleanup_free char *conf = given ? pm_asprintf("SLURM_CONF=%s", given) : NULL;
	const char *env[] = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C", conf, NULL};
	const char *argv[] = {op->config.squeue_path, "--local", "--noheader", "--all",
		"--states=all", "--nodelist", op->config.node, FORMAT, NULL};
	const struct pm_program run = {
		.argv = argv, .env = env, .timeout_ms = SQUEUE_MS, .dies = true};
	cleanup_free char *why = NULL;
	int rc = pm_run(&run, ret, err);

	if (rc || !ret->status)
		return rc;
	why = pm_run_describe(&run, ret);
	return pm_err_set(err, -EREMOTEIO, "%s", why ? why : op->config.squeue_path);
}

static int refuse(uint32_t job_id, const char *doing, struct pm_err *err)
{
	return pm_err_set(err, -EBUSY,
		"job %u %s on this node: the node's mode is not changed until that job has ended",
		(unsigned)job_id, doing);
}

/* A line of squeue. */
static int check_job(const struct pm_operation *op, const char *line, struct pm_err *err)
{
	char state[STATE_MAX + 1];
	uint32_t id, found;

	if (sscanf(line, READ_STATE, &id, state) != 2)
		return 0;
	if (!strcmp(state, "SUSPENDED"))
		return refuse(id, "is suspended", err);
	return !strcmp(state, "RUNNING") && has_step(op, id, &found) ? refuse(id, "runs", err) : 0;
}

static int check_jobs(const struct pm_operation *op, const char *lines, struct pm_err *err)
{
	int rc = 0;

	while (!rc && *lines) {
		rc = check_job(op, lines, err);
		lines += strcspn(lines, "\n");
		lines += *lines == '\n';
	}
	return rc;
}

static int check(const struct pm_operation *op, struct pm_err *err)
{
	cleanup_with(pm_output_done) struct pm_output output = {0};
	struct pm_err why;
	uint32_t id;

	if (!run_squeue(op, &output, &why))
		return check_jobs(op, output.out, err);
	if (has_step(op, 0, &id))
		return refuse(id, "may be suspended", err);
	return 0;
}

static char *mark_path(const struct pm_operation *op)
{
	return pm_asprintf("%s/suspended", op->config.run_dir);
}

int pm_suspended_check(const struct pm_operation *op, struct pm_err *err)
{
	cleanup_free char *mark = mark_path(op);
	struct pm_err why;
	int rc = check(op, err);

	if (!mark)
		return rc ? rc : pm_err_nomem(err);
	if (!rc)
		(void)unlink(mark);
	else if (pm_file_write(mark, 0600, "", 0, &why))
		pm_warn(op, "%s", why.text);
	return rc;
}

/* --- a boot that does not come --- */

/* "123 (name) T ...": the name may have blanks and parentheses. */
static bool is_stopped(int proc_fd, const char *pid)
{
	cleanup_free char *name = pm_asprintf("%s/stat", pid), *text = NULL;
	const char *state;

	if (!name || pm_file_read(proc_fd, name, STAT_MAX, &text, NULL, NULL))
		return false;
	state = strrchr(text, ')');
	return state && !strncmp(state, ") T", 3);
}

/* Slurm stops the processes of a step; root's are not a job's. */
static bool has_stopped_process(void)
{
	cleanup_dir DIR *proc = opendir("/proc");
	const struct dirent *entry;
	struct stat status;

	while (proc && (entry = readdir(proc)))
		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' &&
			!fstatat(dirfd(proc), entry->d_name, &status, 0) && status.st_uid != 0 &&
			is_stopped(dirfd(proc), entry->d_name))
			return true;
	return false;
}

/* As that of a salloc between its steps. */
static bool has_job_without_step(const struct pm_operation *op)
{
	uint32_t jobs[JOBS_MAX], found;
	size_t n = pm_use_list(&op->config, /* ended= */ false, jobs, JOBS_MAX);

	for (size_t i = 0; i < n; i++)
		if (!has_step(op, jobs[i], &found))
			return true;
	return false;
}

static bool has_waiting_job(const char *lines)
{
	return strstr(lines, " CONFIGURING") != NULL;
}

/* The restart that follows has slurmd look once more, when slurmctld may not have heard of it. */
static bool is_second_look(const struct pm_operation *op)
{
	cleanup_free char *path = pm_asprintf("%s/awaited", op->config.run_dir);
	struct stat status;
	struct pm_err why;

	if (!path)
		return true;
	if (!stat(path, &status) && time(NULL) - status.st_mtime < AGAIN_S)
		return true;
	if (pm_file_write(path, 0600, "", 0, &why))
		pm_warn(op, "%s", why.text);
	return false;
}

bool pm_suspended_awaits_boot(const struct pm_operation *op)
{
	cleanup_with(pm_output_done) struct pm_output output = {0};
	struct pm_err why;

	if (!has_stopped_process() && !has_job_without_step(op))
		return false;
	if (run_squeue(op, &output, &why) || !has_waiting_job(output.out))
		return false;
	return pm_suspended_check(op, &why) && !is_second_look(op);
}

int pm_suspended_recheck(const struct pm_operation *op, struct pm_err *err)
{
	cleanup_free char *mark = mark_path(op);

	return mark && !access(mark, F_OK) ? pm_suspended_check(op, err) : 0;
}
