/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_JOBVIEW_H
#define PM_JOBVIEW_H

/*
 * The job view: a small file (RunDir/jobs/ID, mode 0644) that root writes before the job's tasks
 * start, and that the plugin reads in each task with nothing but the C library. Lines of
 * KEY=VALUE:
 *
 *	PM_JOB=12
 *	PM_UID=1000
 *	PM_BOOT=5cb1b7d1-4b5b-4b0c-b0a5-0f5d5f5c8a11
 *	PM_MODE=appdirect
 *	PM_DIR0=/mnt/slurm-pmem/socket0/job_12
 *	PM_DIR0_SOCKET=0
 *
 * Other lines that begin with PM_ are skipped: a pmctl of another version writes the file while
 * packages change, so a later version may add lines, but no other kind of allotment that a task can
 * do without.
 *
 * The file is valid only for the job, the user and the boot that it names. Allotments are numbered
 * by socket, then by region. Each is a directory (PM_DIR), a device (PM_DAX) or a NUMA node
 * (PM_NODE). PM_REFUSED is the sentence that tells the user why the job has no allotments.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "node/tools/kernel.h"
#include "site/config.h"
#include "site/modes.h"

#define PM_ALLOTMENTS_MAX 64

enum pm_allotment_kind { PM_ALLOTMENT_DIR, PM_ALLOTMENT_DAX, PM_ALLOTMENT_NODE };

struct pm_allotment {
	enum pm_allotment_kind kind;
	char *value; /* absolute path; decimal digits for PM_ALLOTMENT_NODE */
	int socket;
};

struct pm_jobview_owner {
	uint32_t job_id; /* 0: not in the file */
	uid_t uid;
	char boot_id[PM_BOOT_ID_MAX];
};

struct pm_jobview {
	struct pm_jobview_owner owner;
	enum pm_mode mode; /* UNKNOWN: not in the file */
	struct pm_allotment *allotments;
	size_t n;
	char *refused; /* NULL: nothing was refused */
};

/*
 * Adds an allotment at the end; copies `value`. -E2BIG, -ENOMEM; -EINVAL: no line can hold the
 * value.
 */
int pm_jobview_add(
	struct pm_jobview *view, enum pm_allotment_kind kind, const char *value, int socket);

/* "PM_DIR", "PM_DAX", "PM_NODE": the prefix of the variables of this kind. */
const char *pm_jobview_name(enum pm_allotment_kind kind);

/* "RUN_DIR/jobs/12"; malloc'ed, NULL when out of memory. */
char *pm_jobview_path(const char *run_dir, uint32_t job_id);

/* "STATE_DIR/jobs/12.json", the job record beside it (node/state/jobs.h), likewise. */
char *pm_job_record_path(const char *state_dir, uint32_t job_id);

/*
 * -ENOENT: the job has no view here. -EBADMSG: it cannot be parsed, or the numbers of allotments
 * have a gap. -EPERM: others than root could have written it. On failure *ret is untouched;
 * release with pm_jobview_done().
 */
int pm_jobview_read(const char *path, struct pm_jobview *ret, struct pm_err *err);

/*
 * Reads the view of a job and compares its owner with `job_id`, `uid` and the boot ID below
 * `fs_root`. -ESTALE: the view is for another job, user or boot.
 */
int pm_jobview_read_of(const char *run_dir, uint32_t job_id, uid_t uid, const char *fs_root,
	struct pm_jobview *ret, struct pm_err *err);

/*
 * The view of this process's job: the file that pmctl wrote for SLURM_JOB_ID on this node, else the
 * directories PM_DIR0, PM_DIR0_SOCKET and so on of the environment, which a launcher may have
 * copied from another node; empty without any. -EINVAL: such a variable is malformed.
 */
int pm_jobview_find(const struct pm_config *config, struct pm_jobview *ret, struct pm_err *err);

/* Parses the text of a view. */
int pm_jobview_parse(const char *text, struct pm_jobview *ret, struct pm_err *err);

/* Replaces the file as a whole. -EINVAL: no line can hold the sentence in `refused`. */
int pm_jobview_write(const char *path, const struct pm_jobview *view, struct pm_err *err);

/* Releases all; an all-zero struct is fine. */
void pm_jobview_done(struct pm_jobview *view);

#endif
