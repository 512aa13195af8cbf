/* SPDX-License-Identifier: Apache-2.0 */
#include "spank_plugin/prepare.h"

#include <errno.h>
#include <slurm/spank.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cleanup.h"
#include "lib/jobview.h"
#include "spank_plugin/command.h"
#include "spank_plugin/node.h"

/* Exit statuses of pmctl job, see pmctl(8). */
enum { STATUS_HELD = 3, STATUS_REFUSED = 4, STATUS_REBOOT = 5 };

#define SCONTROL_TIMEOUT_MS 20000
#define TELL_TIMEOUT_MS	    15000
#define MAX_WORDS	    12

/* Making file systems and wiping are several runs of tools, each of which may take ToolTimeout. */
#define TOOLS_PER_JOB 10

struct words {
	char list[MAX_WORDS][160];
	const char *argv[MAX_WORDS + 1];
	size_t count;
};

__attribute__((format(printf, 2, 3))) static void add(struct words *words, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(words->list[words->count], sizeof(words->list[0]), fmt, args);
	va_end(args);
	words->argv[words->count] = words->list[words->count];
	words->count++;
}

static unsigned timeout_ms(const struct pm_config *config)
{
	return config->tool_timeout_s * TOOLS_PER_JOB * 1000;
}

static int run_begin(const struct pm_prepare *prepare, int *ret_status, struct pm_err *err)
{
	const struct pm_expect *expect = prepare->expect;
	struct words words = {0};

	words.argv[words.count++] = prepare->config->pmctl_path;
	add(&words, "job");
	add(&words, "begin");
	add(&words, "--job=%u", (unsigned)prepare->job_id);
	add(&words, "--uid=%u", (unsigned)prepare->uid);
	add(&words, "--gid=%u", (unsigned)prepare->gid);
	add(&words, "--expect=%s", expect->modes);
	if (expect->size)
		add(&words, "--size=%s", expect->size);
	if (expect->kind)
		add(&words, "--namespace=%s", expect->kind);
	return pm_command_status(words.argv, timeout_ms(prepare->config), ret_status, err);
}

static int run_end(
	const struct pm_config *config, uint32_t job_id, int *ret_status, struct pm_err *err)
{
	struct words words = {0};

	words.argv[words.count++] = config->pmctl_path;
	add(&words, "job");
	add(&words, "end");
	add(&words, "--job=%u", (unsigned)job_id);
	return pm_command_status(words.argv, timeout_ms(config), ret_status, err);
}

/* The job that the sentence names, "... job 123 ..."; 0 when it names none. */
static uint32_t job_in(const char *sentence)
{
	static const char word[] = "job ";

	for (const char *at = strstr(sentence, word); at; at = strstr(at + 1, word)) {
		unsigned long id = strtoul(at + strlen(word), NULL, 10);

		if (id && id < UINT32_MAX)
			return (uint32_t)id;
	}
	return 0;
}

/* The controller counts the nodes that do so: it sends the job to others, or holds it. */
static bool is_taken_back(const struct pm_prepare *prepare, const char *sentence)
{
	cleanup_free char *answer = NULL;
	struct words words = {0};
	struct pm_err err = {0};

	if (!strcmp(prepare->config->controller_addr, "none"))
		return false;
	words.argv[words.count++] = prepare->config->pmctl_path;
	add(&words, "job");
	add(&words, "turn-away");
	add(&words, "--job=%u", (unsigned)prepare->job_id);
	words.argv[words.count++] = sentence;
	if (pm_command_read(words.argv, TELL_TIMEOUT_MS, &answer, &err))
		slurm_error("pm: prolog: tell the controller of job %u: %s",
			(unsigned)prepare->job_id, err.text);
	return answer && !strcmp(answer, "requeued");
}

/* Its tasks find this view, should they start at all. */
void pm_prepare_turn_away(const struct pm_prepare *prepare, const char *sentence)
{
	cleanup_free char *path = pm_jobview_path(prepare->config->run_dir, prepare->job_id);
	struct pm_jobview view = {.refused = (char *)sentence};
	struct pm_err other = {0};

	if (!path || pm_jobview_write(path, &view, &other))
		slurm_error("pm: prolog: tell job %u: %s", (unsigned)prepare->job_id, other.text);
	if (is_taken_back(prepare, sentence))
		return;
	if (pm_job_requeue(prepare->config, prepare->job_id, SCONTROL_TIMEOUT_MS, &other))
		slurm_error("pm: prolog: %s, job %u fails instead", other.text,
			(unsigned)prepare->job_id);
}

/* An epilog that never ran: the other job is over, and its end is made up for. */
static bool end_forgotten(const struct pm_prepare *prepare, const char *sentence)
{
	uint32_t other = job_in(sentence);
	struct pm_err err = {0};
	int status = 0;

	if (!other || other == prepare->job_id ||
		pm_job_is_alive(prepare->config, other, SCONTROL_TIMEOUT_MS))
		return false;
	slurm_info("pm: prolog: job %u is over, ending what it left", (unsigned)other);
	if (!run_end(prepare->config, other, &status, &err))
		return true;
	slurm_error("pm: prolog: %s", err.text);
	return false;
}

int pm_prepare_begin(const struct pm_prepare *prepare, struct pm_err *err)
{
	int status = 0;
	int rc = run_begin(prepare, &status, err);

	if (rc && status == STATUS_HELD && end_forgotten(prepare, err->text))
		rc = run_begin(prepare, &status, err);
	if (!rc)
		return 0;
	if (status == STATUS_REFUSED || status == STATUS_HELD)
		slurm_info("pm: prolog: job %u: %s", (unsigned)prepare->job_id, err->text);
	if (status == STATUS_HELD)
		pm_prepare_turn_away(prepare, err->text);
	return status == STATUS_REFUSED || status == STATUS_HELD ? 0 : rc;
}

enum pm_ending pm_prepare_end(const struct pm_prepare *prepare, struct pm_err *err)
{
	int status = 0;

	if (!run_end(prepare->config, prepare->job_id, &status, err))
		return PM_ENDING_DONE;
	return status == STATUS_REBOOT ? PM_ENDING_REBOOT : PM_ENDING_FAULT;
}
