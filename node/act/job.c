/* SPDX-License-Identifier: Apache-2.0 */
#include "node/act/job.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/asprintf.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/secure.h"
#include "base/strv.h"
#include "base/timestamp.h"
#include "node/act/job_memory.h"
#include "node/act/allotments.h"
#include "node/act/cpusets.h"
#include "node/act/room.h"
#include "node/act/substate.h"
#include "node/see/observe.h"
#include "node/state/idle.h"

/* A directory with a file for each job: records in StateDir, views in RunDir. */
static char *jobs_dir(const char *parent)
{
	return pm_asprintf("%s/jobs", parent);
}

int pm_jobs_of(const struct pm_operation *op, struct pm_jobs *ret, struct pm_err *err)
{
	cleanup_free char *dir = jobs_dir(op->config.state_dir);
	int rc = dir ? pm_jobs_read(dir, ret, err) : pm_err_nomem(err);

	for (size_t i = 0; !rc && i < ret->n; i++)
		if (ret->list[i].state == PM_JOB_UNREADABLE)
			pm_warn(op,
				"'%s/%u.json' is not a valid job record; the job's allotments stay "
				"until the job is over",
				dir, (unsigned)ret->list[i].id);
	return rc;
}

/*
 * Removes the temporary files that killed writers have left there. The next writer of any other
 * file removes its temporary files.
 */
static int sweep_temporaries(const char *parent, struct pm_err *err)
{
	cleanup_free char *jobs = jobs_dir(parent);

	return jobs ? pm_file_sweep(jobs, NULL, err) : pm_err_nomem(err);
}

static int make_dir(const char *parent, mode_t mode, struct pm_err *err)
{
	cleanup_free char *path = jobs_dir(parent);
	int rc = path ? pm_file_make_dir(path, mode, err) : pm_err_nomem(err);

	return rc ? rc : pm_secure_path(path, err);
}

static int make_dirs(const struct pm_operation *op, struct pm_err *err)
{
	int rc = make_dir(op->config.state_dir, 0700, err);

	return rc ? rc : make_dir(op->config.run_dir, 0755, err);
}

static int write_record(const struct pm_operation *op, const struct pm_job *job, struct pm_err *err)
{
	cleanup_free char *dir = jobs_dir(op->config.state_dir);

	return dir ? pm_job_write(dir, job, err) : pm_err_nomem(err);
}

static int write_view(const struct pm_operation *op, const struct pm_job *job,
	struct pm_jobview *view, struct pm_err *err)
{
	cleanup_free char *path = pm_jobview_path(op->config.run_dir, job->id);

	view->owner = (struct pm_jobview_owner){.job_id = job->id, .uid = job->uid};
	strcpy(view->owner.boot_id, job->boot_id);
	return path ? pm_jobview_write(path, view, err) : pm_err_nomem(err);
}

static bool has_view(const struct pm_operation *op, const struct pm_job *job)
{
	cleanup_with(pm_jobview_done) struct pm_jobview view = {0};

	return !pm_jobview_read_of(
		op->config.run_dir, job->id, job->uid, op->config.fs_root, &view, NULL);
}

/*
 * The view is removed first: recovery finds a record without a view, but not a view without a
 * record.
 */
static int forget(const struct pm_operation *op, uint32_t id, struct pm_err *err)
{
	cleanup_free char *path = pm_jobview_path(op->config.run_dir, id);
	cleanup_free char *dir = jobs_dir(op->config.state_dir);

	if (!path || !dir)
		return pm_err_nomem(err);
	if (unlink(path) && errno != ENOENT)
		return pm_err_sys(err, -errno, "remove '%s'", path);
	return pm_job_forget(dir, id, err);
}

/* Only one job at a time has devices or flat memory, and the regions are made anew for each. */
static bool is_alone(const struct pm_job *job)
{
	return job->substate == PM_SUBSTATE_DEVDAX || job->substate == PM_SUBSTATE_FLAT;
}

/* True if another job has the regions, or may have them: they were cleaned when it began. */
static bool others_live(const struct pm_jobs *jobs, const struct pm_job *job, const char *boot_id)
{
	for (size_t i = 0; i < jobs->n; i++)
		if (jobs->list[i].id != job->id && jobs->list[i].state != PM_JOB_REFUSED &&
			(jobs->list[i].state == PM_JOB_UNREADABLE ||
				!strcmp(jobs->list[i].boot_id, boot_id)))
			return true;
	return false;
}

/*
 * The record does not show the allotments of the job. Directories are found by name; devices and
 * flat memory are reclaimed only if no other job can have them.
 */
static int reclaim_unreadable(const struct pm_operation *op, const struct pm_jobs *jobs,
	const struct pm_job *job, const char *boot_id, struct pm_err *err)
{
	static const enum pm_substate substates[] = {PM_SUBSTATE_FSDAX, PM_SUBSTATE_DEVDAX};
	cleanup_with(pm_inventory_done) struct pm_inventory inventory = {0};
	bool is_last = !others_live(jobs, job, boot_id);
	int rc = pm_substate_look(op, &inventory, err);

	for (size_t i = 0; !rc && i < sizeof(substates) / sizeof(substates[0]); i++) {
		struct pm_job as = *job;

		as.substate = substates[i];
		if (is_last || !is_alone(&as))
			rc = pm_allotments_remove(op, &inventory, jobs, &as, err);
	}
	return rc || !is_last ? rc : pm_substate_recover(op, /* dry_run= */ false, err);
}

static int reclaim(const struct pm_operation *op, const struct pm_jobs *jobs,
	const struct pm_job *job, const char *boot_id, struct pm_err *err)
{
	cleanup_with(pm_inventory_done) struct pm_inventory inventory = {0};
	int rc;

	if (job->state == PM_JOB_UNREADABLE)
		return op->config.provision ? reclaim_unreadable(op, jobs, job, boot_id, err) : 0;
	if (job->substate == PM_SUBSTATE_EMPTY || job->state == PM_JOB_REFUSED ||
		(is_alone(job) && others_live(jobs, job, boot_id)))
		return 0;
	rc = pm_substate_look(op, &inventory, err);
	if (!rc)
		rc = pm_allotments_remove(op, &inventory, jobs, job, err);
	if (!rc && is_alone(job))
		rc = pm_substate_recover(op, /* dry_run= */ false, err);
	return rc;
}

static int set_aside(const struct pm_operation *op, const struct pm_job *job, struct pm_err *err)
{
	cleanup_free char *dir = jobs_dir(op->config.state_dir);
	int rc = dir ? pm_job_set_aside(dir, job->id, err) : pm_err_nomem(err);

	if (!rc)
		pm_warn(op, "set '%s/%u.json' aside as '%u.json.unreadable'", dir,
			(unsigned)job->id, (unsigned)job->id);
	return rc;
}

static int finish(const struct pm_operation *op, const struct pm_jobs *jobs,
	const struct pm_job *job, const char *boot_id, struct pm_err *err)
{
	int rc = reclaim(op, jobs, job, boot_id, err);

	if (!rc && job->state == PM_JOB_UNREADABLE)
		rc = set_aside(op, job, err);
	if (!rc)
		rc = forget(op, job->id, err);
	return rc ? pm_err_prefix(err, "clean up after job %u", (unsigned)job->id) : 0;
}

static int finish_reported(const struct pm_operation *op, const struct pm_jobs *jobs,
	const struct pm_job *job, const char *boot_id, struct pm_err *err)
{
	int rc = finish(op, jobs, job, boot_id, err);

	if (!rc)
		pm_report(op, "job %u of an earlier boot is over: what it had is taken back",
			(unsigned)job->id);
	return rc;
}

static int finish_dead(const struct pm_operation *op, const struct pm_jobs *jobs,
	const char *boot_id, struct pm_err *err)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < jobs->n; i++)
		if (jobs->list[i].state != PM_JOB_UNREADABLE &&
			strcmp(jobs->list[i].boot_id, boot_id))
			rc = finish_reported(op, jobs, &jobs->list[i], boot_id, err);
	return rc;
}

static int sweep_allotments(const struct pm_operation *op, struct pm_err *err)
{
	cleanup_with(pm_inventory_done) struct pm_inventory inventory = {0};
	cleanup_with(pm_jobs_done) struct pm_jobs jobs = {0};
	int rc = pm_jobs_of(op, &jobs, err);

	if (!rc)
		rc = pm_substate_look(op, &inventory, err);
	return rc ? rc : pm_allotments_sweep(op, &inventory, &jobs, err);
}

int pm_jobs_sweep(const struct pm_operation *op, struct pm_err *err)
{
	cleanup_with(pm_jobs_done) struct pm_jobs jobs = {0};
	char boot_id[PM_BOOT_ID_MAX];
	int rc = pm_kernel_boot_id(op->config.fs_root, boot_id, err);

	if (!rc)
		rc = pm_jobs_of(op, &jobs, err);
	if (!rc)
		rc = finish_dead(op, &jobs, boot_id, err);
	if (!rc)
		rc = sweep_temporaries(op->config.state_dir, err);
	if (!rc)
		rc = sweep_temporaries(op->config.run_dir, err);
	return rc || !op->config.provision ? rc : sweep_allotments(op, err);
}

static int not_in(const char *expect, const struct pm_verdict *verdict, struct pm_err *err)
{
	return pm_err_set(err, -ENODEV, "job expects %s, node is in %s (%s)", expect,
		pm_platform_name(verdict->platform), verdict->why);
}

int pm_job_choose_mode(const struct pm_operation *op, const char *expect, char *const *modes,
	const struct pm_mode_info **ret, struct pm_kernel *ret_kernel, struct pm_err *err)
{
	struct pm_observation seen;
	const struct pm_verdict *verdict = &seen.record.verdict;
	int rc = pm_observe(&op->config, /* fresh= */ false, &seen, err);

	if (rc)
		return pm_err_prefix(err, "job expects %s, the node's mode cannot be read", expect);
	for (size_t i = 0; modes[i]; i++) {
		const struct pm_mode_info *row = pm_mode_by_name(modes[i]);

		if (!row || row->platform != verdict->platform)
			continue;
		*ret = row;
		*ret_kernel = seen.record.kernel;
		return 0;
	}
	return not_in(expect, verdict, err);
}

static int to_job(const struct pm_operation *op, const struct pm_job_request *request,
	struct pm_job *ret, struct pm_kernel *ret_kernel, struct pm_err *err)
{
	struct pm_job job = {.id = request->id,
		.uid = request->uid,
		.gid = request->gid,
		.state = PM_JOB_BEGUN,
		.size_bytes = request->size_bytes,
		.memory_bytes = request->memory_bytes};
	const struct pm_mode_info *row;
	int rc = pm_job_choose_mode(op, request->expect, request->modes, &row, ret_kernel, err);

	if (rc)
		return rc;
	strcpy(job.boot_id, ret_kernel->boot_id);
	snprintf(job.run, sizeof(job.run), "%s", request->run ? request->run : "");
	job.mode = row->mode;
	job.substate = row->substate;
	if (job.substate == PM_SUBSTATE_FSDAX && request->wants_devices)
		job.substate = PM_SUBSTATE_DEVDAX;
	else if (job.substate == PM_SUBSTATE_FSDAX && !op->config.provision)
		job.substate = PM_SUBSTATE_EMPTY;
	if (request->all_memory)
		job.memory_bytes = pm_kernel_memory_in(ret_kernel, job.mode);
	pm_timestamp(job.time);
	*ret = job;
	return 0;
}

/* Mistakes of the user that show without a look at the node: -EDQUOT. */
static int check_request(const struct pm_operation *op, const struct pm_job_request *request,
	const struct pm_job *job, struct pm_err *err)
{
	if (request->wants_devices && job->substate != PM_SUBSTATE_DEVDAX)
		return pm_err_set(err, -EDQUOT,
			"there are no devices in mode %s; leave out --pm-namespace or ask for "
			"--pm-mode=appdirect",
			pm_mode_name(job->mode));
	if (request->is_shared && is_alone(job))
		return pm_err_set(err, -EDQUOT,
			"other jobs may be put on the job's nodes, but only one job at a time can "
			"have %s memory; submit the job again with --exclusive",
			pm_substate_name(job->substate));
	if (!op->config.provision && is_alone(job))
		return pm_err_set(err, -EDQUOT,
			"the administrators of this node set up its persistent memory and offer "
			"no %s; ask for --pm-mode=appdirect",
			pm_substate_name(job->substate));
	return 0;
}

/* Writes the sentence into the view, and a record so that the view is removed later. */
static int refuse(const struct pm_operation *op, struct pm_job *job, struct pm_err *err)
{
	struct pm_jobview view = {.mode = job->mode, .refused = err->text};
	struct pm_err write_err;
	int rc;

	job->state = PM_JOB_REFUSED;
	rc = write_record(op, job, &write_err);
	if (!rc)
		rc = write_view(op, job, &view, &write_err);
	if (!rc)
		return PM_EXIT_REFUSED;
	*err = write_err;
	return PM_EXIT_FAILED;
}

static bool is_same(const struct pm_job *a, const struct pm_job *b)
{
	return a->uid == b->uid && a->gid == b->gid && a->mode == b->mode &&
	       a->substate == b->substate && a->size_bytes == b->size_bytes &&
	       !strcmp(a->boot_id, b->boot_id) && !strcmp(a->run, b->run);
}

/*
 * Brings the regions into the sub-state and makes the allotments. -EDQUOT: the job asks for too
 * much; -EAGAIN: there will be enough when trash has been removed.
 */
static int provide(const struct pm_operation *op, const struct pm_job *job, struct pm_jobview *view,
	struct pm_err *err)
{
	cleanup_with(pm_inventory_done) struct pm_inventory inventory = {0};
	cleanup_with(pm_jobs_done) struct pm_jobs jobs = {0};
	int rc;

	if (job->substate == PM_SUBSTATE_EMPTY)
		return pm_substate_make_way(op, err);
	rc = pm_substate_reach(op, job->substate, /* dry_run= */ false, err);
	if (!rc && job->substate == PM_SUBSTATE_FLAT)
		rc = pm_cpusets_follow(&op->config, err);
	if (!rc)
		rc = pm_substate_look(op, &inventory, err);
	if (!rc)
		rc = pm_jobs_of(op, &jobs, err);
	if (!rc)
		rc = pm_allotments_sweep(op, &inventory, &jobs, err);
	if (!rc)
		rc = pm_room_make(op, &inventory, &jobs, job, err);
	if (!rc)
		rc = pm_allotments_check_size(&inventory, &jobs, job, err);
	return rc ? rc : pm_allotments_make(&inventory, &jobs, job, view, err);
}

/*
 * The first failure is returned. If the clean-up fails, the record stays and recovery repeats it.
 */
static int undo(const struct pm_operation *op, const struct pm_jobs *jobs, struct pm_job *job,
	int rc, struct pm_err *err)
{
	struct pm_err undo_err;

	if (finish(op, jobs, job, job->boot_id, &undo_err))
		pm_warn(op, "%s", undo_err.text);
	if (rc == -EAGAIN)
		return PM_EXIT_CONFLICT;
	if (rc == PM_NEEDS_REBOOT)
		return PM_EXIT_REBOOT;
	return rc == -EDQUOT ? refuse(op, job, err) : PM_EXIT_FAILED;
}

static int allot(const struct pm_operation *op, const struct pm_jobs *jobs, struct pm_job *job,
	struct pm_err *err)
{
	cleanup_with(pm_jobview_done) struct pm_jobview view = {.mode = job->mode};
	int rc = write_record(op, job, err);

	if (rc)
		return PM_EXIT_FAILED;
	rc = provide(op, job, &view, err);
	if (!rc)
		rc = write_view(op, job, &view, err);
	if (!rc) {
		job->state = PM_JOB_READY;
		rc = write_record(op, job, err);
	}
	return rc ? undo(op, jobs, job, rc, err) : PM_EXIT_DONE;
}

/*
 * Deals with an earlier begin of this job. PM_EXIT_DONE: it has made all that this one asks for;
 * -EAGAIN: nothing is left of it.
 */
static int resume(const struct pm_operation *op, const struct pm_jobs *jobs,
	const struct pm_job *job, struct pm_err *err)
{
	const struct pm_job *before = pm_jobs_find(jobs, job->id);

	if (!before)
		return -EAGAIN;
	if (before->state == PM_JOB_READY && is_same(before, job) && has_view(op, job))
		return PM_EXIT_DONE;
	return finish(op, jobs, before, job->boot_id, err) ? PM_EXIT_FAILED : -EAGAIN;
}

/* -EBUSY: another job is in the way; its ID is printed. */
static int check_others(const struct pm_jobs *jobs, const struct pm_job *job, struct pm_err *err)
{
	const struct pm_job *other = pm_jobs_conflict(jobs, job);

	if (!other)
		return 0;
	printf(PM_ANSWER_HOLDER "%u\n", (unsigned)other->id);
	return pm_err_set(err, -EBUSY,
		"persistent memory is in use by job %u (%s), job %u needs %s", (unsigned)other->id,
		other->state == PM_JOB_UNREADABLE ? pm_job_state_name(other->state)
						  : pm_substate_name(other->substate),
		(unsigned)job->id, pm_substate_name(job->substate));
}

static int begin(const struct pm_operation *op, const struct pm_job_request *request,
	struct pm_job *job, uint64_t existing_bytes, struct pm_err *err)
{
	cleanup_with(pm_jobs_done) struct pm_jobs jobs = {0};
	int rc;

	if (pm_jobs_of(op, &jobs, err) || finish_dead(op, &jobs, job->boot_id, err))
		return PM_EXIT_FAILED;
	rc = resume(op, &jobs, job, err);
	if (rc != -EAGAIN)
		return rc;
	if (check_others(&jobs, job, err) ||
		pm_job_memory_check(&jobs, job, existing_bytes, request, err))
		return PM_EXIT_CONFLICT;
	return allot(op, &jobs, job, err);
}

int pm_job_begin(
	const struct pm_operation *op, const struct pm_job_request *request, struct pm_err *err)
{
	struct pm_kernel kernel;
	struct pm_job job;

	if (make_dirs(op, err) || to_job(op, request, &job, &kernel, err))
		return PM_EXIT_FAILED;
	if (check_request(op, request, &job, err))
		return refuse(op, &job, err);
	return begin(op, request, &job, pm_kernel_memory_in(&kernel, job.mode), err);
}

/*
 * True: the job's flat memory stays for the next one, and has its mark. The prolog of a job without
 * a mode marks the job, then looks for the idle mark; here it is the other way round, so that one
 * of the two sees the other. A job that was suspended meanwhile has its prolog's mark, too.
 */
static bool keeps_flat(const struct pm_operation *op, const struct pm_jobs *jobs,
	const struct pm_job *job, const char *boot_id)
{
	struct pm_err err;

	if (job->substate != PM_SUBSTATE_FLAT || job->state != PM_JOB_READY ||
		strcmp(job->boot_id, boot_id) || others_live(jobs, job, boot_id))
		return false;
	if (!op->config.substate_idle_s || !op->config.provision)
		return false;
	if (pm_idle_mark(&op->config, &err)) {
		pm_warn(op, "%s; the flat memory is taken back now", err.text);
		return false;
	}
	return !pm_idle_has_jobs(&op->config, job->id);
}

static int end(const struct pm_operation *op, const struct pm_jobs *jobs, const struct pm_job *job,
	const char *boot_id, struct pm_err *err)
{
	if (!keeps_flat(op, jobs, job, boot_id))
		return finish(op, jobs, job, boot_id, err);
	pm_report(op, "the flat memory stays for the next job, for up to %u s",
		op->config.substate_idle_s);
	return forget(op, job->id, err);
}

/* A job without a record has at most a view. */
int pm_job_end(const struct pm_operation *op, uint32_t id, struct pm_err *err)
{
	cleanup_with(pm_jobs_done) struct pm_jobs jobs = {0};
	char boot_id[PM_BOOT_ID_MAX];
	const struct pm_job *job;
	int rc = pm_kernel_boot_id(op->config.fs_root, boot_id, err);

	if (!rc)
		rc = pm_jobs_of(op, &jobs, err);
	if (rc)
		return PM_EXIT_FAILED;
	job = pm_jobs_find(&jobs, id);
	rc = job ? end(op, &jobs, job, boot_id, err) : forget(op, id, err);
	if (rc == PM_NEEDS_REBOOT)
		return PM_EXIT_REBOOT;
	return rc ? PM_EXIT_FAILED : PM_EXIT_DONE;
}
