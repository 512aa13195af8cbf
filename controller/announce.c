/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/announce.h"

#include <inttypes.h>

#include "base/asprintf.h"
#include "base/cleanup.h"
#include "controller/node_features.h"
#include "controller/slurm_api.h"
#include "site/modes.h"

/* Between two messages about nodes that are back; the last one is not delayed. */
#define PAUSE_S 10

/* Nodes of a job: those that reboot, and all that have rebooted since the first of them. */
struct progress {
	unsigned open, total;
	const struct pm_reboot *one; /* that reboots, or the last that did */
};

static struct progress progress_of(const struct pm_reboots *reboots, const struct pm_announced *job)
{
	struct progress progress = {0};

	for (size_t i = 0; i < reboots->n; i++) {
		const struct pm_reboot *reboot = &reboots->list[i];

		if (reboot->job_id != job->job_id || reboot->start_s < job->since_s)
			continue;
		progress.total++;
		progress.open += !reboot->end_s;
		if (!progress.one || !reboot->end_s)
			progress.one = reboot;
	}
	return progress;
}

static char *begin_text(const struct pm_reboot *one, unsigned total, uint64_t median_s)
{
	cleanup_free char *who =
		total == 1 ? pm_asprintf("%s reboots", one->node)
			   : pm_asprintf("%u nodes, %s among them, reboot", total, one->node);

	if (!who)
		return NULL;
	return median_s ? pm_asprintf("pm: %s into mode %s for this job; the last reboots took "
				      "%" PRIu64 " s",
				  who, pm_mode_name_of_feature(one->to), median_s)
			: pm_asprintf("pm: %s into mode %s for this job", who,
				  pm_mode_name_of_feature(one->to));
}

char *pm_announce_text(const struct pm_announced *job, const struct pm_reboot *one, unsigned open,
	unsigned total, uint64_t median_s, uint64_t now_s)
{
	uint64_t passed_s = now_s > job->since_s ? now_s - job->since_s : 0;

	if (!job->told_s)
		return begin_text(one, total, median_s);
	if (open)
		return pm_asprintf("pm: %u of %u nodes are back after %" PRIu64 " s", total - open,
			total, passed_s);
	if (total == 1 && one->failure)
		return pm_asprintf("pm: %s %.200s", one->node, one->failure);
	return total == 1 ? pm_asprintf("pm: %s is back after %" PRIu64 " s", one->node, passed_s)
			  : pm_asprintf("pm: all %u nodes have rebooted after %" PRIu64 " s", total,
				    passed_s);
}

static bool is_due(const struct pm_announced *job, const struct progress *progress, uint64_t now_s)
{
	if (!job->told_s || !progress->open)
		return true;
	return progress->open != job->told_open && now_s >= job->told_s + PAUSE_S;
}

static void tell(struct pm_announced *job, const struct pm_reboots *reboots,
	const struct progress *progress, uint64_t now_s)
{
	cleanup_free char *text = pm_announce_text(job, progress->one, progress->open,
		progress->total, pm_reboots_median_s(reboots, progress->one->to), now_s);

	if (text)
		(void)slurm_notify_job(pm_slurm_id(job->job_id), text);
	job->told_s = now_s;
	job->told_open = progress->open;
}

static struct pm_announced *find(struct pm_announcements *announcements, uint32_t job_id)
{
	for (size_t i = 0; i < PM_ANNOUNCED_MAX; i++)
		if (announcements->jobs[i].job_id == job_id)
			return &announcements->jobs[i];
	return NULL;
}

static void add(struct pm_announcements *announcements, const struct pm_reboot *reboot)
{
	struct pm_announced *job = find(announcements, reboot->job_id);

	if (!job) {
		job = find(announcements, 0);
		if (!job)
			return;
		*job = (struct pm_announced){.job_id = reboot->job_id, .since_s = reboot->start_s};
	}
	if (reboot->start_s < job->since_s)
		job->since_s = reboot->start_s;
}

/* False: the table of jobs does not have it yet. */
static bool announce(struct pm_announced *job, const struct pm_cluster *cluster,
	const struct pm_reboots *reboots, uint64_t now_s)
{
	const slurm_job_info_t *record = pm_cluster_job(cluster, job->job_id);
	struct progress progress = progress_of(reboots, job);

	if (record && !record->batch_flag && progress.total && is_due(job, &progress, now_s))
		tell(job, reboots, &progress, now_s);
	if (!progress.open)
		job->job_id = 0;
	return record != NULL;
}

static uint64_t shifted(uint64_t time_s, int64_t by_s)
{
	return time_s ? (uint64_t)((int64_t)time_s + by_s) : 0;
}

void pm_announce_shift(struct pm_announcements *announcements, int64_t by_s)
{
	for (size_t i = 0; i < PM_ANNOUNCED_MAX; i++) {
		struct pm_announced *job = &announcements->jobs[i];

		job->since_s = shifted(job->since_s, by_s);
		job->told_s = shifted(job->told_s, by_s);
	}
}

void pm_announce(struct pm_announcements *announcements, const struct pm_cluster *cluster,
	const struct pm_reboots *reboots, uint64_t now_s, bool *ret_unknown)
{
	*ret_unknown = false;
	for (size_t i = 0; reboots->n_open && i < reboots->n; i++)
		if (reboots->list[i].job_id && !reboots->list[i].end_s)
			add(announcements, &reboots->list[i]);
	for (size_t i = 0; i < PM_ANNOUNCED_MAX; i++)
		if (announcements->jobs[i].job_id)
			*ret_unknown |= !announce(&announcements->jobs[i], cluster, reboots, now_s);
}
