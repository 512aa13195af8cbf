/* SPDX-License-Identifier: Apache-2.0 */
#include "spank_plugin/node.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/cleanup.h"
#include "spank_plugin/command.h"

#define DEFAULT_SCONTROL "/usr/bin/scontrol"
#define NONE		 "(null)"
#define MAX_WORDS	 8
#define OUR_REASON	 "pm"

static char *node_name(void)
{
	const char *name = getenv("SLURMD_NODENAME");
	char host[256] = "";

	if (name)
		return strdup(name);
	if (gethostname(host, sizeof(host) - 1))
		return NULL;
	return strndup(host, strcspn(host, "."));
}

/* The words of an update; each is freed. */
struct words {
	char *list[MAX_WORDS];
	size_t count;
	bool lost; /* out of memory */
};

static void add_word(struct words *words, const char *key, const char *value)
{
	if (!value)
		return;
	if (asprintf(&words->list[words->count], "%s=%s", key, value) < 0)
		words->lost = true;
	else
		words->count++;
}

static void release_words(struct words *words)
{
	for (size_t i = 0; i < words->count; i++)
		free(words->list[i]);
}

static int run_update(const struct pm_node_update *update, const char *node, struct pm_err *err)
{
	cleanup_with(release_words) struct words words = {0};
	const char *argv[MAX_WORDS + 3] = {DEFAULT_SCONTROL, "update"};

	add_word(&words, "nodename", node);
	add_word(&words, "state", update->reason ? "drain" : update->state);
	add_word(&words, "reason", update->reason);
	add_word(&words, "activefeatures", update->active);
	add_word(&words, "availablefeatures", update->available);
	add_word(&words, "comment", update->comment);
	if (words.lost)
		return pm_err_nomem(err);
	if (update->config)
		argv[0] = update->config->scontrol_path;
	for (size_t i = 0; i < words.count; i++)
		argv[2 + i] = words.list[i];
	return pm_command(argv, update->timeout_ms, err);
}

int pm_node_update(const struct pm_node_update *update, struct pm_err *err)
{
	cleanup_free char *node = node_name();

	if (!node)
		return pm_err_nomem(err);
	if (run_update(update, node, err))
		return pm_err_prefix(
			err, "%s node '%s'", update->reason ? "drain" : "update", node);
	return 0;
}

/* The value of "NAME=" up to `end` in what scontrol shows, "" for none; malloc'ed. */
static char *field(const char *text, const char *name, const char *end)
{
	const char *at = strstr(text, name);

	if (!at)
		return strdup("");
	at += strlen(name);
	if (!strncmp(at, NONE, strlen(NONE)))
		return strdup("");
	return strndup(at, strcspn(at, end));
}

void pm_node_known_done(struct pm_node_known *known)
{
	free(known->active);
	free(known->available);
	free(known->comment);
	free(known->state);
	free(known->reason);
	*known = (struct pm_node_known){0};
}

static bool read_known(const char *text, struct pm_node_known *ret)
{
	ret->active = field(text, " ActiveFeatures=", " \n");
	ret->available = field(text, " AvailableFeatures=", " \n");
	ret->comment = field(text, " Comment=", "\n");
	ret->state = field(text, " State=", " \n");
	ret->reason = field(text, " Reason=", "\n");
	return ret->active && ret->available && ret->comment && ret->state && ret->reason;
}

int pm_node_ask(const struct pm_config *config, unsigned timeout_ms, struct pm_node_known *ret,
	struct pm_err *err)
{
	cleanup_with(pm_node_known_done) struct pm_node_known known = {0};
	cleanup_with(pm_output_done) struct pm_output output = {0};
	cleanup_free char *node = node_name();
	const char *argv[] = {config->scontrol_path, "show", "node", node, NULL};
	int rc;

	if (!node)
		return pm_err_nomem(err);
	rc = pm_command_output(argv, timeout_ms, &output, err);
	if (rc)
		return rc;
	if (!read_known(output.out, &known))
		return pm_err_nomem(err);
	*ret = known;
	known = (struct pm_node_known){0};
	return 0;
}

bool pm_node_is_drained(const struct pm_node_known *known)
{
	return strstr(known->state, "DRAIN") != NULL;
}

bool pm_node_is_drained_by_others(const struct pm_config *config, unsigned timeout_ms)
{
	cleanup_with(pm_node_known_done) struct pm_node_known known = {0};

	if (!config || pm_node_ask(config, timeout_ms, &known, NULL))
		return false;
	return pm_node_is_drained(&known) && strncmp(known.reason, OUR_REASON, strlen(OUR_REASON));
}

int pm_node_reboot(const struct pm_config *config, unsigned timeout_ms, struct pm_err *err)
{
	cleanup_free char *node = node_name();
	const char *argv[] = {config->scontrol_path, "reboot", node, NULL};

	if (!node)
		return pm_err_nomem(err);
	if (pm_command(argv, timeout_ms, err))
		return pm_err_prefix(err, "reboot node '%s'", node);
	return 0;
}

static bool is_over(const char *state)
{
	static const char *const states[] = {"COMPLETED", "CANCELLED", "FAILED", "TIMEOUT",
		"NODE_FAIL", "PREEMPTED", "BOOT_FAIL", "DEADLINE", "OUT_OF_MEMORY", "REVOKED",
		"PENDING", "REQUEUED", "SPECIAL_EXIT"};

	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++)
		if (!strcmp(state, states[i]))
			return true;
	return false;
}

bool pm_job_is_alive(const struct pm_config *config, uint32_t job_id, unsigned timeout_ms)
{
	cleanup_with(pm_output_done) struct pm_output output = {0};
	cleanup_free char *state = NULL;
	char id[16];
	const char *argv[] = {config->scontrol_path, "show", "job", id, NULL};
	struct pm_err err = {0};

	snprintf(id, sizeof(id), "%u", (unsigned)job_id);
	if (pm_command_output(argv, timeout_ms, &output, &err))
		return !strstr(err.text, "Invalid job id");
	state = field(output.out, " JobState=", " \n");
	return !state || !is_over(state);
}

/* The value of "NAME=" in what scontrol shows of a node or job; NULL when that is not known. */
static char *ask_field(const struct pm_config *config, const char *what, const char *id,
	const char *name, unsigned timeout_ms)
{
	cleanup_with(pm_output_done) struct pm_output output = {0};
	const char *argv[] = {config->scontrol_path, "show", what, id, NULL};

	if (pm_command_output(argv, timeout_ms, &output, NULL))
		return NULL;
	return field(output.out, name, " \n");
}

/* scontrol's times, "2026-01-31T12:34:56", sort as they are. */
bool pm_node_booted_for(const struct pm_config *config, uint32_t job_id, unsigned timeout_ms)
{
	cleanup_free char *node = node_name(), *booted = NULL, *submitted = NULL;
	char id[16];

	snprintf(id, sizeof(id), "%u", (unsigned)job_id);
	booted = node ? ask_field(config, "node", node, " BootTime=", timeout_ms) : NULL;
	submitted = ask_field(config, "job", id, " SubmitTime=", timeout_ms);
	return booted && submitted && *submitted && strcmp(booted, submitted) > 0;
}

int pm_job_requeue(
	const struct pm_config *config, uint32_t job_id, unsigned timeout_ms, struct pm_err *err)
{
	char id[16];
	const char *argv[] = {config->scontrol_path, "requeue", id, NULL};

	snprintf(id, sizeof(id), "%u", (unsigned)job_id);
	return pm_command(argv, timeout_ms, err);
}
