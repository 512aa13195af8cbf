/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_AGENT_TOOLS_H
#define PM_AGENT_TOOLS_H

/*
 * The commands of ipmctl, ndctl and daxctl, each read by its parser. All messages have the command
 * line. As root, a tool that others than root could replace is refused. Errors: -EREMOTEIO if the
 * tool fails, -ETIMEDOUT, -EBADMSG if its output cannot be parsed, -ENOMEM; on failure *ret is
 * untouched. Lists are released with their own `_done` functions.
 */
#include "base/run.h"
#include "node/tools/daxctl.h"
#include "node/tools/goal.h"
#include "node/tools/ipmctl.h"
#include "node/tools/ndctl.h"
#include "site/config.h"

/* Runs any tool with ToolTimeout; 0 whatever its exit status is. Release with pm_output_done(). */
int pm_tool_run(const struct pm_config *config, const char *const *argv, struct pm_output *ret,
	struct pm_err *err);

/*
 * Runs a tool that changes something. -EREMOTEIO: its exit status is not 0; -ETIMEDOUT: it was
 * killed after `timeout_s` (0: ToolTimeout). In either case the change may be complete, partial or
 * missing: read the state back.
 */
int pm_tool_act(const struct pm_config *config, const char *const *argv, unsigned timeout_s,
	struct pm_err *err);

int pm_tool_resources(const struct pm_config *config, struct pm_resources *ret, struct pm_err *err);
int pm_tool_capabilities(
	const struct pm_config *config, struct pm_capabilities *ret, struct pm_err *err);
int pm_tool_version(
	const struct pm_config *config, struct pm_ipmctl_version *ret, struct pm_err *err);
int pm_tool_goals(const struct pm_config *config, struct pm_goals *ret, struct pm_err *err);
int pm_tool_dimms(const struct pm_config *config, struct pm_dimms *ret, struct pm_err *err);
/* The same with firmware and part number. */
int pm_tool_dimms_report(const struct pm_config *config, struct pm_dimms *ret, struct pm_err *err);
/* Of one module; NULL: of all, which ipmctl answers only if each module can tell them. */
int pm_tool_sensors(const struct pm_config *config, const char *dimm, struct pm_sensors *ret,
	struct pm_err *err);
int pm_tool_regions(const struct pm_config *config, struct pm_regions *ret, struct pm_err *err);
int pm_tool_namespaces(
	const struct pm_config *config, struct pm_namespaces *ret, struct pm_err *err);

int pm_tool_nd_regions(
	const struct pm_config *config, struct pm_nd_regions *ret, struct pm_err *err);
int pm_tool_daxes(const struct pm_config *config, struct pm_daxes *ret, struct pm_err *err);

int pm_tool_slots(const struct pm_config *config, struct pm_slots *ret, struct pm_err *err);

/* `create -goal` without -f on an empty stdin: 0 if ipmctl would go on. Nothing is written. */
int pm_tool_try_goal(const struct pm_config *config, const struct pm_goal_request *request,
	struct pm_dry_run *ret, struct pm_err *err);

/*
 * `create -goal`, which writes. Its output must be a list of goals; the caller checks them with
 * pm_tool_goals() and pm_goal_compare().
 */
int pm_tool_create_goal(
	const struct pm_config *config, const struct pm_goal_request *request, struct pm_err *err);

/* The command lines of pm_tool_create_goal() and pm_tool_delete_goal(), for people; malloc'ed. */
char *pm_tool_goal_line(const struct pm_config *config, const struct pm_goal_request *request);
char *pm_tool_delete_line(const struct pm_config *config);

/* `delete -goal`. -EREMOTEIO: goals are left in a list that is read afterwards. */
int pm_tool_delete_goal(const struct pm_config *config, struct pm_err *err);

#endif
