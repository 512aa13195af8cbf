/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "controller/reports.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/asprintf.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "controller/job_lines.h"
#include "controller/old_files.h"
#include "controller/page.h"

#define FILE_BYTES (16 * 1024 * 1024)

/* Points over time are kept for the first nodes: a job of a thousand nodes would fill the file. */
#define SAMPLES_BYTES (256 * 1024)

/* Reboots for one job that its report names. */
#define REBOOTS_MAX 100

/* A job's line has five texts of job_lines.c. */
#define FIRST_LINE_MAX 8192

int pm_reports_open(struct pm_reports *reports, const char *dir, struct pm_err *err)
{
	reports->dir = strdup(dir);
	return reports->dir ? pm_file_make_dir(dir, 0700, err) : pm_err_nomem(err);
}

static char *path_of(const struct pm_reports *reports, uint32_t job_id)
{
	return pm_asprintf("%s/%u.jsonl", reports->dir, (unsigned)job_id);
}

/* --- adding --- */

/* Ends a line that a crash has cut. */
static void end_line(int fd, off_t length)
{
	char last = '\n';

	if (length && pread(fd, &last, 1, length - 1) == 1 && last != '\n')
		(void)!write(fd, "\n", 1);
}

static int write_line(int fd, json_object *line, struct pm_err *err)
{
	cleanup_free char *text = NULL;
	size_t length;
	ssize_t n;

	if (!line)
		return pm_err_nomem(err);
	text = pm_asprintf("%s\n", json_object_to_json_string_ext(line, JSON_C_TO_STRING_PLAIN));
	if (!text)
		return pm_err_nomem(err);
	length = strlen(text);
	n = write(fd, text, length);
	if (n == (ssize_t)length)
		return 0;
	return pm_err_sys(err, n < 0 ? -errno : -ENOSPC, "write a job's report");
}

static void add_reboots(json_object *lines, const struct pm_reboots *reboots, uint32_t job_id)
{
	unsigned n = 0;

	for (size_t i = 0; i < reboots->n && n < REBOOTS_MAX; i++)
		if (reboots->list[i].job_id == job_id && reboots->list[i].end_s) {
			json_object_array_add(lines, pm_reboot_line(&reboots->list[i]));
			n++;
		}
}

/* Its first line; true also of one that is longer than the look. */
static bool has_energy(int fd)
{
	static const char key[] = "\"energy_joules\":";
	char start[FIRST_LINE_MAX];
	ssize_t n = pread(fd, start, sizeof(start), 0);
	const char *end = n > 0 ? memchr(start, '\n', (size_t)n) : NULL;

	return !end || memmem(start, (size_t)(end - start), key, sizeof(key) - 1);
}

/* Slurm may have added up the energy after the first node's line: the job is told anew. */
static int write_energy(
	int fd, const struct pm_cluster *cluster, uint32_t job_id, struct pm_err *err)
{
	const slurm_job_info_t *job = pm_cluster_job(cluster, job_id);
	cleanup_with(pm_json_cleanup) json_object *line = job ? pm_job_line(job) : NULL;

	if (!line || !pm_json_number(line, "energy_joules") || has_energy(fd))
		return 0;
	return write_line(fd, line, err);
}

/* The job and its reboots, before its first node. */
static int write_job(int fd, const struct pm_cluster *cluster, const struct pm_reboots *reboots,
	uint32_t job_id, struct pm_err *err)
{
	cleanup_with(pm_json_cleanup) json_object *lines = json_object_new_array();
	const slurm_job_info_t *job = pm_cluster_job(cluster, job_id);
	int rc = 0;

	if (!lines)
		return pm_err_nomem(err);
	if (job)
		json_object_array_add(lines, pm_job_line(job));
	add_reboots(lines, reboots, job_id);
	for (size_t i = 0; !rc && i < json_object_array_length(lines); i++)
		rc = write_line(fd, json_object_array_get_idx(lines, i), err);
	return rc;
}

int pm_reports_read_use(
	const struct pm_message *message, struct pm_job_use *ret, struct pm_err *err)
{
	if (json_object_array_length(message->list) != 1 ||
		!pm_fields_read(pm_job_use_fields, 1, json_object_array_get_idx(message->list, 0),
			ret, NULL))
		return pm_err_set(err, -EBADMSG, "message 'used': the list has no job's use");
	if (ret->job_id != message->job_id)
		return pm_err_set(err, -EBADMSG, "message 'used': the list is of another job");
	return 0;
}

/* In the fields that this side knows, so that nothing else gets into the file. */
static int write_node(int fd, const char *node, const struct pm_job_use *use, struct pm_err *err)
{
	cleanup_with(pm_json_cleanup) json_object *line = json_object_new_object();

	if (!line)
		return pm_err_nomem(err);
	pm_json_add_string(line, "type", "node");
	pm_json_add_string(line, "node", node);
	pm_fields_format(pm_job_use_fields, use, line);
	return write_line(fd, line, err);
}

/* The descriptor; *ret_bytes are in the file. */
static int open_file(
	const struct pm_reports *reports, uint32_t job_id, off_t *ret_bytes, struct pm_err *err)
{
	cleanup_free char *path = path_of(reports, job_id);
	cleanup_close int fd = -1;
	struct stat info;
	int mine;

	if (!path)
		return pm_err_nomem(err);
	fd = open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0 || fstat(fd, &info))
		return pm_err_sys(err, -errno, "open '%s'", path);
	if (info.st_size > FILE_BYTES)
		return pm_err_set(err, -EFBIG, "'%s' is full", path);
	*ret_bytes = info.st_size;
	mine = fd;
	fd = -1;
	return mine;
}

int pm_reports_add(struct pm_reports *reports, const struct pm_cluster *cluster,
	const struct pm_reboots *reboots, const struct pm_message *message, struct pm_err *err)
{
	cleanup_with(pm_job_use_done) struct pm_job_use use = {0};
	cleanup_close int fd = -1;
	off_t bytes = 0;
	int rc = pm_reports_read_use(message, &use, err);

	if (rc || !reports->keep_days)
		return rc;
	fd = open_file(reports, message->job_id, &bytes, err);
	if (fd < 0)
		return fd;
	if (bytes >= SAMPLES_BYTES)
		pm_job_use_forget_samples(&use);
	end_line(fd, bytes);
	rc = bytes ? write_energy(fd, cluster, message->job_id, err)
		   : write_job(fd, cluster, reboots, message->job_id, err);
	if (!rc)
		rc = write_node(fd, message->node, &use, err);
	if (rc)
		(void)!ftruncate(fd, bytes);
	return rc;
}

/* --- telling --- */

static json_object *parse_lines(const char *text)
{
	json_object *lines = json_object_new_array();

	for (const char *line = text; lines && *line;) {
		size_t length = strcspn(line, "\n");
		json_object *object = pm_json_parse(line, length);

		if (json_object_is_type(object, json_type_object))
			json_object_array_add(lines, object);
		else
			json_object_put(object);
		line += length + (line[length] == '\n');
	}
	return lines;
}

/* The lines of the job's file; none if it has none. */
static json_object *read_lines(const struct pm_reports *reports, uint32_t job_id)
{
	cleanup_free char *path = path_of(reports, job_id), *text = NULL;

	if (!path || pm_file_read(AT_FDCWD, path, 2 * FILE_BYTES, &text, NULL, NULL))
		return json_object_new_array();
	return parse_lines(text);
}

/* Slurm's own table knows the job's state better than the file, as long as it knows the job. */
static json_object *with_job(const struct pm_cluster *cluster, const struct pm_reboots *reboots,
	uint32_t job_id, json_object *stored)
{
	const slurm_job_info_t *job = pm_cluster_job(cluster, job_id);
	json_object *all = json_object_new_array();
	bool has_reboots = false;

	if (job)
		json_object_array_add(all, pm_job_line(job));
	for (size_t i = 0; i < json_object_array_length(stored); i++) {
		json_object *line = json_object_array_get_idx(stored, i);

		has_reboots |= pm_json_is(line, "type", "reboot");
		if (!job || !pm_json_is(line, "type", "job"))
			json_object_array_add(all, json_object_get(line));
	}
	if (!has_reboots)
		add_reboots(all, reboots, job_id);
	return all;
}

static bool may_see(json_object *lines, const uid_t *viewer)
{
	size_t n = json_object_array_length(lines);
	uint64_t uid;

	if (!viewer)
		return n > 0;
	for (size_t i = 0; i < n; i++)
		if (!pm_json_u64(json_object_array_get_idx(lines, i), "uid", &uid))
			return uid == *viewer;
	return false;
}

static json_object *page_of(json_object *lines, size_t first)
{
	json_object *page = json_object_new_array();
	size_t bytes = 0;

	for (size_t i = first; page && i < json_object_array_length(lines); i++)
		if (!pm_page_add(
			    page, json_object_get(json_object_array_get_idx(lines, i)), &bytes))
			break;
	return page;
}

int pm_reports_answer(const struct pm_reports *reports, const struct pm_cluster *cluster,
	const struct pm_reboots *reboots, const struct pm_message *request, const uid_t *viewer,
	json_object **ret, struct pm_err *err)
{
	cleanup_with(pm_json_cleanup) json_object *stored = read_lines(reports, request->job_id);
	cleanup_with(pm_json_cleanup) json_object *lines = NULL;

	if (!stored)
		return pm_err_nomem(err);
	lines = with_job(cluster, reboots, request->job_id, stored);
	if (!may_see(lines, viewer))
		return pm_err_set(err, -ENOENT,
			"there is no report of job %u: it had no mode, it ended longer ago than "
			"JobReportDays, or it is another user's",
			(unsigned)request->job_id);
	*ret = page_of(lines, request->after ? strtoul(request->after, NULL, 10) : 0);
	return 0;
}

/* --- old files --- */

void pm_reports_sweep(struct pm_reports *reports, uint64_t now_s)
{
	cleanup_dir DIR *dir = NULL;
	const struct dirent *entry;

	if (!pm_old_files_are_due(&reports->swept_s, now_s))
		return;
	dir = opendir(reports->dir);
	while (dir && (entry = readdir(dir)))
		if (pm_old_files_has(dirfd(dir), entry->d_name, reports->keep_days, now_s))
			(void)unlinkat(dirfd(dir), entry->d_name, 0);
}

void pm_reports_done(struct pm_reports *reports)
{
	free(reports->dir);
	*reports = (struct pm_reports){0};
}
