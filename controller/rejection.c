/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/rejection.h"

#include <errno.h>
#include <slurm/slurm_errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/asprintf.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/hostlist.h"
#include "controller/slurm_api.h"
#include "protocol/job_id.h"

#define STEP_MS 200

/*
 * "COMMENT; sentence", malloc'ed. The site and pmem.lua write into AdminComment, too, and pmem.lua
 * reads it again (pmem_nodes.lua). So the comment stays, except an earlier sentence of
 * pm-controller, which is at its end.
 */
static char *beside(const char *sentence, const char *comment)
{
	const char *before = comment ? comment : "", *ours = strstr(before, PM_REJECTED_HELD);
	int length = (int)(ours ? (size_t)(ours - before) : strlen(before));
	const char *between = ours || !length ? "" : "; ";

	return pm_asprintf("%.*s%s%s", length, before, between, sentence);
}

static int refused(uint32_t job_id, const char *what, struct pm_err *err)
{
	return pm_err_set(err, -EIO, "job %u: %s: %s", job_id, what, slurm_strerror(errno));
}

int pm_job_hold(const slurm_job_info_t *job, char *admin_comment, struct pm_err *err)
{
	job_desc_msg_t update;

	slurm_init_job_desc_msg(&update);
	pm_slurm_set_job(&update, job->job_id);
	update.admin_comment = admin_comment;
	update.priority = 0;
	update.alloc_sid = ALLOC_SID_USER_HOLD;
	return slurm_update_job(&update) ? refused(job->job_id, "hold it", err) : 0;
}

static int hold(const slurm_job_info_t *job, const char *sentence, struct pm_err *err)
{
	cleanup_free char *comment = beside(sentence, job->admin_comment);

	return comment ? pm_job_hold(job, comment, err) : pm_err_nomem(err);
}

/* errno is Slurm's. */
static int ask_requeue(const slurm_job_info_t *job, uint32_t flags)
{
	job_array_resp_msg_t *answers = NULL;
	char id[32];
	int rc;

	/* The last task of an array has the array's id, which slurmctld takes for all tasks. */
	if (job->array_task_id != NO_VAL)
		snprintf(id, sizeof(id), "%u_%u", (unsigned)job->array_job_id,
			(unsigned)job->array_task_id);
	else
		snprintf(id, sizeof(id), "%u", (unsigned)job->job_id);
	rc = slurm_requeue2(id, flags, &answers);
	slurm_free_job_array_resp(answers);
	return rc;
}

int pm_job_back_to_queue(const slurm_job_info_t *job, uint32_t flags, struct pm_err *err)
{
	int rc = ask_requeue(job, flags);

	if (rc && errno == ESLURM_JOB_PENDING) /* another of its nodes was faster */
		return 0;
	return rc ? refused(job->job_id, "requeue it", err) : 0;
}

/* True: slurmctld still has the same run of the job. */
static bool still_runs(const slurm_job_info_t *job)
{
	job_info_msg_t *jobs = NULL;
	bool found = false;

	if (slurm_load_job(&jobs, pm_slurm_id(job->job_id), PM_CLUSTER_SHOWN))
		return false;
	for (uint32_t i = 0; i < jobs->record_count; i++) {
		const slurm_job_info_t *now = &jobs->job_array[i];

		found = found ||
			(now->job_id == job->job_id && now->restart_cnt == job->restart_cnt &&
				(now->job_state & JOB_STATE_BASE) == JOB_RUNNING &&
				!(now->job_state & JOB_COMPLETING));
	}
	pm_cluster_free_jobs(jobs);
	return found;
}

/*
 * In a federation the cluster where the job was submitted decides, and to it the job is not
 * running: with JOB_RUNNING, see below, it does nothing, and reports success. It hears of the
 * job's start a moment after the job's nodes: until then the job is pending to it.
 */
static int requeue_federated(const slurm_job_info_t *job, struct pm_err *err)
{
	int rc = ask_requeue(job, 0);

	for (unsigned ms = 0; rc && errno == ESLURM_JOB_PENDING && ms < PM_FEDERATION_UNHEARD_MS;
		ms += STEP_MS) {
		if (!still_runs(job))
			return 0;
		pm_pause_ms(STEP_MS);
		rc = ask_requeue(job, 0);
	}
	return rc ? refused(job->job_id, "requeue it", err) : 0;
}

/*
 * JOB_RUNNING as in 'scontrol requeue Incomplete': without it a job that was cancelled in the
 * meantime would be requeued, too.
 */
static int requeue(const slurm_job_info_t *job, struct pm_err *err)
{
	return pm_job_id_is_federated(job->job_id) ? requeue_federated(job, err)
						   : pm_job_back_to_queue(job, JOB_RUNNING, err);
}

int pm_job_exclude(const slurm_job_info_t *job, char *nodes, struct pm_err *err)
{
	job_desc_msg_t update;

	slurm_init_job_desc_msg(&update);
	pm_slurm_set_job(&update, job->job_id);
	update.exc_nodes = nodes;
	return slurm_update_job(&update) ? refused(job->job_id, "exclude nodes from it", err) : 0;
}

/*
 * Comes after the requeue, as Slurm changes ExcNodeList of pending jobs only. If it fails, Slurm
 * may choose this node for the job again.
 */
static void exclude(const slurm_job_info_t *job, char *nodes)
{
	struct pm_err err = {0};

	if (strcmp(nodes, job->exc_nodes ? job->exc_nodes : "") != 0 &&
		pm_job_exclude(job, nodes, &err))
		fprintf(stderr, "%s\n", err.text);
}

/* The hold comes before the requeue: a job may start as soon as it is in the queue. */
static int carry_out(
	const slurm_job_info_t *job, struct pm_rejection_verdict *verdict, struct pm_err *err)
{
	int rc = verdict->sentence ? hold(job, verdict->sentence, err) : 0;

	if (!rc)
		rc = requeue(job, err);
	if (!rc)
		exclude(job, verdict->excluded);
	return rc;
}

static bool runs_on(const slurm_job_info_t *job, const char *node)
{
	bool found = false;

	return job->nodes && *job->nodes && !pm_hostlist_contains(job->nodes, node, &found, NULL) &&
	       found;
}

static bool is_over(const slurm_job_info_t *job)
{
	return (job->job_state & JOB_STATE_BASE) > JOB_SUSPENDED;
}

/*
 * True if a pending job is held: for a rejection by another node in the same run, or by its user.
 */
static bool is_held(const slurm_job_info_t *job)
{
	return !job->priority && pm_job_is_pending(job);
}

static int consider(struct pm_rejected_jobs *rejected, const struct pm_cluster *cluster,
	const slurm_job_info_t *job, const struct pm_message *message, unsigned limit,
	bool *ret_done, struct pm_err *err)
{
	cleanup_with(pm_rejection_verdict_done) struct pm_rejection_verdict verdict = {0};
	int rc;

	if (!runs_on(job, message->node))
		return pm_err_set(
			err, -ESRCH, "job %u does not run on '%s'", message->job_id, message->node);
	if (!job->batch_flag)
		return 0; /* srun and salloc: the node cancels it */
	if (is_over(job) || is_held(job)) {
		*ret_done = true;
		return 0;
	}
	rc = pm_rejected_add(
		rejected, cluster, job, message->node, message->text, limit, &verdict, err);
	if (!rc)
		rc = carry_out(job, &verdict, err);
	if (rc)
		return rc;
	fprintf(stderr, "job %u: '%s' turns it away: %s\n", message->job_id, message->node,
		verdict.sentence ? verdict.sentence : message->text);
	if (verdict.sentence)
		pm_rejected_set_held(rejected, job);
	*ret_done = true;
	return 0;
}

int pm_rejection_handle(struct pm_rejected_jobs *rejected, const struct pm_cluster *cluster,
	const struct pm_message *message, unsigned limit, bool *ret_done, struct pm_err *err)
{
	job_info_msg_t *jobs = NULL;
	int rc;

	if (slurm_load_job(&jobs, pm_slurm_id(message->job_id), PM_CLUSTER_SHOWN))
		return refused(message->job_id, "ask slurmctld for it", err);
	rc = pm_err_set(err, -ESRCH, "job %u does not run on '%s'", message->job_id, message->node);
	for (uint32_t i = 0; i < jobs->record_count; i++)
		if (jobs->job_array[i].job_id == message->job_id)
			rc = consider(rejected, cluster, &jobs->job_array[i], message, limit,
				ret_done, err);
	pm_cluster_free_jobs(jobs);
	return rc;
}
