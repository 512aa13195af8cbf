/* SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>

#include "agent/gather.h"
#include "base/asprintf.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "node/tools/tools.h"

#define JOURNALCTL     "/usr/bin/journalctl"
#define MAX_FILE_BYTES (1024 * 1024)

/* Adds a regular file of an own directory. Others, as a FIFO or a link, are left out. */
static int add_file_at(struct pm_gather *gather, int dir_fd, const char *file, const char *name,
	struct pm_err *err)
{
	cleanup_close int fd = openat(dir_fd, file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	cleanup_free char *data = NULL;
	struct pm_err why;
	struct stat st;
	size_t length;

	if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode))
		return 0;
	if (!pm_file_read_fd(fd, name, MAX_FILE_BYTES, &data, &length, &why))
		return pm_archive_add(gather->archive, name, data, length, err);
	pm_gather_miss(gather, "%s", why.text);
	return 0;
}

static int add_directory(
	struct pm_gather *gather, const char *path, const char *as, struct pm_err *err)
{
	cleanup_dir DIR *dir = opendir(path);
	const struct dirent *entry;
	int rc = 0;

	if (!dir)
		pm_gather_miss(gather, "%s: %s", path, strerror(errno));
	while (!rc && dir && (entry = readdir(dir))) {
		char name[300];

		snprintf(name, sizeof(name), "%s/%.255s", as, entry->d_name);
		rc = add_file_at(gather, dirfd(dir), entry->d_name, name, err);
	}
	return rc;
}

/* Adds an own directory, and jobs/ in it. */
static int add_state(struct pm_gather *gather, const char *path, const char *as, struct pm_err *err)
{
	cleanup_free char *jobs = pm_asprintf("%s/jobs", path);
	char as_jobs[40];
	int rc = add_directory(gather, path, as, err);

	if (rc)
		return rc;
	if (!jobs)
		return pm_err_nomem(err);
	snprintf(as_jobs, sizeof(as_jobs), "%s/jobs", as);
	return add_directory(gather, jobs, as_jobs, err);
}

static int add_config(struct pm_gather *gather, struct pm_err *err)
{
	const struct pm_config *config = &gather->agent->op.config;
	cleanup_free char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	if (!out)
		return pm_err_nomem(err);
	for (enum pm_key key = 0; key < PM_KEY_MAX; key++)
		fprintf(out, "%s=%s # %s\n", pm_key_info(key)->name, config->text[key],
			config->origin[key]);
	if (fclose(out))
		return pm_err_nomem(err);
	return pm_archive_add(gather->archive, "config", text, length, err);
}

static int add_versions(struct pm_gather *gather, struct pm_err *err)
{
	cleanup_free char *release = NULL;
	struct utsname name;
	char text[4096];
	int length;

	if (uname(&name))
		memset(&name, 0, sizeof(name));
	if (pm_file_read(AT_FDCWD, "/etc/os-release", 2048, &release, NULL, NULL))
		release = NULL;
	length = snprintf(text, sizeof(text), "pmctl %s\n%s %s %s %s\n%s", PM_VERSION, name.sysname,
		name.release, name.version, name.machine, release ? release : "");
	return pm_archive_add(gather->archive, "versions", text, (size_t)length, err);
}

static int add_log(
	struct pm_gather *gather, const char *name, const char *const *argv, struct pm_err *err)
{
	cleanup_with(pm_output_done) struct pm_output output = {0};
	struct pm_err why;

	if (!pm_tool_run(&gather->agent->op.config, argv, &output, &why))
		return pm_archive_add(gather->archive, name, output.out, output.out_len, err);
	pm_gather_miss(gather, "%s: %s", name, why.text);
	return 0;
}

static int add_logs(struct pm_gather *gather, struct pm_err *err)
{
	static const char *const ours[] = {JOURNALCTL, "--no-pager", "--output=short-iso",
		"--lines=3000", "--identifier=pmctl", NULL};
	static const char *const kernel[] = {JOURNALCTL, "--no-pager", "--output=short-iso",
		"--dmesg",
		"--grep=pmem|nvdimm|nd_|nfit|dax|kmem|memory tier|NUMA|SRAT|SLIT|HMAT|e820", NULL};
	int rc = add_log(gather, "log", ours, err);

	return rc ? rc : add_log(gather, "kernel-log", kernel, err);
}

static int gather_all(struct pm_gather *gather, struct pm_err *err)
{
	const struct pm_config *config = &gather->agent->op.config;
	int rc = add_versions(gather, err);

	if (!rc)
		rc = add_config(gather, err);
	if (!rc)
		rc = add_state(gather, config->state_dir, "state", err);
	if (!rc)
		rc = add_state(gather, config->run_dir, "run", err);
	if (!rc)
		rc = pm_gather_kernel(gather, err);
	if (!rc)
		rc = pm_gather_tools(gather, err);
	if (!rc)
		rc = add_logs(gather, err);
	if (!rc)
		rc = pm_archive_add(
			gather->archive, "missing", gather->missing, gather->missing_length, err);
	return rc;
}

static int write_archive(const struct pm_agent *agent, const char *path, struct pm_err *err)
{
	struct pm_gather gather = {.agent = agent};
	char prefix[64];
	int rc;

	snprintf(prefix, sizeof(prefix), "pmctl-gather-%.40s", agent->op.config.node);
	rc = pm_archive_open(path, prefix, &gather.archive, err);
	if (!rc)
		rc = gather_all(&gather, err);
	if (!rc)
		rc = pm_archive_commit(gather.archive, err);
	pm_archive_close(gather.archive);
	free(gather.missing);
	return rc;
}

static void default_name(const struct pm_agent *agent, char *ret, size_t size)
{
	time_t now = time(NULL);
	struct tm utc;
	char text[32];

	gmtime_r(&now, &utc);
	strftime(text, sizeof(text), "%Y%m%dT%H%M%SZ", &utc);
	snprintf(ret, size, "pmctl-gather-%.40s-%s.tar.gz", agent->op.config.node, text);
}

int pm_verb_gather(struct pm_agent *agent)
{
	char name[128];
	const char *path = agent->output ? agent->output : name;
	struct pm_err err;

	default_name(agent, name, sizeof(name));
	if (write_archive(agent, path, &err))
		return pm_fail(agent, &err);
	printf("%s\n", path);
	return PM_EXIT_DONE;
}
