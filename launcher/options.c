/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "launcher/options.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/suggest.h"

#define MAX_LETTERS (2 * PM_RUN_OPTIONS + 3) /* "+:", each may have one and ':' */

static const struct row {
	const char *name; /* with "--", as it is written */
	char letter;
	const char *argument; /* its name; NULL for none */
	const char *twin;     /* the variable that means the same; NULL for none */
	const char *help;
} rows[PM_RUN_OPTIONS] = {
#define PM_RANK_OPTION(NAME, word, argument, help, ...)                                            \
	[PM_RUN_##NAME] = {"--pm-" #word, 0, argument, "PM_" #NAME, help},
#define PM_RUN_OPTION(NAME, word, letter, argument, help, ...)                                     \
	[PM_RUN_##NAME] = {"--" #word, letter, argument, NULL, help},
#include "plan/options.def"
};

/* Options of sbatch, srun and salloc, which people give to pmrun. */
static const char *const of_jobs[] = {
#define PM_JOB_OPTION(NAME, word, ...) "--pm-" #word,
#include "plan/options.def"
	NULL,
};

static const char *const own[] = {
#define PM_RANK_OPTION(NAME, word, ...) "--pm-" #word,
#define PM_RUN_OPTION(NAME, word, ...)	"--" #word,
#include "plan/options.def"
	NULL,
};

/* For getopt_long(3): `val` is the row's index, which is below all letters. */
static void build(struct option options[PM_RUN_OPTIONS + 1], char letters[MAX_LETTERS])
{
	letters += sprintf(letters, "+:");
	for (int i = 0; i < PM_RUN_OPTIONS; i++) {
		options[i] = (struct option){.name = rows[i].name + strlen("--"),
			.has_arg = rows[i].argument ? required_argument : no_argument,
			.val = i};
		if (rows[i].letter)
			letters += sprintf(
				letters, "%c%s", rows[i].letter, rows[i].argument ? ":" : "");
	}
	options[PM_RUN_OPTIONS] = (struct option){0};
}

static int option_of(int c)
{
	for (int i = 0; i < PM_RUN_OPTIONS; i++)
		if (c == i || (c && c == rows[i].letter))
			return i;
	return PM_RUN_HELP;
}

static void take_twins(struct pm_run_given *given)
{
	for (int i = 0; i < PM_RUN_OPTIONS; i++) {
		const char *value = rows[i].twin ? getenv(rows[i].twin) : NULL;

		if (!value || !*value || (!rows[i].argument && !strcmp(value, "0")))
			continue;
		given->value[i] = value;
		given->source[i] = rows[i].twin;
	}
}

/* `word` is the option as it was written, perhaps with "=VALUE". */
static int refuse_unknown(const char *word, struct pm_err *err)
{
	cleanup_free char *name = strndup(word, strcspn(word, "="));
	const char *of_job = name ? pm_suggest_word(name, of_jobs) : NULL;
	const char *meant = name ? pm_suggest_word(name, own) : NULL;

	if (of_job && !strcmp(name, of_job))
		return pm_err_set(err, -EINVAL,
			"'%.64s' belongs to sbatch, srun and salloc, which choose the nodes; pmrun "
			"places "
			"ranks on this one",
			word);
	if (meant)
		return pm_err_set(err, -EINVAL,
			"unknown option '%.64s', did you mean %s? Try 'pmrun --help'", word, meant);
	return pm_err_set(err, -EINVAL, "unknown option '%.64s', try 'pmrun --help'", word);
}

int pm_run_options_read(int argc, char **argv, struct pm_run_given *ret, struct pm_err *err)
{
	struct pm_run_given given = {0};
	struct option options[PM_RUN_OPTIONS + 1];
	char letters[MAX_LETTERS];
	int c;

	take_twins(&given);
	build(options, letters);
	opterr = 0;
	optind = 0;
	while ((c = getopt_long(argc, argv, letters, options, NULL)) != -1) {
		int i = option_of(c);

		if (c == '?')
			return refuse_unknown(argv[optind - 1], err);
		if (c == ':')
			return pm_err_set(err, -EINVAL,
				"missing argument after '%.64s', try 'pmrun --help'",
				argv[optind - 1]);
		given.value[i] = optarg ? optarg : "";
		given.source[i] = rows[i].name;
	}
	given.program = argv + optind;
	*ret = given;
	return 0;
}

void pm_run_options_help(FILE *out)
{
	for (int i = 0; i < PM_RUN_OPTIONS; i++) {
		const struct row *row = &rows[i];
		char text[48], letter[8] = "";

		if (row->letter)
			snprintf(letter, sizeof(letter), "-%c, ", row->letter);
		snprintf(text, sizeof(text), "%s%s%s%s", letter, row->name,
			row->argument ? "=" : "", row->argument ? row->argument : "");
		fprintf(out, "  %-30s %s%s%s%s\n", text, row->help, row->twin ? " (" : "",
			row->twin ? row->twin : "", row->twin ? ")" : "");
	}
}

const char *pm_run_elsewhere(const struct pm_run_given *given, const char **ret_other)
{
	static const enum pm_run_option options[] = {
		PM_RUN_TOPOLOGY, PM_RUN_MACHINE, PM_RUN_NODE, PM_RUN_PARTITION};
	const char *found[2] = {NULL, NULL};
	unsigned n = 0;

	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]) && n < 2; i++)
		if (pm_run_has(given, options[i]))
			found[n++] = given->source[options[i]];
	if (ret_other)
		*ret_other = found[1];
	return found[0];
}
