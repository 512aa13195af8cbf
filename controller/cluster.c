/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "controller/cluster.h"

#include <errno.h>
#include <slurm/slurm_errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/strv.h"
#include "controller/slurm_api.h"

#define SETTLE_S 30

/* Limit of names in a list, far above any job's. */
#define MAX_NAMES 65536

/* Of libslurm, for what Slurm has allocated; its headers do not declare it. It sets the pointer to
 * NULL. */
extern void slurm_xfree(void **item);

static const char auth_socket[] = "socket=";

/*
 * 1: the table has changed, 0: it has not; else -EIO with Slurm's message. Reads errno, so it comes
 * right after Slurm's call.
 */
static int verdict(int rc, const char *what, struct pm_err *err)
{
	int number = rc ? errno : 0;

	if (!rc)
		return 1;
	if (number == SLURM_NO_CHANGE_IN_DATA)
		return 0;
	return pm_err_set(err, -EIO, "ask slurmctld for %s: %s", what, slurm_strerror(number));
}

static char *socket_of(const char *auth_info)
{
	const char *at = auth_info ? strstr(auth_info, auth_socket) : NULL;

	if (!at)
		return NULL;
	at += strlen(auth_socket);
	return strndup(at, strcspn(at, ","));
}

static void replace(char **field, const char *text)
{
	free(*field);
	*field = text ? strdup(text) : NULL;
}

/* 22.05 looks at DelayBoot before it wakes a node, 24.11 does not; those between were not tried. */
static bool looks_at_delay_boot(const slurm_conf_t *config)
{
	return config->version && !strncmp(config->version, "22.05", strlen("22.05"));
}

static void take_power_saving(struct pm_cluster *cluster, const slurm_conf_t *config)
{
	replace(&cluster->suspend_program, config->suspend_program);
	replace(&cluster->resume_program, config->resume_program);
	cluster->wakes_regardless = config->suspend_program && !looks_at_delay_boot(config);
	cluster->suspend_timeout_s = config->suspend_timeout;
	cluster->resume_timeout_s = config->resume_timeout;
}

static unsigned timeout_of(uint16_t value)
{
	return value == NO_VAL16 || value == INFINITE16 ? 0 : value;
}

static void take_health_check(struct pm_cluster *cluster, const slurm_conf_t *config)
{
	replace(&cluster->health_program, config->health_check_program);
	cluster->health_interval_s = config->health_check_interval;
	cluster->health_states = config->health_check_node_state;
}

void pm_cluster_take_config(struct pm_cluster *cluster, const slurm_conf_t *config)
{
	cluster->slurm_uid = config->slurm_user_id;
	cluster->private_jobs = config->private_data & PRIVATE_DATA_JOBS;
	cluster->private_usage = config->private_data & PRIVATE_DATA_USAGE;
	cluster->private_nodes = config->private_data & PRIVATE_DATA_NODES;
	cluster->suspends = config->preempt_mode & PREEMPT_MODE_SUSPEND;
#ifdef PROLOG_FLAG_RUN_IN_JOB
	cluster->runs_in_job = config->prolog_flags & PROLOG_FLAG_RUN_IN_JOB;
#endif
	cluster->prolog_timeout_s = timeout_of(pm_slurm_prolog_timeout(config));
	take_health_check(cluster, config);
	take_power_saving(cluster, config);
	replace(&cluster->pid_file, config->slurmctld_pidfile);
	replace(&cluster->name, config->cluster_name);
	replace(&cluster->slurmctld_params, config->slurmctld_params);
	if (!cluster->munge_socket) /* peers and server point to it; a change needs a restart of all
				       daemons anyway */
		cluster->munge_socket = socket_of(config->authinfo);
}

int pm_cluster_load_config(struct pm_cluster *cluster, struct pm_err *err)
{
	slurm_conf_t *config = NULL;
	int rc = verdict(slurm_load_ctl_conf(0, &config), "its configuration", err);

	if (rc < 0)
		return rc;
	pm_cluster_take_config(cluster, config);
	pm_slurm_free_config(config);
	return 0;
}

bool pm_cluster_is_settled(uint64_t now_s)
{
	slurm_conf_t *config = NULL;
	uint64_t boot_s;

	if (slurm_load_ctl_conf(0, &config))
		return false;
	boot_s = (uint64_t)config->boot_time;
	pm_slurm_free_config(config);
	return now_s >= boot_s + SETTLE_S || now_s < boot_s; /* the clock was set back */
}

unsigned pm_cluster_suspend_timeout_s(const struct pm_cluster *cluster)
{
	const partition_info_msg_t *all = cluster->partitions;
	unsigned longest_s = cluster->suspend_timeout_s;

	for (uint32_t i = 0; all && i < all->record_count; i++) {
		uint16_t one_s = all->partition_array[i].suspend_timeout;

		if (one_s != NO_VAL16 && one_s != INFINITE16 && one_s > longest_s)
			longest_s = one_s;
	}
	return longest_s;
}

static int compare(const void *a, const void *b)
{
	return strcmp(
		(*(const node_info_t *const *)a)->name, (*(const node_info_t *const *)b)->name);
}

/* Owns `nodes` from here on. Entries of removed nodes have no name. */
static int take_nodes(struct pm_cluster *cluster, node_info_msg_t *nodes, struct pm_err *err)
{
	const node_info_t **by_name = calloc(nodes->record_count + 1, sizeof(*by_name));
	uint32_t n = 0;

	if (!by_name) {
		slurm_free_node_info_msg(nodes);
		return pm_err_nomem(err);
	}
	for (uint32_t i = 0; i < nodes->record_count; i++)
		if (nodes->node_array[i].name)
			by_name[n++] = &nodes->node_array[i];
	qsort(by_name, n, sizeof(*by_name), compare);
	free(cluster->by_name);
	slurm_free_node_info_msg(cluster->nodes);
	cluster->by_name = by_name;
	cluster->n_by_name = n;
	cluster->nodes = nodes;
	return 0;
}

/* The two clocks are read one after the other: their distance may differ by a second. */
int64_t pm_cluster_look_at_clock(struct pm_cluster *cluster, time_t wall_s, uint64_t monotonic_s)
{
	int64_t distance_s = (int64_t)wall_s - (int64_t)monotonic_s;
	int64_t jump_s = cluster->clock_s ? distance_s - cluster->clock_s : 0;
	bool was_set = jump_s > 1 || jump_s < -1;

	if (was_set || !cluster->clock_s)
		cluster->clock_s = distance_s;
	if (!was_set)
		return 0;
	if (cluster->nodes)
		cluster->nodes->last_update = 0;
	if (cluster->partitions)
		cluster->partitions->last_update = 0;
	if (cluster->jobs)
		cluster->jobs->last_update = 0;
	return jump_s;
}

int pm_cluster_load_nodes(struct pm_cluster *cluster, struct pm_err *err)
{
	time_t last = cluster->nodes ? cluster->nodes->last_update : 0;
	node_info_msg_t *nodes = NULL;
	int rc = verdict(slurm_load_node(last, &nodes, PM_CLUSTER_SHOWN), "the nodes", err);

	if (rc > 0)
		rc = take_nodes(cluster, nodes, err);
	if (!rc)
		cluster->node_asks++;
	return rc;
}

int pm_cluster_load_partitions(struct pm_cluster *cluster, struct pm_err *err)
{
	time_t last = cluster->partitions ? cluster->partitions->last_update : 0;
	partition_info_msg_t *partitions = NULL;
	int rc = verdict(
		slurm_load_partitions(last, &partitions, PM_CLUSTER_SHOWN), "the partitions", err);

	if (rc <= 0)
		return rc;
	slurm_free_partition_info_msg(cluster->partitions);
	cluster->partitions = partitions;
	return 0;
}

void pm_cluster_free_jobs(job_info_msg_t *jobs)
{
	for (uint32_t i = 0; jobs && i < jobs->record_count; i++)
		slurm_xfree((void **)&jobs->job_array[i].admin_comment);
	slurm_free_job_info_msg(jobs);
}

int pm_cluster_load_jobs(struct pm_cluster *cluster, struct pm_err *err)
{
	time_t last = cluster->jobs ? cluster->jobs->last_update : 0;
	job_info_msg_t *jobs = NULL;
	int rc = verdict(slurm_load_jobs(last, &jobs, PM_CLUSTER_SHOWN), "the jobs", err);

	if (rc < 0)
		return rc;
	cluster->job_asks++;
	if (!rc)
		return 0;
	pm_cluster_free_jobs(cluster->jobs);
	cluster->jobs = jobs;
	return 0;
}

const node_info_t *pm_cluster_node(const struct pm_cluster *cluster, const char *name)
{
	const node_info_t wanted = {.name = (char *)name}, *key = &wanted;
	const node_info_t **found;

	if (!cluster->by_name)
		return NULL;
	found = bsearch(&key, cluster->by_name, cluster->n_by_name, sizeof(key), compare);
	return found ? *found : NULL;
}

const slurm_job_info_t *pm_cluster_job(const struct pm_cluster *cluster, uint32_t job_id)
{
	for (uint32_t i = 0; cluster->jobs && i < cluster->jobs->record_count; i++)
		if (cluster->jobs->job_array[i].job_id == job_id)
			return &cluster->jobs->job_array[i];
	return NULL;
}

/*
 * hostlist_t is a pointer in older releases and a struct in newer ones, hence __auto_type.
 * slurm_hostlist_shift() returns malloc'ed names.
 */
int pm_job_order(const slurm_job_info_t *a, const slurm_job_info_t *b)
{
	if (a->priority != b->priority)
		return a->priority < b->priority ? 1 : -1;
	return (a->job_id > b->job_id) - (a->job_id < b->job_id);
}

char **pm_cluster_names(const char *list)
{
	__auto_type hosts = slurm_hostlist_create(list);
	char **names = NULL;
	size_t n = 0;

	if (!hosts)
		return NULL;
	if (slurm_hostlist_count(hosts) <= MAX_NAMES)
		names = calloc((size_t)slurm_hostlist_count(hosts) + 1, sizeof(*names));
	for (char *name; names && (name = slurm_hostlist_shift(hosts));)
		names[n++] = name;
	slurm_hostlist_destroy(hosts);
	return names;
}

void pm_cluster_drop_tables(struct pm_cluster *cluster)
{
	free(cluster->by_name);
	slurm_free_node_info_msg(cluster->nodes);
	slurm_free_partition_info_msg(cluster->partitions);
	pm_cluster_free_jobs(cluster->jobs);
	cluster->by_name = NULL;
	cluster->n_by_name = 0;
	cluster->nodes = NULL;
	cluster->partitions = NULL;
	cluster->jobs = NULL;
}

void pm_cluster_done(struct pm_cluster *cluster)
{
	pm_cluster_drop_tables(cluster);
	free(cluster->munge_socket);
	free(cluster->health_program);
	free(cluster->suspend_program);
	free(cluster->resume_program);
	free(cluster->pid_file);
	free(cluster->name);
	free(cluster->slurmctld_params);
	memset(cluster, 0, sizeof(*cluster));
}
