/* SPDX-License-Identifier: Apache-2.0 */
#include "spank_plugin/node.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/cleanup.h"
#include "spank_plugin/command.h"

#define DEFAULT_SCONTROL "/usr/bin/scontrol"
#define ACTIVE_FIELD	 "ActiveFeatures="
#define NONE		 "(null)"

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

/* "KEY=VALUE"; NULL when out of memory. */
static char *word(const char *key, const char *value)
{
	char *text = NULL;

	return asprintf(&text, "%s=%s", key, value) < 0 ? NULL : text;
}

static int run_update(const struct pm_node_update *update, const char *node, struct pm_err *err)
{
	cleanup_free char *name = word("nodename", node);
	cleanup_free char *reason = word("reason", update->reason ? update->reason : "");
	cleanup_free char *active = word("activefeatures", update->active ? update->active : "");
	const char *argv[7] = {DEFAULT_SCONTROL, "update", name};
	size_t count = 3;

	if (!name || !reason || !active)
		return pm_err_nomem(err);
	if (update->config)
		argv[0] = update->config->scontrol_path;
	if (update->reason) {
		argv[count++] = "state=drain";
		argv[count++] = reason;
	}
	if (update->active)
		argv[count++] = active;
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

/* The value in 'scontrol --oneliner show node'. */
static char *active_field(const char *line)
{
	const char *field = strstr(line, ACTIVE_FIELD);

	if (!field)
		return strdup("");
	field += strlen(ACTIVE_FIELD);
	if (!strncmp(field, NONE, strlen(NONE)))
		return strdup("");
	return strndup(field, strcspn(field, " "));
}

int pm_node_active(
	const struct pm_config *config, unsigned timeout_ms, char **ret, struct pm_err *err)
{
	cleanup_free char *node = node_name();
	cleanup_free char *line = NULL;
	const char *argv[] = {config->scontrol_path, "--oneliner", "show", "node", node, NULL};
	int rc;

	if (!node)
		return pm_err_nomem(err);
	rc = pm_command_read(argv, timeout_ms, &line, err);
	if (rc)
		return rc;
	*ret = active_field(line);
	return *ret ? 0 : pm_err_nomem(err);
}
