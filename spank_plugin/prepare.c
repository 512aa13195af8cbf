/* SPDX-License-Identifier: Apache-2.0 */
#include "spank_plugin/prepare.h"

#include <errno.h>
#include <slurm/spank.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/strv.h"
#include "node/state/jobview.h"
#include "protocol/pmctl.h"
#include "site/modes.h"
#include "spank_plugin/allocation.h"
#include "spank_plugin/command.h"
#include "spank_plugin/cancel.h"
#include "spank_plugin/node.h"
#include "spank_plugin/requeue.h"

#define SCONTROL_TIMEOUT_MS 20000
#define TELL_TIMEOUT_MS	    15000
#define MAX_WORDS	    16

/*
 * Limit of runs of 'pmctl job begin', as it may report one of several jobs in the way that are
 * over.
 */
#define MAX_TRIES 32

/* File systems and wipes take several runs of tools, each up to ToolTimeout. */
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

/* The job's allocation and, if other jobs may be on the node, the memory of all the node's jobs. */
struct given {
	struct pm_allocation job;
	uint64_t allocated_bytes; /* 0: not known, or not needed */
};

static void add_given(struct words *words, const struct given *given)
{
	add(words, "--run=%s", given->job.run);
	if (!given->job.whole_nodes)
		add(words, "--shared");
	if (given->job.memory_bytes && given->job.all_memory)
		add(words, "--memory=all");
	else if (given->job.memory_bytes)
		add(words, "--memory=%lluK", (unsigned long long)(given->job.memory_bytes >> 10));
	if (given->allocated_bytes)
		add(words, "--allocated=%lluK", (unsigned long long)(given->allocated_bytes >> 10));
}

static int run_begin(const struct pm_prepare *prepare, const struct given *given, int *ret_status,
	char **ret_out, struct pm_err *err)
{
	const struct pm_requirement *requirement = prepare->requirement;
	struct words words = {0};

	words.argv[words.count++] = prepare->config->pmctl_path;
	add(&words, "job");
	add(&words, "begin");
	add(&words, "--job=%u", (unsigned)prepare->job_id);
	add(&words, "--uid=%u", (unsigned)prepare->uid);
	add(&words, "--gid=%u", (unsigned)prepare->gid);
	add(&words, "--expect=%s", requirement->modes);
	if (requirement->size)
		add(&words, "--size=%s", requirement->size);
	if (requirement->kind)
		add(&words, "--namespace=%s", requirement->kind);
	add_given(&words, given);
	return pm_command_answer(words.argv, timeout_ms(prepare->config), ret_status, ret_out, err);
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

/*
 * A sentence may quote a user's text, with characters that a line of the view cannot hold;
 * malloc'ed.
 */
static char *one_line(const char *sentence)
{
	char *line = strdup(sentence);

	for (char *at = line; at && *at; at++)
		if ((unsigned char)*at < ' ' || *at == 0x7f)
			*at = '?';
	return line;
}

/* A line that begins so; pmctl of another version may print others. */
static bool has_line(const char *answer, const char *begin)
{
	while (*answer && strncmp(answer, begin, strlen(begin)))
		answer += strcspn(answer, "\n"), answer += strspn(answer, "\n");
	return *answer;
}

/*
 * Reports the rejection to pm-controller, which counts the nodes and requeues or holds the job.
 * True if pm-controller did; else the node requeues the job.
 */
static bool controller_requeues(const struct pm_prepare *prepare, const char *sentence)
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
	return answer && has_line(answer, PM_ANSWER_REQUEUED);
}

/*
 * The tasks find this view if they start at all. Also makes its directory, which 'pmctl job begin'
 * may not have made.
 */
int pm_prepare_fail_tasks(
	const struct pm_prepare *prepare, const char *sentence, struct pm_err *err)
{
	const char *run_dir = prepare->config->run_dir;
	cleanup_free char *path = pm_jobview_path(run_dir, prepare->job_id);
	cleanup_free char *folder = path ? strdup(path) : NULL, *line = one_line(sentence);
	struct pm_jobview view = {
		.refused = line, .owner = {.job_id = prepare->job_id, .uid = prepare->uid}};
	int rc;

	if (!folder || !line)
		return pm_err_nomem(err);
	*strrchr(folder, '/') = '\0';
	rc = pm_file_make_dir(run_dir, 0755, err);
	if (!rc)
		rc = pm_file_make_dir(folder, 0755, err);
	if (!rc)
		rc = pm_kernel_boot_id(prepare->config->fs_root, view.owner.boot_id, err);
	return rc ? rc : pm_jobview_write(path, &view, err);
}

/*
 * True for a batch script on this node alone: it fails by its job view, with the sentence in its
 * output.
 */
static bool can_fail_by_itself(const struct pm_prepare *prepare)
{
	struct pm_allocation job;

	return !pm_allocation_ask(
		       prepare->config, prepare->job_id, SCONTROL_TIMEOUT_MS, &job, NULL) &&
	       job.is_batch && job.nodes == 1;
}

int pm_prepare_requeue(const struct pm_prepare *prepare, const char *sentence)
{
	struct pm_err err = {0};
	int rc;

	if (!pm_job_requeue(prepare->config, prepare->job_id, SCONTROL_TIMEOUT_MS, &err))
		return 0;
	slurm_error("pm: prolog: %s, job %u ends instead", err.text, (unsigned)prepare->job_id);
	if (can_fail_by_itself(prepare))
		return 0;
	rc = pm_job_cancel(prepare->config, prepare->job_id, sentence, SCONTROL_TIMEOUT_MS, &err);
	if (rc)
		slurm_error("pm: prolog: end job %u: %s", (unsigned)prepare->job_id, err.text);
	return rc;
}

/* The view comes first: a script on this node alone that cannot be requeued fails by it. */
static int withdraw_by(const struct pm_prepare *prepare, const char *sentence, bool by_controller)
{
	struct pm_err untold = {0};

	if (pm_prepare_fail_tasks(prepare, sentence, &untold))
		slurm_error("pm: prolog: tell job %u: %s", (unsigned)prepare->job_id, untold.text);
	if (by_controller && controller_requeues(prepare, sentence))
		return 0;
	return pm_prepare_requeue(prepare, sentence) ?: untold.code;
}

int pm_prepare_withdraw(const struct pm_prepare *prepare, const char *sentence)
{
	return withdraw_by(prepare, sentence, /* by_controller= */ false);
}

int pm_prepare_reject(const struct pm_prepare *prepare, const char *sentence)
{
	return withdraw_by(prepare, sentence, /* by_controller= */ true);
}

/* Ends another job that is over and had no epilog here. True if that was done. */
static bool end_missed_epilog(const struct pm_prepare *prepare, uint32_t other)
{
	struct pm_err err = {0};
	int status = 0;

	if (other == prepare->job_id ||
		pm_job_is_alive(prepare->config, other, SCONTROL_TIMEOUT_MS))
		return false;
	slurm_info("pm: prolog: job %u is over, releasing its allotments", (unsigned)other);
	if (!run_end(prepare->config, other, &status, &err))
		return true;
	slurm_error("pm: prolog: %s", err.text);
	return false;
}

/* Ends the jobs of pmctl's lines "holder=ID" that are over. True if it ended one. */
static bool end_holders(const struct pm_prepare *prepare, const char *answer)
{
	bool ended = false;
	unsigned id;

	for (; *answer; answer += strcspn(answer, "\n"), answer += strspn(answer, "\n"))
		if (sscanf(answer, PM_ANSWER_HOLDER "%u", &id) == 1 &&
			end_missed_epilog(prepare, id))
			ended = true;
	return ended;
}

/*
 * True if all memory without a job record is of jobs with a mode, which begin after this one: they
 * will find this job's record.
 */
static bool belongs_to_later_jobs(const struct pm_prepare *prepare, const char *answer)
{
	return has_line(answer, PM_ANSWER_UNRECORDED) &&
	       !pm_allocation_beside(prepare->config, prepare->job_id, SCONTROL_TIMEOUT_MS);
}

/* Runs 'pmctl job begin', and again as long as something that was in its way could be removed. */
static int begin(
	const struct pm_prepare *prepare, struct given *given, int *ret_status, struct pm_err *err)
{
	int rc = -EBUSY;

	for (unsigned i = 0; i < MAX_TRIES; i++) {
		cleanup_free char *answer = NULL;

		*ret_status = 0;
		rc = run_begin(prepare, given, ret_status, &answer, err);
		if (!rc || *ret_status != PM_EXIT_CONFLICT)
			return rc;
		if (belongs_to_later_jobs(prepare, answer))
			given->allocated_bytes = 0;
		else if (!end_holders(prepare, answer))
			return rc;
	}
	return rc;
}

static bool wants_nodes_alone(const struct pm_requirement *requirement)
{
	cleanup_with(pm_strv_cleanup) char **names = pm_strv_split(requirement->modes, ",");

	for (char **name = names; name && *name; name++) {
		const struct pm_mode_info *mode = pm_mode_by_name(*name);

		if (mode && mode->substate == PM_SUBSTATE_FLAT)
			return true;
	}
	return requirement->kind && !strcmp(requirement->kind, "devdax");
}

/*
 * If slurmctld does not answer, a job goes on without these values: else every job that starts
 * would be rejected. Only jobs that need whole nodes are rejected then.
 */
static int ask(const struct pm_prepare *prepare, struct given *ret, struct pm_err *err)
{
	cleanup_with(pm_node_known_done) struct pm_node_known known = {0};
	int rc = pm_allocation_ask(
		prepare->config, prepare->job_id, SCONTROL_TIMEOUT_MS, &ret->job, err);

	if (!rc && !ret->job.whole_nodes && ret->job.memory_bytes)
		rc = pm_node_ask(prepare->config, SCONTROL_TIMEOUT_MS, &known, err);
	ret->allocated_bytes = known.allocated_bytes;
	if (!*ret->job.run)
		snprintf(ret->job.run, sizeof(ret->job.run), "unknown.%lld", (long long)time(NULL));
	if (!rc || wants_nodes_alone(prepare->requirement))
		return rc;
	slurm_error("pm: prolog: %s, not looking at the memory of job %u", err->text,
		(unsigned)prepare->job_id);
	return 0;
}

int pm_prepare_begin(const struct pm_prepare *prepare, struct pm_err *err)
{
	struct given given = {0};
	int status = PM_EXIT_CONFLICT; /* if ask() fails: the job is rejected */
	int rc = ask(prepare, &given, err);

	if (!rc)
		rc = begin(prepare, &given, &status, err);
	if (!rc)
		return 0;
	if (status == PM_EXIT_REFUSED || status == PM_EXIT_CONFLICT)
		slurm_info("pm: prolog: job %u: %s", (unsigned)prepare->job_id, err->text);
	if (status == PM_EXIT_CONFLICT)
		return pm_prepare_reject(prepare, err->text);
	if (status == PM_EXIT_REBOOT)
		return -ERESTART;
	return status == PM_EXIT_REFUSED ? 0 : rc;
}

enum pm_ending pm_prepare_make_way(const struct pm_prepare *prepare, struct pm_err *err)
{
	const char *argv[] = {prepare->config->pmctl_path, "job", "make-way", NULL};
	int status = 0;

	if (!pm_command_status(argv, timeout_ms(prepare->config), &status, err))
		return PM_ENDING_DONE;
	return status == PM_EXIT_REBOOT ? PM_ENDING_REBOOT : PM_ENDING_FAULT;
}

enum pm_ending pm_prepare_end(const struct pm_prepare *prepare, struct pm_err *err)
{
	int status = 0;

	if (!run_end(prepare->config, prepare->job_id, &status, err))
		return PM_ENDING_DONE;
	return status == PM_EXIT_REBOOT ? PM_ENDING_REBOOT : PM_ENDING_FAULT;
}
