/* SPDX-License-Identifier: Apache-2.0 */
#include "spank_plugin/active.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "site/features.h"
#include "spank_plugin/command.h"
#include "spank_plugin/node.h"

const char *pm_active_feature(const struct pm_config *config, unsigned timeout_ms)
{
	const char *argv[] = {config->pmctl_path, "mode", NULL};
	cleanup_free char *name = NULL;
	const struct pm_mode_info *mode;

	if (pm_command_read(argv, timeout_ms, &name, NULL))
		return NULL;
	mode = pm_mode_by_name(name);
	return mode ? mode->feature : NULL;
}

static void print_name(FILE *out, const char *name)
{
	fprintf(out, "%s%s", ftell(out) > 0 ? "," : "", name);
}

/*
 * "rack1,pm_memory" and "pm_appdirect" give "rack1,pm_appdirect", malloc'ed; *ret is NULL if
 * `feature` is the only one of ours, or there is none of ours. Changes `known`.
 */
static int replace_mode(char *known, const char *feature, char **ret)
{
	cleanup_free char *text = NULL;
	char *rest = known, *name;
	bool wrong = false;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	if (!out)
		return -ENOMEM;
	while ((name = strsep(&rest, ",")))
		if (!pm_features_is_ours(name))
			print_name(out, name);
		else if (!feature || strcmp(name, feature))
			wrong = true;
	if (feature)
		print_name(out, feature);
	if (fclose(out))
		return -ENOMEM;
	*ret = wrong ? pm_steal(text) : NULL;
	return 0;
}

int pm_active_correction(const struct pm_config *config, unsigned pmctl_ms, unsigned scontrol_ms,
	char **ret, struct pm_err *err)
{
	cleanup_with(pm_node_known_done) struct pm_node_known known = {0};
	int rc = pm_node_ask(config, scontrol_ms, &known, err);

	if (rc)
		return rc;
	if (replace_mode(known.active, pm_active_feature(config, pmctl_ms), ret))
		return pm_err_nomem(err);
	return 0;
}

int pm_active_report(const struct pm_config *config, unsigned timeout_ms, struct pm_err *err)
{
	cleanup_free char *active = NULL;
	struct pm_node_update update = {.config = config, .timeout_ms = timeout_ms};
	int rc = pm_active_correction(config, timeout_ms, timeout_ms, &active, err);

	update.active = active;
	return rc || !active ? rc : pm_node_update(&update, err);
}
