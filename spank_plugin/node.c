/* SPDX-License-Identifier: Apache-2.0 */
#include "spank_plugin/node.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/asprintf.h"
#include "base/cleanup.h"
#include "spank_plugin/command.h"

#define DEFAULT_SCONTROL "/usr/bin/scontrol"
#define NONE		 "(null)"
#define LINE		 "\n   "
#define ALLOCATED	 " AllocMem="
#define MAX_WORDS	 8
#define OUR_REASON	 "pm"

char *pm_node_name(void)
{
	const char *name = getenv("SLURMD_NODENAME");
	char host[256] = "";

	if (name)
		return strdup(name);
	if (gethostname(host, sizeof(host) - 1))
		return NULL;
	return strndup(host, strcspn(host, "."));
}

/* The arguments of an update; release_words() frees each. */
struct words {
	char *list[MAX_WORDS];
	size_t count;
	bool lost; /* out of memory */
};

static void add_word(struct words *words, const char *key, const char *value)
{
	if (!value)
		return;
	words->list[words->count] = pm_asprintf("%s=%s", key, value);
	if (words->list[words->count])
		words->count++;
	else
		words->lost = true;
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
	cleanup_free char *node = pm_node_name();

	if (!node)
		return pm_err_nomem(err);
	if (run_update(update, node, err))
		return pm_err_prefix(
			err, "%s node '%s'", update->reason ? "drain" : "update", node);
	return 0;
}

/*
 * The value of the first field on a line, up to a character of `end`; "" for none; malloc'ed.
 * `name` begins with LINE, since a comment or a reason may hold "State=" in the middle of its line.
 */
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
	free(known->booted);
	*known = (struct pm_node_known){0};
}

/* Of "RealMemory=9500 AllocMem=2000 FreeMem=...", in MiB. */
static uint64_t read_allocated(const char *text)
{
	cleanup_free char *line = field(text, LINE "RealMemory=", "\n");
	const char *at = line ? strstr(line, ALLOCATED) : NULL;

	return at ? strtoull(at + strlen(ALLOCATED), NULL, 10) << 20 : 0;
}

static bool read_known(const char *text, struct pm_node_known *ret)
{
	ret->active = field(text, LINE "ActiveFeatures=", " \n");
	ret->available = field(text, LINE "AvailableFeatures=", " \n");
	ret->comment = field(text, LINE "Comment=", "\n");
	ret->state = field(text, LINE "State=", " \n");
	ret->allocated_bytes = read_allocated(text);
	ret->reason = field(text, LINE "Reason=", "\n");
	ret->booted = field(text, LINE "BootTime=", " \n");
	return ret->active && ret->available && ret->comment && ret->state && ret->reason &&
	       ret->booted;
}

int pm_node_ask(const struct pm_config *config, unsigned timeout_ms, struct pm_node_known *ret,
	struct pm_err *err)
{
	cleanup_with(pm_node_known_done) struct pm_node_known known = {0};
	cleanup_with(pm_output_done) struct pm_output output = {0};
	cleanup_free char *node = pm_node_name();
	const char *argv[] = {config->scontrol_path, "--local", "show", "node", node, NULL};
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
	cleanup_free char *node = pm_node_name();
	const char *argv[] = {config->scontrol_path, "reboot", node, NULL};

	if (!node)
		return pm_err_nomem(err);
	if (pm_command(argv, timeout_ms, err))
		return pm_err_prefix(err, "reboot node '%s'", node);
	return 0;
}
