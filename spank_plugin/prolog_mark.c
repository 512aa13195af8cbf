/* SPDX-License-Identifier: Apache-2.0 */
#include "spank_plugin/prolog_mark.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <slurm/spank.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/cleanup.h"
#include "lib/file.h"

#define MARKS	"prologs"
#define EARLIER MARKS "/earlier"

/* "RUN_DIR/FOLDER"; malloc'ed, NULL when out of memory. */
static char *folder_path(const struct pm_config *config, const char *folder)
{
	char *path = NULL;

	return asprintf(&path, "%s/%s", config->run_dir, folder) < 0 ? NULL : path;
}

static char *mark_path(const struct pm_config *config, const char *folder, uint32_t job_id)
{
	char *path = NULL;

	return asprintf(&path, "%s/%s/%u", config->run_dir, folder, (unsigned)job_id) < 0 ? NULL
											  : path;
}

int pm_prolog_mark(const struct pm_config *config, uint32_t job_id, struct pm_err *err)
{
	cleanup_free char *folder = folder_path(config, MARKS);
	cleanup_free char *path = mark_path(config, MARKS, job_id);
	cleanup_close int fd = -1;
	int rc;

	if (!folder || !path)
		return pm_err_nomem(err);
	rc = pm_file_make_dir(config->run_dir, 0755, err);
	if (!rc)
		rc = pm_file_make_dir(folder, 0700, err);
	if (rc)
		return rc;
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	return fd < 0 ? pm_err_sys(err, -errno, "create '%s'", path) : 0;
}

static void remove_mark(const struct pm_config *config, const char *folder, uint32_t job_id)
{
	cleanup_free char *path = mark_path(config, folder, job_id);

	if (path)
		(void)unlink(path);
}

void pm_prolog_unmark(const struct pm_config *config, uint32_t job_id)
{
	remove_mark(config, MARKS, job_id);
	remove_mark(config, EARLIER, job_id);
}

/* rename(2) of `earlier` into itself fails, and leaves it. */
static void move_all(DIR *marks, int earlier)
{
	const struct dirent *entry;

	while ((entry = readdir(marks)))
		if (*entry->d_name != '.')
			(void)renameat(dirfd(marks), entry->d_name, earlier, entry->d_name);
}

void pm_prolog_marks_age(const struct pm_config *config)
{
	cleanup_free char *folder = folder_path(config, MARKS);
	cleanup_free char *path = folder_path(config, EARLIER);
	cleanup_close int earlier = -1;
	struct pm_err err = {0};
	cleanup_dir DIR *marks = folder ? opendir(folder) : NULL;

	if (!marks)
		return; /* no job has had a prolog since the node's boot */
	if (path && !pm_file_make_dir(path, 0700, &err))
		earlier = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (earlier >= 0)
		move_all(marks, earlier);
	else
		slurm_error("pm: cannot keep the prologs' marks in '%s/%s': %s", config->run_dir,
			EARLIER, err.text);
}

static bool has_mark(const struct pm_config *config, const char *folder, uint32_t job_id)
{
	cleanup_free char *path = mark_path(config, folder, job_id);

	return path && !access(path, F_OK);
}

bool pm_prolog_is_marked(const struct pm_config *config, uint32_t job_id)
{
	return has_mark(config, MARKS, job_id);
}

bool pm_prolog_has_begun(const struct pm_config *config, uint32_t job_id)
{
	return has_mark(config, MARKS, job_id) || has_mark(config, EARLIER, job_id);
}
