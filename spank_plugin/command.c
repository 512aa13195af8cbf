/* SPDX-License-Identifier: Apache-2.0 */
#include "spank_plugin/command.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/asprintf.h"
#include "base/cleanup.h"

#define MAX_SENTENCE 900

static int print_variable(const char *name, char **ret)
{
	const char *value = getenv(name);

	if (!value)
		return 0;
	*ret = pm_asprintf("%s=%s", name, value);
	return *ret ? 0 : -ENOMEM;
}

/* Programs print warnings first; the last line has the cause of the failure. */
static const char *last_line(const char *text)
{
	const char *line = text;

	for (const char *next = text; *next; next += strspn(next, "\n")) {
		line = next;
		next += strcspn(next, "\n");
	}
	return line;
}

/* "pmctl: sentence\n" gives "sentence", malloc'ed: the caller puts its own prefix in front. */
static char *sentence(const struct pm_output *output)
{
	const char *text = last_line(output->err_len ? output->err : output->out);
	const char *own_name = "pmctl: ";

	if (!strncmp(text, own_name, strlen(own_name)))
		text += strlen(own_name);
	return pm_quote(text, strcspn(text, "\n"), MAX_SENTENCE);
}

static int judge(const char *program, const struct pm_output *output, struct pm_err *err)
{
	cleanup_free char *text = NULL;

	if (output->status == 0)
		return 0;
	text = sentence(output);
	if (text && *text)
		return pm_err_set(err, PM_COMMAND_SAID_NO, "%s", text);
	return pm_err_set(
		err, PM_COMMAND_SAID_NO, "'%s' ended with status %d", program, output->status);
}

static int run_command(
	const char *const *argv, unsigned timeout_ms, struct pm_output *ret, struct pm_err *err)
{
	cleanup_free char *slurm_conf = NULL, *node = NULL;
	const char *env[5] = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C"};
	struct pm_program run = {.argv = argv, .env = env, .timeout_ms = timeout_ms};
	size_t count = 2;

	if (print_variable("SLURM_CONF", &slurm_conf) || print_variable("SLURMD_NODENAME", &node))
		return pm_err_nomem(err);
	if (slurm_conf)
		env[count++] = slurm_conf;
	if (node)
		env[count++] = node;
	return pm_run(&run, ret, err);
}

int pm_command_status(
	const char *const *argv, unsigned timeout_ms, int *ret_status, struct pm_err *err)
{
	cleanup_with(pm_output_done) struct pm_output output = {0};
	int rc = run_command(argv, timeout_ms, &output, err);

	if (rc)
		return rc;
	*ret_status = output.status;
	return judge(argv[0], &output, err);
}

int pm_command_answer(const char *const *argv, unsigned timeout_ms, int *ret_status, char **ret_out,
	struct pm_err *err)
{
	cleanup_with(pm_output_done) struct pm_output output = {0};
	int rc = run_command(argv, timeout_ms, &output, err);

	if (rc)
		return rc;
	rc = judge(argv[0], &output, err);
	*ret_status = output.status;
	*ret_out = pm_steal(output.out);
	return rc;
}

int pm_command(const char *const *argv, unsigned timeout_ms, struct pm_err *err)
{
	int status;

	return pm_command_status(argv, timeout_ms, &status, err);
}

int pm_command_output(
	const char *const *argv, unsigned timeout_ms, struct pm_output *ret, struct pm_err *err)
{
	cleanup_with(pm_output_done) struct pm_output output = {0};
	int rc = run_command(argv, timeout_ms, &output, err);

	if (!rc)
		rc = judge(argv[0], &output, err);
	if (rc)
		return rc;
	*ret = output;
	output = (struct pm_output){0};
	return 0;
}

int pm_command_read(const char *const *argv, unsigned timeout_ms, char **ret, struct pm_err *err)
{
	cleanup_with(pm_output_done) struct pm_output output = {0};
	int rc = pm_command_output(argv, timeout_ms, &output, err);

	if (rc)
		return rc;
	*ret = strndup(output.out, strcspn(output.out, "\n"));
	return *ret ? 0 : pm_err_nomem(err);
}

const char *pm_next_line(const char *line)
{
	line += strcspn(line, "\n");
	return line + strspn(line, "\n");
}
