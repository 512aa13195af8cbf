/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/service.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/asprintf.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "controller/control.h"
#include "controller/explain.h"
#include "controller/overview.h"
#include "controller/reboot_sums.h"
#include "controller/reinstate.h"
#include "controller/user_hold.h"
#include "controller/modes_file.h"
#include "controller/notify.h"
#include "controller/reader_file.h"
#include "controller/rejection.h"

/*
 * Pauses between two requests to slurmctld for the nodes: with a waiter, with a mistaken hold,
 * else.
 */
#define NODES_WAITED_MS 1000
#define NODES_HELD_MS	5000
#define NODES_QUIET_MS	10000
#define CONFIG_MS	60000
#define JOBS_MS		15000

/* The same, of both tables, while jobs may wait for nodes of their mode. */
#define LEASES_MS 5000

/* Pauses between requests for the jobs that an explanation or a message needs. */
#define FRESH_JOBS_MS 500

/* One answer serves all who ask within this time. */
#define ANSWER_MS 2000

#define FILE_MS 10000
#define TELL_MS 20000 /* between two replies "still" to a waiter */
#define TURN_MS 500

/* Logs the first failure of slurmctld, and when it answers again. True if it answered. */
static bool said(struct pm_service *service, int rc, const struct pm_err *err)
{
	if (rc && !service->failing)
		fprintf(stderr, "%s; trying again\n", err->text);
	if (!rc && service->failing)
		fprintf(stderr, "slurmctld answers again\n");
	service->failing = rc != 0;
	return !rc;
}

/* Unix time, for what is kept or told. */
static uint64_t now_s(void)
{
	return (uint64_t)time(NULL);
}

static bool is_due(uint64_t last_ms, uint64_t pause_ms)
{
	return !last_ms || pm_now_ms() - last_ms >= pause_ms;
}

typedef int pm_load(struct pm_cluster *cluster, struct pm_err *err);

/* Slurm's library tries for MessageTimeout to reach a slurmctld that does not run. */
static int ask(struct pm_service *service, pm_load *what, struct pm_err *err)
{
	if (service->own.has_others && !pm_own_host_listens(&service->own))
		return pm_err_set(
			err, -EIO, "slurmctld of this host, '%s', does not run", service->own.name);
	return what(&service->cluster, err);
}

/* With several controllers the first failure counts: pm_control_check(). */
static bool has_lost_control(const struct pm_service *service)
{
	return service->failing && service->own.has_others;
}

/* Times of what is going on move with the clock, so that durations stay right. */
static void look_at_clock(struct pm_service *service)
{
	int64_t jump_s =
		pm_cluster_look_at_clock(&service->cluster, time(NULL), pm_now_ms() / 1000);

	if (!jump_s)
		return;
	fprintf(stderr, "the clock was set by %lld s: asking slurmctld for all again\n",
		(long long)jump_s);
	pm_reboots_shift(&service->reboots, jump_s);
	pm_announce_shift(&service->announcements, jump_s);
	pm_leases_shift(&service->leases, jump_s, now_s());
}

/*
 * True if the table was loaded now. *last_ms is the time after the reply, so that a slow slurmctld
 * does not get more requests.
 */
static bool load(struct pm_service *service, pm_load *what, uint64_t *last_ms, uint64_t pause_ms)
{
	struct pm_err err = {0};
	int rc;

	if (!is_due(*last_ms, pause_ms) || has_lost_control(service))
		return false;
	look_at_clock(service);
	rc = ask(service, what, &err);
	*last_ms = pm_now_ms();
	return said(service, rc, &err);
}

/*
 * Writes the file only when slurmctld has answered. Else the file gets old, and readers ignore it.
 * `changed`: a node has changed, so the file is written though it is not old.
 */
static void write_modes(struct pm_service *service, bool changed)
{
	cleanup_free char *path = pm_asprintf("%s/modes", service->run_dir), *text = NULL;
	struct pm_err err = {0};

	if (!load(service, pm_cluster_load_partitions, &service->file_ms, FILE_MS) &&
		!(changed && service->cluster.partitions))
		return;
	text = pm_modes_text(&service->cluster, &service->reboots, time(NULL));
	if (!text || !path)
		return;
	if (pm_reader_file_write(path, text,
		    service->cluster.private_nodes ? &service->cluster.slurm_uid : NULL, &err))
		fprintf(stderr, "%s\n", err.text);
}

static uint64_t nodes_pause_ms(const struct pm_service *service)
{
	if (service->waiters.first)
		return NODES_WAITED_MS;
	return service->holds.waited || pm_leases_are_wanted(&service->leases) ? NODES_HELD_MS
									       : NODES_QUIET_MS;
}

/* Without the sweeps of load_all(), which have a pause of their own. */
static void load_fresh_jobs(struct pm_service *service)
{
	(void)load(service, pm_cluster_load_jobs, &service->fresh_jobs_ms, FRESH_JOBS_MS);
}

/* A job may be younger than the table of jobs. */
static void announce(struct pm_service *service)
{
	bool unknown;

	pm_announce(
		&service->announcements, &service->cluster, &service->reboots, now_s(), &unknown);
	if (unknown)
		load_fresh_jobs(service);
}

/* A limit of reboots that an administrator writes holds at once, as it does for pmem.lua. */
static bool is_config_changed(struct pm_service *service)
{
	const char *path = service->config_path ? service->config_path : PM_CONFIG_DEFAULT_PATH;
	struct stat now = {0}, before = service->config_file;

	(void)stat(path, &now); /* one that cannot be read differs, once */
	service->config_file = now;
	return now.st_ino != before.st_ino || now.st_size != before.st_size ||
	       now.st_mtim.tv_sec != before.st_mtim.tv_sec ||
	       now.st_mtim.tv_nsec != before.st_mtim.tv_nsec;
}

/* If pmem.conf has an error, what it had before stays. */
static int load_policy(struct pm_service *service, struct pm_config *config)
{
	struct pm_err err = {0};
	int rc = pm_config_load(service->config_path, config, &err);

	if (rc && !service->has_old_policy)
		fprintf(stderr,
			"%s; what it had before stays in force for queued jobs, and new ones with "
			"a mode are refused\n",
			err.text);
	if (!rc && service->has_old_policy)
		fprintf(stderr, "'%s' can be read again\n", service->config_path);
	service->has_old_policy = rc != 0;
	return rc;
}

static void configure_jobs(struct pm_service *service)
{
	cleanup_with(pm_config_done) struct pm_config config = {0};

	if (load_policy(service, &config))
		return;
	pm_leases_configure(&service->leases, &config, &service->cluster);
	pm_permits_configure(&service->permits, &config, service->run_dir);
}

/* True if leases or permits may be decided on: slurmctld is asked only where there may be some. */
static bool knows_nodes(const struct pm_service *service)
{
	return (pm_leases_are_wanted(&service->leases) || service->permits.wanted) &&
	       pm_cluster_is_settled(now_s());
}

/*
 * The nodes are loaded after the jobs: a job that is still pending in the older table, while its
 * nodes reboot already, is then counted twice by pm_permits_look(), never left out.
 * The order matters: pm_rejected_sweep() removes ended jobs before their list is used, and
 * pm_holds_look() gets the newest tables.
 */
static void load_tables(struct pm_service *service)
{
	time_t before = service->cluster.nodes ? service->cluster.nodes->last_update : 0;
	bool jobs = load(service, pm_cluster_load_jobs, &service->jobs_ms,
		pm_leases_are_wanted(&service->leases) ? LEASES_MS : JOBS_MS);
	bool nodes = load(service, pm_cluster_load_nodes, &service->nodes_ms,
		jobs && service->permits.wanted ? 0 : nodes_pause_ms(service));
	bool settled;

	if (nodes) {
		pm_reboots_look(&service->reboots, &service->cluster, &service->waiters, now_s());
		pm_off_modes_tell(&service->off_modes, &service->cluster, &service->reboots);
		write_modes(service, service->cluster.nodes->last_update != before);
	}
	announce(service);
	if (jobs) {
		pm_rejected_sweep(&service->rejected, &service->cluster);
		pm_reinstate_scan(&service->rejected, &service->cluster);
		pm_user_holds_restore(&service->rejected, &service->cluster);
		pm_reports_sweep(&service->reports, now_s());
		pm_history_sweep(&service->history, service->reports.keep_days, now_s());
		pm_history_sum_up(&service->history, service->cluster.slurm_uid, now_s());
	}
	if (nodes || jobs)
		pm_holds_look(&service->holds, &service->cluster);
	settled = jobs && knows_nodes(service);
	if (jobs && (nodes || !service->permits.wanted))
		pm_permits_look(
			&service->permits, &service->cluster, &service->reboots, settled, now_s());
	if (jobs)
		pm_leases_look(&service->leases, &service->cluster, &service->reboots,
			service->run_dir, settled, now_s());
}

/*
 * The configuration first, so that a service that has just begun settles jobs in its first look. It
 * is loaded again since PrivateData may change.
 */
static void load_all(struct pm_service *service)
{
	bool changed = is_config_changed(service);

	if (load(service, pm_cluster_load_config, &service->config_ms, CONFIG_MS) ||
		(changed && service->cluster.name))
		configure_jobs(service);
	load_tables(service);
}

/*
 * Slurm suspends a job for which nodes still boot, and never launches it: resumed, it is RUNNING
 * without a process (seen on 22.05). Slurm requeues batch jobs alone.
 */
static void take_back_suspended(const struct pm_service *service, const struct pm_waiter *waiter)
{
	const slurm_job_info_t *job = pm_cluster_job(&service->cluster, waiter->job_id);
	struct pm_err err;

	if (service->cluster.job_asks <= waiter->job_asks) /* of before it was started again */
		return;
	if (!job || (job->job_state & JOB_STATE_BASE) != JOB_SUSPENDED || !job->batch_flag)
		return;
	if (pm_job_back_to_queue(job, JOB_REQUEUE_HOLD, &err))
		fprintf(stderr, "%s\n", err.text);
	else
		fprintf(stderr,
			"job %u was suspended while its nodes boot, before it began: requeued and "
			"held, as Slurm would not start it; 'scontrol release %u' lets it run\n",
			(unsigned)job->job_id, (unsigned)job->job_id);
}

/* A suspended job's nodes are free: the table of jobs may be older than that of nodes. */
static void refresh_job(struct pm_service *service, const struct pm_waiter *waiter)
{
	struct pm_err err;

	for (char **name = waiter->names; *name; name++) {
		const node_info_t *node = pm_cluster_node(&service->cluster, *name);

		if (node && pm_node_is_free(node->node_state)) {
			if (pm_cluster_load_jobs(&service->cluster, &err))
				fprintf(stderr, "%s\n", err.text);
			return;
		}
	}
}

static void end_waiter(struct pm_service *service, struct pm_waiter *waiter)
{
	struct pm_message reply = {.type = PM_MESSAGE_READY};
	struct pm_peer *peer = waiter->peer;

	refresh_job(service, waiter);
	take_back_suspended(service, waiter);
	pm_waiters_remove(&service->waiters, waiter);
	pm_server_reply(&service->server, peer, &reply, /* last= */ true);
}

static void tell_still(struct pm_service *service, struct pm_waiter *waiter)
{
	struct pm_message reply = {.type = PM_MESSAGE_STILL};

	if (!is_due(waiter->told_ms, TELL_MS))
		return;
	waiter->told_ms = pm_now_ms();
	pm_server_reply(&service->server, waiter->peer, &reply, /* last= */ false);
}

static void serve_waiters(struct pm_service *service)
{
	struct pm_waiter *next;

	for (struct pm_waiter *waiter = service->waiters.first; waiter; waiter = next) {
		next = waiter->next;
		if (pm_waiter_is_done(waiter, &service->cluster))
			end_waiter(service, waiter);
		else
			tell_still(service, waiter);
	}
}

/*
 * Only slurmctld's own programs may wait: a waiter has no deadline and takes a place among the
 * peers.
 */
static void add_waiter(
	struct pm_service *service, struct pm_peer *peer, const struct pm_message *request)
{
	struct pm_err err = {0};

	if (peer->remote || !peer->trusted) {
		pm_server_refuse(&service->server, peer,
			"only root and SlurmUser may wait, and only over the unix socket");
		return;
	}
	if (pm_waiters_add(&service->waiters, &service->cluster, peer, request, &err))
		pm_server_refuse(&service->server, peer, err.text);
}

static void reply_list(struct pm_service *service, struct pm_peer *peer, json_object *list)
{
	cleanup_with(pm_json_cleanup) json_object *mine = list;
	struct pm_message reply = {.type = PM_MESSAGE_LIST, .list = list};

	if (mine)
		pm_server_reply(&service->server, peer, &reply, /* last= */ true);
	else
		pm_server_refuse(&service->server, peer, "out of memory");
}

/* False: the peer was refused. */
static bool may_see_nodes(struct pm_service *service, struct pm_peer *peer)
{
	if (!service->cluster.private_nodes || peer->trusted)
		return true;
	pm_server_refuse(&service->server, peer, "PrivateData keeps nodes from users");
	return false;
}

/* The answer is kept for a while: a login node's users may all ask at once. */
static void tell_cluster(struct pm_service *service, struct pm_peer *peer)
{
	if (!service->modes_answer || is_due(service->answer_ms, ANSWER_MS)) {
		json_object_put(service->modes_answer);
		service->modes_answer =
			pm_overview_modes(&service->cluster, &service->reboots, now_s());
		service->answer_ms = pm_now_ms();
	}
	reply_list(service, peer, json_object_get(service->modes_answer));
}

/* The uid of which alone the peer may see jobs; NULL: all. */
static const uid_t *only_of(const struct pm_peer *peer, bool is_private)
{
	return is_private && !peer->trusted ? &peer->uid : NULL;
}

static void tell_nodes(
	struct pm_service *service, struct pm_peer *peer, const struct pm_message *request)
{
	const struct pm_overview overview = {.cluster = &service->cluster,
		.reboots = &service->reboots,
		.rejected = &service->rejected,
		.substates = &service->substates,
		.only = only_of(peer, service->cluster.private_jobs),
		.now_s = now_s()};

	reply_list(service, peer, pm_overview_nodes(&overview, request->after));
}

static void tell_of_nodes(
	struct pm_service *service, struct pm_peer *peer, const struct pm_message *request)
{
	if (!may_see_nodes(service, peer))
		return;
	if (request->type == PM_MESSAGE_MODES)
		reply_list(service, peer, pm_modes_list(&service->cluster));
	else if (request->type == PM_MESSAGE_CLUSTER)
		tell_cluster(service, peer);
	else
		tell_nodes(service, peer, request);
}

static void tell_reboots(
	struct pm_service *service, struct pm_peer *peer, const struct pm_message *request)
{
	bool is_private = service->cluster.private_jobs || service->cluster.private_usage;

	if (may_see_nodes(service, peer))
		reply_list(service, peer,
			pm_reboot_sums(
				&service->reboots, request, only_of(peer, is_private), now_s()));
}

/*
 * Loads the jobs for a request about one. False: the table may be older than the request, and the
 * next turn will have a newer one, which is needed for a job that it does not have, for a report's
 * first page, and for what a node tells of a job: the job has just ended then, and slurmctld has
 * its end and its energy. slurmctld is asked no more often for that.
 */
static bool find_job(struct pm_service *service, const struct pm_peer *peer)
{
	const struct pm_message *request = &peer->request;
	bool has_ended =
		request->type == PM_MESSAGE_USED ||
		(request->type == PM_MESSAGE_REPORT && !(request->after && atoi(request->after)));

	load_fresh_jobs(service);
	return service->fresh_jobs_ms >= peer->asked_ms ||
	       (!has_ended && pm_cluster_job(&service->cluster, request->job_id));
}

static void explain(
	struct pm_service *service, struct pm_peer *peer, const struct pm_message *request)
{
	const slurm_job_info_t *job = pm_cluster_job(&service->cluster, request->job_id);

	if (!job ||
		(service->cluster.private_jobs && !peer->trusted && peer->uid != job->user_id)) {
		pm_server_refuse(
			&service->server, peer, "Slurm has no such job, or it ended a while ago");
		return;
	}
	reply_list(service, peer,
		pm_explain(&service->cluster, &service->reboots, &service->permits, job, now_s()));
}

/* It is of use alone: if it fails, the report is kept all the same. */
static void keep_history(struct pm_service *service, const struct pm_message *message)
{
	cleanup_with(pm_job_use_done) struct pm_job_use use = {0};
	struct pm_err err = {0};

	if (!pm_reports_read_use(message, &use, &err) &&
		pm_history_add(&service->history, &service->cluster, message->node, &use, &err))
		fprintf(stderr, "%s: %s\n", message->node, err.text);
}

/* A node's root is trusted, as slurmctld trusts it. */
static void keep_use(
	struct pm_service *service, struct pm_peer *peer, const struct pm_message *message)
{
	struct pm_message reply = {.type = PM_MESSAGE_NOTED};
	struct pm_err err = {0};
	int rc;

	if (!peer->trusted) {
		pm_server_refuse(
			&service->server, peer, "only root and SlurmUser may tell what a job used");
		return;
	}
	rc = pm_reports_add(&service->reports, &service->cluster, &service->reboots, message, &err);
	if (rc)
		fprintf(stderr, "%s: %s\n", message->node, err.text);
	if (rc == -EBADMSG || rc == -EFBIG) {
		pm_server_refuse(&service->server, peer, err.text);
		return;
	}
	if (rc)
		reply.type = PM_MESSAGE_STILL;
	else if (service->reports.keep_days)
		keep_history(service, message);
	pm_server_reply(&service->server, peer, &reply, /* last= */ true);
}

static void keep_substate(
	struct pm_service *service, struct pm_peer *peer, const struct pm_message *message)
{
	struct pm_message reply = {.type = PM_MESSAGE_NOTED};
	struct pm_err err = {0};

	if (!peer->trusted)
		pm_server_refuse(
			&service->server, peer, "only root and SlurmUser may tell a sub-state");
	else if (pm_substates_set(&service->substates, message->node, message->text, now_s(), &err))
		pm_server_refuse(&service->server, peer, err.text);
	else
		pm_server_reply(&service->server, peer, &reply, /* last= */ true);
}

/* A job's memory is told to its owner alone, whatever PrivateData says. */
static void tell_report(
	struct pm_service *service, struct pm_peer *peer, const struct pm_message *request)
{
	json_object *list = NULL;
	struct pm_err err = {0};

	if (pm_reports_answer(&service->reports, &service->cluster, &service->reboots, request,
		    peer->trusted ? NULL : &peer->uid, &list, &err))
		pm_server_refuse(&service->server, peer, err.text);
	else
		reply_list(service, peer, list);
}

/* A node's root is trusted, as slurmctld trusts it. */
static void handle_rejection(
	struct pm_service *service, struct pm_peer *peer, const struct pm_message *message)
{
	struct pm_message reply = {.type = PM_MESSAGE_NOTED};
	struct pm_err err = {0};
	bool done = false;

	if (!peer->trusted) {
		pm_server_refuse(
			&service->server, peer, "only root and SlurmUser may reject a job");
		return;
	}
	if (pm_rejection_handle(&service->rejected, &service->cluster, message,
		    service->turn_away_limit, &done, &err)) {
		fprintf(stderr, "%s: %s\n", message->node, err.text);
		pm_server_refuse(&service->server, peer, err.text);
		return;
	}
	if (done)
		reply.type = PM_MESSAGE_REQUEUED;
	pm_server_reply(&service->server, peer, &reply, /* last= */ true);
}

static void handle(
	struct pm_service *service, struct pm_peer *peer, const struct pm_message *request)
{
	bool all = peer->trusted || !service->cluster.private_jobs;

	if (request->type == PM_MESSAGE_WAIT)
		add_waiter(service, peer, request);
	else if (request->type == PM_MESSAGE_WAITING)
		reply_list(service, peer, pm_waiters_list(&service->waiters, all, peer->uid));
	else if (request->type == PM_MESSAGE_EXPLAIN)
		explain(service, peer, request);
	else if (request->type == PM_MESSAGE_REBOOTS)
		tell_reboots(service, peer, request);
	else if (request->type == PM_MESSAGE_TURNED_AWAY)
		handle_rejection(service, peer, request);
	else if (request->type == PM_MESSAGE_USED)
		keep_use(service, peer, request);
	else if (request->type == PM_MESSAGE_SUBSTATE)
		keep_substate(service, peer, request);
	else if (request->type == PM_MESSAGE_REPORT)
		tell_report(service, peer, request);
	else
		tell_of_nodes(service, peer, request);
}

static bool serve(void *context, struct pm_peer *peer)
{
	struct pm_service *service = context;
	const struct pm_message *request = &peer->request;
	bool of_job = request->type == PM_MESSAGE_EXPLAIN || request->type == PM_MESSAGE_REPORT ||
		      (request->type == PM_MESSAGE_USED && peer->trusted);

	if (!service->serves && !pm_control_look_for(service)) {
		pm_control_refuse(service, peer);
		return true;
	}
	if (!service->cluster.nodes && service->own.has_others) /* the tables are loaded next */
		return false;
	if (of_job && !find_job(service, peer))
		return false;
	handle(service, peer, request);
	return true;
}

static void gone(void *context, struct pm_peer *peer)
{
	struct pm_service *service = context;

	if (peer->waiter)
		pm_waiters_remove(&service->waiters, peer->waiter);
}

void pm_service_run(struct pm_service *service, const volatile sig_atomic_t *stop)
{
	const struct pm_server_calls calls = {.serve = serve, .gone = gone, .context = service};

	while (!*stop) {
		pm_server_turn(&service->server, TURN_MS, &calls);
		pm_control_look(service);
		if (service->serves)
			load_all(service);
		pm_control_check(service);
		pm_groups_turn(&service->groups, service->config_path, service->run_dir);
		if (service->serves && service->cluster.name)
			pm_clusters_turn(&service->clusters, service->config_path, service->run_dir,
				service->cluster.name);
		serve_waiters(service);
		pm_notify("WATCHDOG=1");
	}
	while (service->waiters.first)
		pm_waiters_remove(&service->waiters, service->waiters.first);
	pm_holds_done(&service->holds);
	json_object_put(service->modes_answer);
	service->modes_answer = NULL;
}
