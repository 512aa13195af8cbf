/* SPDX-License-Identifier: Apache-2.0 */
#include "spank_plugin/site_health.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/asprintf.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/run.h"
#include "base/secure.h"
#include "base/strv.h"
#include "node/state/site_check.h"
#include "site/modes.h"
#include "spank_plugin/command.h"
#include "spank_plugin/reboot.h"

#define MODE_ENV      "PM_MODE="
#define MODE_MS	      3000
#define LEAST_MS      1000 /* of time for the program; with less it is not started */
#define STATUS_KILLED (128 + SIGKILL)

/* "flat"; NULL while the regions are half made, or if pmctl fails. malloc'ed. */
static char *present_mode(const struct pm_config *config)
{
	const char *argv[] = {config->pmctl_path, "mode", NULL};
	cleanup_free char *name = NULL;

	if (pm_command_read(argv, MODE_MS, &name, NULL) || !pm_mode_by_name(name))
		return NULL;
	return pm_steal(name);
}

/* The present environment with PM_MODE=`mode`; the words but the last belong to others. */
static const char **environment(char *mode)
{
	size_t n = 0, count = pm_strv_length(environ);
	const char **env = calloc(count + 2, sizeof(*env));

	for (size_t i = 0; env && i < count; i++)
		if (strncmp(environ[i], MODE_ENV, strlen(MODE_ENV)))
			env[n++] = environ[i];
	if (env)
		env[n] = mode;
	return env;
}

/* slurmd logs it from SlurmdDebug=debug2 on, as all that a successful check prints. */
static int remark(const char *outcome, const char *cause)
{
	printf("SiteHealthCheckProgram %s: %s\n", outcome, cause);
	return 0;
}

static int judge(const struct pm_config *config, const struct pm_program *run,
	const struct pm_output *output, struct pm_err *err)
{
	cleanup_free char *line = NULL;

	if (output->status == STATUS_KILLED && pm_site_check_is_overtaken(config))
		return remark("was ended", "pmctl changes the node");
	if (!output->status) {
		fputs(output->out, stdout);
		return 0;
	}
	line = pm_run_describe(run, output);
	return line ? pm_err_set(err, -EPERM, "SiteHealthCheckProgram: %s", line)
		    : pm_err_nomem(err);
}

static int run_in(const struct pm_config *config, const char *mode, int lock_fd, uint64_t end_ms,
	struct pm_err *err)
{
	cleanup_free char *word = pm_asprintf(MODE_ENV "%s", mode);
	cleanup_free const char **env = word ? environment(word) : NULL;
	cleanup_with(pm_output_done) struct pm_output output = {0};
	uint64_t now_ms = pm_now_ms();
	struct pm_program run = {.argv = (const char *const *)config->site_health_check_program,
		.env = env,
		.dies = true,
		.lock_fd = lock_fd};
	int rc;

	if (!env)
		return pm_err_nomem(err);
	if (now_ms + LEAST_MS > end_ms)
		return pm_err_set(err, -ETIME,
			"SiteHealthCheckProgram was not run: slurmctld or pmctl left no time for "
			"it");
	run.timeout_ms = (unsigned)(end_ms - now_ms);
	rc = pm_run(&run, &output, err);
	return rc ? pm_err_prefix(err, "SiteHealthCheckProgram")
		  : judge(config, &run, &output, err);
}

/* The lock comes first: what is seen with it stays, or the program is ended. */
static int run_unless_changing(const struct pm_config *config, uint64_t end_ms, struct pm_err *err)
{
	cleanup_free char *mode = NULL;
	cleanup_close int lock_fd = -1;
	int rc = pm_site_check_begin(config, &lock_fd, err);

	if (rc == -EAGAIN || rc == -EBUSY)
		return remark("was not run", err->text);
	if (rc)
		return pm_err_prefix(err, "SiteHealthCheckProgram");
	mode = pm_reboot_is_ordered(config) ? NULL : present_mode(config);
	if (mode)
		return run_in(config, mode, lock_fd, end_ms, err);
	return remark("was not run",
		"the node waits for a reboot, or its persistent memory is half made");
}

int pm_site_health_run(const struct pm_config *config, uint64_t end_ms, struct pm_err *err)
{
	char *const *program = config->site_health_check_program;

	if (!program)
		return 0;
	if (pm_secure_path(program[0], err))
		return pm_err_prefix(err, "SiteHealthCheckProgram");
	return run_unless_changing(config, end_ms, err);
}
