/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <stdio.h>

#include "agent/gather.h"
#include "base/cleanup.h"
#include "node/tools/tools.h"

enum tool { IPMCTL, NDCTL, DAXCTL };

#define MAX_WORDS 8

/* Commands that pmctl itself runs, word for word, and others for people. */
static const struct {
	enum tool tool;
	const char *args[MAX_WORDS + 1];
} commands[] = {
	{IPMCTL, {"version"}},
	{IPMCTL, {"show", "-u", "B", "-o", "nvmxml", "-goal"}},
	{IPMCTL, {"show", "-u", "B", "-o", "nvmxml", "-region"}},
	{IPMCTL, {"show", "-u", "B", "-o", "nvmxml", "-memoryresources"}},
	{IPMCTL, {"show", "-u", "B", "-o", "nvmxml", "-system", "-capabilities"}},
	{IPMCTL, {"show", "-d", PM_DIMM_ATTRIBUTES, "-u", "B", "-o", "nvmxml", "-dimm"}},
	{IPMCTL, {"show", "-a", "-u", "B", "-o", "nvmxml", "-dimm"}},
	{IPMCTL, {"show", "-o", "nvmxml", "-sensor"}},
	{IPMCTL, {"show", "-o", "nvmxml", "-socket"}},
	{IPMCTL, {"show", "-a", "-u", "B", "-o", "nvmxml", "-topology"}},
	{IPMCTL, {"show", "-dimm", "-pcd", "Config"}},
	{NDCTL, {"--version"}},
	{NDCTL, {"list", "-N", "-i"}},
	{NDCTL, {"list", "-R", "-N", "-i", "-v"}},
	{NDCTL, {"list", "-D", "-H", "-i"}},
	{DAXCTL, {"--version"}},
	{DAXCTL, {"list", "-D", "-i"}},
};

static const char *path_of(const struct pm_config *config, enum tool tool)
{
	if (tool == IPMCTL)
		return config->ipmctl_path;
	return tool == NDCTL ? config->ndctl_path : config->daxctl_path;
}

/*
 * "tools/ipmctl.show.-goal": one path component, so that a fixture finds it by the command's words.
 */
static void name_of(enum tool tool, const char *const *args, char *ret, size_t size)
{
	static const char *const names[] = {
		[IPMCTL] = "ipmctl", [NDCTL] = "ndctl", [DAXCTL] = "daxctl"};
	size_t used = (size_t)snprintf(ret, size, "tools/%s", names[tool]);

	for (; *args && used < size; args++)
		used += (size_t)snprintf(ret + used, size - used, ".%s", *args);
}

static int add_part(struct pm_gather *gather, const char *name, const char *suffix,
	const char *data, size_t length, struct pm_err *err)
{
	char path[300];

	snprintf(path, sizeof(path), "%s%s", name, suffix);
	return pm_archive_add(gather->archive, path, data, length, err);
}

static int add_output(struct pm_gather *gather, const char *name, const struct pm_output *output,
	struct pm_err *err)
{
	char status[16];
	int length = snprintf(status, sizeof(status), "%d\n", output->status);
	int rc = add_part(gather, name, "", output->out, output->out_len, err);

	if (!rc && output->err_len)
		rc = add_part(gather, name, ".err", output->err, output->err_len, err);
	if (!rc && output->status)
		rc = add_part(gather, name, ".status", status, (size_t)length, err);
	return rc;
}

static int run_one(
	struct pm_gather *gather, enum tool tool, const char *const *args, struct pm_err *err)
{
	const struct pm_config *config = &gather->agent->op.config;
	const char *argv[MAX_WORDS + 2] = {path_of(config, tool)};
	cleanup_with(pm_output_done) struct pm_output output = {0};
	char name[256];
	struct pm_err why;

	for (size_t i = 0; args[i]; i++)
		argv[i + 1] = args[i];
	name_of(tool, args, name, sizeof(name));
	if (!pm_tool_run(config, argv, &output, &why))
		return add_output(gather, name, &output, err);
	pm_gather_miss(gather, "%s: %s", name, why.text);
	return 0;
}

int pm_gather_tools(struct pm_gather *gather, struct pm_err *err)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < sizeof(commands) / sizeof(commands[0]); i++)
		rc = run_one(gather, commands[i].tool, commands[i].args, err);
	return rc;
}
