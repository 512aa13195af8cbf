/* SPDX-License-Identifier: Apache-2.0 */
#include "node/tools/tools.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/secure.h"
#include "node/tools/tool_locks.h"

#define QUOTE_BYTES 200

/*
 * If pmctl is killed, a tool that only reads dies with it. A tool that changes something continues,
 * since half a change is worse, and holds a lock until it ends: ipmctl its own lock, other tools
 * the lock on the node's state. The next pmctl waits for that lock.
 */
static int run_for(const struct pm_config *config, const char *const *argv, unsigned timeout_s,
	bool changes, struct pm_output *ret, struct pm_err *err)
{
	struct pm_program run = {.argv = argv, .timeout_ms = timeout_s * 1000, .dies = !changes};
	cleanup_close int lock_fd = -1;
	int rc = geteuid() == 0 ? pm_secure_path(argv[0], err) : 0;

	if (changes)
		run.lock_fd = pm_tool_held_lock();
	if (!rc && !strcmp(argv[0], config->ipmctl_path)) {
		rc = pm_tool_lock_ipmctl(config, &lock_fd, err);
		run.lock_fd = lock_fd;
	}
	return rc ? rc : pm_run(&run, ret, err);
}

int pm_tool_run(const struct pm_config *config, const char *const *argv, struct pm_output *ret,
	struct pm_err *err)
{
	return run_for(config, argv, config->tool_timeout_s, /* changes= */ false, ret, err);
}

static int run_change(const struct pm_config *config, const char *const *argv,
	struct pm_output *ret, struct pm_err *err)
{
	return run_for(config, argv, config->tool_timeout_s, /* changes= */ true, ret, err);
}

int pm_tool_act(const struct pm_config *config, const char *const *argv, unsigned timeout_s,
	struct pm_err *err)
{
	const struct pm_program run = {.argv = argv};
	cleanup_with(pm_output_done) struct pm_output output = {0};
	cleanup_free char *text = NULL;
	int rc = run_for(config, argv, timeout_s ? timeout_s : config->tool_timeout_s,
		/* changes= */ true, &output, err);

	if (rc || !output.status)
		return rc;
	text = pm_run_describe(&run, &output);
	return pm_err_set(err, -EREMOTEIO, "%s", text ? text : argv[0]);
}

/* Puts the command line, exit status and stderr in front of the sentence of a parser. */
static int misread(const char *const *argv, const struct pm_output *output, struct pm_err *err)
{
	cleanup_free char *line = pm_run_line(argv);
	cleanup_free char *words = pm_quote(output->err, output->err_len, QUOTE_BYTES);

	if (!line || !words)
		return pm_err_nomem(err);
	if (!output->status && !*words)
		return pm_err_prefix(err, "%s", line);
	return pm_err_prefix(err, "%s (status %d, stderr '%s')", line, output->status, words);
}

/* The error of the parser; else the error of the exit status. */
static int judge(
	const char *const *argv, const struct pm_output *output, int rc, struct pm_err *err)
{
	const struct pm_program run = {.argv = argv};
	cleanup_free char *text = NULL;

	if (rc)
		return misread(argv, output, err);
	if (!output->status)
		return 0;
	text = pm_run_describe(&run, output);
	return pm_err_set(err, -EREMOTEIO, "%s", text ? text : argv[0]);
}

#define ASK(config_, parse_, ret_, err_, ...)                                                      \
	({                                                                                         \
		const char *const argv_[] = {__VA_ARGS__, NULL};                                   \
		cleanup_with(pm_output_done) struct pm_output output_ = {0};                       \
		int rc_ = pm_tool_run(config_, argv_, &output_, err_);                             \
		if (!rc_) {                                                                        \
			rc_ = parse_(output_.out, output_.out_len, ret_, err_);                    \
			rc_ = judge(argv_, &output_, rc_, err_);                                   \
		}                                                                                  \
		rc_;                                                                               \
	})

int pm_tool_version(
	const struct pm_config *config, struct pm_ipmctl_version *ret, struct pm_err *err)
{
	return ASK(config, pm_ipmctl_version, ret, err, config->ipmctl_path, "version");
}

int pm_tool_goals(const struct pm_config *config, struct pm_goals *ret, struct pm_err *err)
{
	return ASK(config, pm_ipmctl_goals, ret, err, config->ipmctl_path, "show", "-u", "B", "-o",
		"nvmxml", "-goal");
}

int pm_tool_regions(const struct pm_config *config, struct pm_regions *ret, struct pm_err *err)
{
	return ASK(config, pm_ipmctl_regions, ret, err, config->ipmctl_path, "show", "-u", "B",
		"-o", "nvmxml", "-region");
}

int pm_tool_namespaces(
	const struct pm_config *config, struct pm_namespaces *ret, struct pm_err *err)
{
	return ASK(config, pm_ndctl_namespaces, ret, err, config->ndctl_path, "list", "-N", "-i");
}

int pm_tool_nd_regions(
	const struct pm_config *config, struct pm_nd_regions *ret, struct pm_err *err)
{
	return ASK(config, pm_ndctl_regions, ret, err, config->ndctl_path, "list", "-R", "-N", "-i",
		"-v");
}

int pm_tool_daxes(const struct pm_config *config, struct pm_daxes *ret, struct pm_err *err)
{
	return ASK(config, pm_daxctl_devices, ret, err, config->daxctl_path, "list", "-D", "-i");
}

int pm_tool_resources(const struct pm_config *config, struct pm_resources *ret, struct pm_err *err)
{
	return ASK(config, pm_ipmctl_resources, ret, err, config->ipmctl_path, "show", "-u", "B",
		"-o", "nvmxml", "-memoryresources");
}

int pm_tool_capabilities(
	const struct pm_config *config, struct pm_capabilities *ret, struct pm_err *err)
{
	return ASK(config, pm_ipmctl_capabilities, ret, err, config->ipmctl_path, "show", "-u", "B",
		"-o", "nvmxml", "-system", "-capabilities");
}

int pm_tool_dimms(const struct pm_config *config, struct pm_dimms *ret, struct pm_err *err)
{
	return ASK(config, pm_ipmctl_dimms, ret, err, config->ipmctl_path, "show", "-d",
		PM_DIMM_ATTRIBUTES, "-u", "B", "-o", "nvmxml", "-dimm");
}

int pm_tool_dimms_report(const struct pm_config *config, struct pm_dimms *ret, struct pm_err *err)
{
	return ASK(config, pm_ipmctl_dimms, ret, err, config->ipmctl_path, "show", "-d",
		PM_DIMM_REPORT_ATTRIBUTES, "-u", "B", "-o", "nvmxml", "-dimm");
}

int pm_tool_sensors(const struct pm_config *config, const char *dimm, struct pm_sensors *ret,
	struct pm_err *err)
{
	return ASK(config, pm_ipmctl_sensors, ret, err, config->ipmctl_path, "show", "-o", "nvmxml",
		"-sensor", dimm ? "-dimm" : NULL, dimm);
}

int pm_tool_slots(const struct pm_config *config, struct pm_slots *ret, struct pm_err *err)
{
	return ASK(config, pm_ipmctl_slots, ret, err, config->ipmctl_path, "show", "-a", "-u", "B",
		"-o", "nvmxml", "-topology");
}

/* NULL after the last word ends the argument array. */
static const char *word(const struct pm_goal_request *request, size_t i)
{
	return i < request->n_words ? request->words[i] : NULL;
}

/* The exit status is ignored: without an answer on stdin it is never 0. */
int pm_tool_try_goal(const struct pm_config *config, const struct pm_goal_request *request,
	struct pm_dry_run *ret, struct pm_err *err)
{
	const char *const argv[] = {config->ipmctl_path, "create", "-goal", word(request, 0),
		word(request, 1), word(request, 2), NULL};
	cleanup_with(pm_output_done) struct pm_output output = {0};
	cleanup_free char *line = NULL;
	int rc = pm_tool_run(config, argv, &output, err);

	if (!rc)
		rc = pm_ipmctl_dry_run(output.out, output.out_len, ret, err);
	if (!rc)
		return 0;
	line = pm_run_line(argv);
	return pm_err_prefix(err, "dry run of '%s'", line ? line : argv[0]);
}

#define CREATE_GOAL(config_, request_)                                                             \
	(config_)->ipmctl_path, "create", "-u", "B", "-o", "nvmxml", "-goal", word(request_, 0),   \
		word(request_, 1), word(request_, 2)

#define DELETE_GOAL(config_) (config_)->ipmctl_path, "delete", "-o", "nvmxml", "-goal"

char *pm_tool_goal_line(const struct pm_config *config, const struct pm_goal_request *request)
{
	const char *const argv[] = {CREATE_GOAL(config, request), NULL};

	return pm_run_line(argv);
}

char *pm_tool_delete_line(const struct pm_config *config)
{
	const char *const argv[] = {DELETE_GOAL(config), NULL};

	return pm_run_line(argv);
}

int pm_tool_create_goal(
	const struct pm_config *config, const struct pm_goal_request *request, struct pm_err *err)
{
	const char *const argv[] = {CREATE_GOAL(config, request), NULL};
	cleanup_with(pm_output_done) struct pm_output output = {0};
	cleanup_with(pm_goals_done) struct pm_goals goals = {0};
	int rc = run_change(config, argv, &output, err);

	if (rc)
		return rc;
	rc = pm_ipmctl_goals(output.out, output.out_len, &goals, err);
	return judge(argv, &output, rc, err);
}

/* The output is ignored: for modules without a goal, delete prints an error. */
int pm_tool_delete_goal(const struct pm_config *config, struct pm_err *err)
{
	const char *const argv[] = {DELETE_GOAL(config), NULL};
	const struct pm_program run = {.argv = argv};
	cleanup_with(pm_output_done) struct pm_output output = {0};
	cleanup_with(pm_goals_done) struct pm_goals left = {0};
	cleanup_free char *text = NULL;
	int rc = run_change(config, argv, &output, err);

	if (!rc)
		rc = pm_tool_goals(config, &left, err);
	if (rc || !left.n)
		return rc;
	text = pm_run_describe(&run, &output);
	return pm_err_set(
		err, -EREMOTEIO, "%zu goals are still there; %s", left.n, text ? text : argv[0]);
}
