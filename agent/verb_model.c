/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/pmctl.h"
#include "agent/print.h"
#include "base/cleanup.h"
#include "base/columns.h"
#include "base/units.h"
#include "model/model.h"
#include "site/site_profile.h"

struct question {
	struct pm_site_profile profile;
	struct pm_model_words words;
	struct pm_model_interval interval;
	unsigned socket;
};

/* --- the command line --- */

static int parse_bytes(const char *text, double *ret)
{
	uint64_t bytes = 0;
	int rc = strcmp(text, "0") ? pm_parse_size(text, &bytes) : 0;

	*ret = (double)bytes;
	return rc;
}

static int parse_count(const char *text, unsigned *ret)
{
	uint64_t count;

	if (pm_parse_u64(text, &count) || count > 1000000)
		return -EINVAL;
	*ret = (unsigned)count;
	return 0;
}

static int parse_seconds(const char *text, double *ret)
{
	char *end;

	if (!strchr("0123456789.", *text))
		return -EINVAL;
	*ret = strtod(text, &end);
	return *end || !(*ret > 0 && *ret < 1e6) ? -EINVAL : 0;
}

enum kind { BYTES, COUNT, SECONDS };

static const struct key {
	const char *name, *form;
	enum kind kind;
	size_t offset;
} keys[] = {
	{"in", "a size such as 480M, or 0", BYTES, offsetof(struct question, interval.in_bytes)},
	{"out", "a size such as 480M, or 0", BYTES, offsetof(struct question, interval.out_bytes)},
	{"traffic", "bytes per second, such as 2G, or 0", BYTES,
		offsetof(struct question, interval.compute_bytes_per_s)},
	{"compute", "seconds, such as 0.25", SECONDS,
		offsetof(struct question, interval.compute_s)},
	{"placed", "seconds, such as 0.25", SECONDS, offsetof(struct question, interval.placed_s)},
	{"other-in", "a size such as 480M, or 0", BYTES,
		offsetof(struct question, interval.other_in_bytes)},
	{"other-out", "a size such as 480M, or 0", BYTES,
		offsetof(struct question, interval.other_out_bytes)},
	{"ranks", "a number", COUNT, offsetof(struct question, interval.ranks)},
	{"threads", "a number", COUNT, offsetof(struct question, interval.threads)},
	{"cpus", "a number", COUNT, offsetof(struct question, interval.max_threads)},
	{"socket", "a number", COUNT, offsetof(struct question, socket)},
};

#define N_KEYS (sizeof(keys) / sizeof(keys[0]))

static int parse_value(const struct key *key, const char *text, struct question *q)
{
	void *at = (char *)q + key->offset;

	if (key->kind == BYTES)
		return parse_bytes(text, at);
	return key->kind == COUNT ? parse_count(text, at) : parse_seconds(text, at);
}

static int parse_word(const char *word, struct question *q, struct pm_err *err)
{
	size_t length = strcspn(word, "=");

	for (const struct key *key = keys; key < keys + N_KEYS; key++) {
		if (strlen(key->name) != length || strncmp(key->name, word, length) != 0)
			continue;
		if (word[length] && !parse_value(key, word + length + 1, q))
			return 0;
		return pm_err_set(err, -EINVAL, "'%s': write %s=%s", word, key->name, key->form);
	}
	return pm_err_set(err, -EINVAL,
		"'%s': the words are in=, out=, compute=, placed=, other-in=, other-out=, "
		"traffic=, ranks=, threads=, cpus=, socket=",
		word);
}

static int read_question(const struct pm_agent *agent, struct question *q, struct pm_err *err)
{
	int rc = 0;

	q->interval = (struct pm_model_interval){
		.compute_bytes_per_s = -1, .ranks = 1, .threads = 1, .max_threads = 1};
	for (int i = 0; !rc && i < agent->n_words; i++)
		rc = parse_word(agent->words[i], q, err);
	if (!rc && !(q->interval.compute_s > 0))
		rc = pm_err_set(err, -EINVAL,
			"compute= is missing: the seconds of an interval without helpers");
	if (!rc && !(q->interval.in_bytes + q->interval.out_bytes > 0))
		rc = pm_err_set(err, -EINVAL, "in= and out= are missing: the bytes of a batch");
	if (!rc && !agent->site_profile)
		rc = pm_err_set(err, -EINVAL, "--site-profile=FILE is missing");
	if (!rc)
		rc = pm_site_profile_load(agent->site_profile, &q->profile, err);
	if (!rc && q->profile.is_virtual && !(agent->given & PM_OPT_ALLOW_VIRTUAL))
		rc = pm_site_profile_refuse_virtual(&q->profile, err);
	return rc ? rc : pm_site_profile_model(&q->profile, q->socket, &q->words, err);
}

/* --- the answer --- */

static const char *const kinds[] = {[PM_MODEL_LITERAL] = "literal",
	[PM_MODEL_PACED] = "paced",
	[PM_MODEL_COMPARED] = "compared"};

/* The compared model answers if there is an interval in place to compare with. */
static enum pm_model_kind last_kind(const struct question *q)
{
	return q->interval.placed_s > 0 ? PM_MODEL_COMPARED : PM_MODEL_PACED;
}

static const char *format_rate(double bytes_per_s, char text[PM_SIZE_TEXT])
{
	return pm_format_size((uint64_t)bytes_per_s, text);
}

static void print_interval(const struct question *q)
{
	const struct pm_model_interval *interval = &q->interval;
	char in[PM_SIZE_TEXT], out[PM_SIZE_TEXT], traffic[PM_SIZE_TEXT] = "unknown";

	if (interval->compute_bytes_per_s >= 0)
		format_rate(interval->compute_bytes_per_s, traffic);
	printf("site profile %s, socket %u%s%s\n", q->profile.class, q->socket,
		*q->profile.reference ? ": " : "", q->profile.reference);
	printf("interval: %s in, %s out, T_comp %g s, BW_comp %s%s; ranks on the socket: %u, "
	       "Thrd_comp %u, Thrd_max %u",
		pm_format_size((uint64_t)interval->in_bytes, in),
		pm_format_size((uint64_t)interval->out_bytes, out), interval->compute_s, traffic,
		interval->compute_bytes_per_s >= 0 ? "/s" : "", interval->ranks, interval->threads,
		interval->max_threads);
	if (interval->placed_s > 0)
		printf("; in place %g s", interval->placed_s);
	putchar('\n');
}

static void add_trial(
	struct pm_columns *columns, enum pm_model_kind kind, const struct pm_model_trial *trial)
{
	char text[PM_SIZE_TEXT];

	pm_columns_add(columns, "%u", trial->helpers);
	pm_columns_add(columns, "%.3g s", trial->in_s);
	pm_columns_add(columns, "%.3g s", trial->out_s);
	pm_columns_add(columns, "%.3g s", trial->copy_s);
	pm_columns_add(columns, "%.3g s", trial->printed_copy_s);
	pm_columns_add(columns, "%s/s", format_rate(trial->copy_bytes_per_s, text));
	if (kind == PM_MODEL_COMPARED)
		pm_columns_add(columns, "%.3g s", trial->interval_s);
	pm_columns_add(
		columns, "%s", trial->limit ? pm_model_limit_text(trial->limit) : "feasible");
}

static int print_trials(enum pm_model_kind kind, const struct pm_model_answer *answer)
{
	static const char *const heads[] = {
		"helpers", "T_in", "T_out", "T_cp", "T_cp as printed", "copies"};
	struct pm_columns columns = {0};

	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++)
		pm_columns_head(&columns, heads[i], /* right= */ true);
	if (kind == PM_MODEL_COMPARED)
		pm_columns_head(&columns, "interval", /* right= */ true);
	pm_columns_head(&columns, "result", /* right= */ false);
	for (unsigned i = 0; i < PM_MODEL_HELPERS_MAX; i++)
		add_trial(&columns, kind, &answer->trials[i]);
	return pm_columns_print(&columns, stdout);
}

static int print_answer(
	const struct pm_agent *agent, const struct question *q, enum pm_model_kind kind)
{
	struct pm_model_answer answer = pm_model_choose(kind, &q->words.socket, &q->interval);
	char share[PM_SIZE_TEXT];
	int rc = 0;

	if (agent->given & PM_OPT_EXPLAIN) {
		printf("\n%s model, BW_max/N %s/s\n", kinds[kind],
			format_rate(answer.share_bytes_per_s, share));
		rc = print_trials(kind, &answer);
	}
	printf("%s: %u helper%s%s\n", kinds[kind], answer.helpers, answer.helpers == 1 ? "" : "s",
		answer.helpers ? "" : ", the data is used in place");
	return rc;
}

static void add_json(const struct question *q, enum pm_model_kind kind, json_object *root)
{
	struct pm_model_answer answer = pm_model_choose(kind, &q->words.socket, &q->interval);
	json_object *one = pm_json_add_object(root, kinds[kind]), *trials;

	pm_json_add_u64(one, "helpers", answer.helpers);
	pm_json_add_u64(one, "share_bytes_per_s", (uint64_t)answer.share_bytes_per_s);
	trials = pm_json_add_array(one, "trials");
	for (unsigned i = 0; i < PM_MODEL_HELPERS_MAX; i++) {
		const struct pm_model_trial *trial = &answer.trials[i];
		json_object *row = pm_json_append_object(trials);

		pm_json_add_u64(row, "helpers", trial->helpers);
		json_object_object_add(row, "in_s", json_object_new_double(trial->in_s));
		json_object_object_add(row, "out_s", json_object_new_double(trial->out_s));
		json_object_object_add(row, "copy_s", json_object_new_double(trial->copy_s));
		json_object_object_add(
			row, "printed_copy_s", json_object_new_double(trial->printed_copy_s));
		pm_json_add_u64(row, "copy_bytes_per_s", (uint64_t)trial->copy_bytes_per_s);
		if (kind == PM_MODEL_COMPARED && trial->interval_s < INFINITY)
			json_object_object_add(
				row, "interval_s", json_object_new_double(trial->interval_s));
		pm_json_add_string(row, "limit", pm_model_limit_text(trial->limit));
	}
}

static int print_json(const struct question *q)
{
	json_object *root = json_object_new_object();

	pm_json_add_string(root, "class", q->profile.class);
	pm_json_add_u64(root, "socket", q->socket);
	for (enum pm_model_kind kind = PM_MODEL_LITERAL; kind <= last_kind(q); kind++)
		add_json(q, kind, root);
	pm_print_json(root);
	return 0;
}

static int print_text(const struct pm_agent *agent, const struct question *q)
{
	int rc = 0;

	if (agent->given & PM_OPT_EXPLAIN)
		print_interval(q);
	for (enum pm_model_kind kind = PM_MODEL_LITERAL; !rc && kind <= last_kind(q); kind++)
		rc = print_answer(agent, q, kind);
	return rc;
}

static void release(struct question *q)
{
	pm_site_profile_done(&q->profile);
}

int pm_verb_model(struct pm_agent *agent)
{
	cleanup_with(release) struct question q = {0};
	struct pm_err err = {0};
	int rc = read_question(agent, &q, &err);

	if (!rc)
		rc = agent->given & PM_OPT_JSON ? print_json(&q) : print_text(agent, &q);
	return pm_finish(agent, rc, &err);
}
