/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "agent/options.h"

#include <getopt.h>
#include <stddef.h>
#include <string.h>

static const struct row {
	unsigned bit;
	const char *name;
	const char *value;   /* name of its argument, NULL for none */
	size_t value_offset; /* in struct pm_agent */
	const char *help;
} rows[] = {
	{PM_OPT_CONFIG, "config", "FILE", offsetof(struct pm_agent, op.config_path),
		"read FILE instead of " PM_CONFIG_DEFAULT_PATH},
	{PM_OPT_NODE, "node", "NAME", offsetof(struct pm_agent, op.node),
		"take the NodeName= lines of NAME instead of this host's"},
	{PM_OPT_VERBOSE, "verbose", NULL, 0, "say more"},
	{PM_OPT_JSON, "json", NULL, 0, "print JSON"},
	{PM_OPT_FRESH, "fresh", NULL, 0, "ask ipmctl even if this boot's record holds"},
	{PM_OPT_DRY_RUN, "dry-run", NULL, 0, "check all, print what would be done, change nothing"},
	{PM_OPT_CLEAR, "clear", NULL, 0, "forget a failed change if the node is sound now"},
	{PM_OPT_EXPECT, "expect", "MODE[,MODE]", offsetof(struct pm_agent, expect),
		"the modes that the job may run in"},
	{PM_OPT_LIST, "list", NULL, 0, "print what there is, one a line"},
	{PM_OPT_JOB, "job", "ID", offsetof(struct pm_agent, job), "the job's number"},
	{PM_OPT_UID, "uid", "UID", offsetof(struct pm_agent, uid), "the user that it runs as"},
	{PM_OPT_GID, "gid", "GID", offsetof(struct pm_agent, gid), "the group that it runs as"},
	{PM_OPT_SIZE, "size", "SIZE", offsetof(struct pm_agent, size),
		"persistent memory that it may use on each socket, as 100G"},
	{PM_OPT_NAMESPACE, "namespace", "fsdax|devdax", offsetof(struct pm_agent, namespace),
		"give it directories, or devices"},
	{PM_OPT_RUN, "run", "WORD", offsetof(struct pm_agent, run),
		"which run of the job it is: what an earlier one has left is removed"},
	{PM_OPT_MEMORY, "memory", "SIZE|all", offsetof(struct pm_agent, memory),
		"main memory that Slurm has given it on this node"},
	{PM_OPT_ALLOCATED, "allocated", "SIZE", offsetof(struct pm_agent, allocated),
		"main memory that all jobs on this node have, it included"},
	{PM_OPT_SHARED, "shared", NULL, 0, "other jobs may be put on this node beside it"},
	{PM_OPT_OUTPUT, "output", "FILE", offsetof(struct pm_agent, output), "write FILE"},
	{PM_OPT_VERSION, "version", NULL, 0, "print the version"},
	{PM_OPT_LIST_VERBS, "list-verbs", NULL, 0, "print the names of all verbs, one a line"},
	{PM_OPT_HELP, "help", NULL, 0, "print this help"},
};

#define N_ROWS (sizeof(rows) / sizeof(rows[0]))

/* The one short option, which everybody's fingers know. */
static char letter_of(const struct row *row)
{
	return row->bit == PM_OPT_OUTPUT ? 'o' : '\0';
}

/* For getopt_long(3): `val` is the row's index, which is below all letters. */
static void build(unsigned allowed, struct option options[N_ROWS + 1], char letters[2 * N_ROWS + 1])
{
	size_t n = 0;

	for (size_t i = 0; i < N_ROWS; i++) {
		if (!(rows[i].bit & allowed))
			continue;
		options[n++] = (struct option){.name = rows[i].name,
			.has_arg = rows[i].value ? required_argument : no_argument,
			.val = (int)i};
		if (letter_of(&rows[i]))
			letters += sprintf(
				letters, "%c%s", letter_of(&rows[i]), rows[i].value ? ":" : "");
	}
	options[n] = (struct option){0};
	*letters = '\0';
}

static const struct row *row_of(int c)
{
	for (size_t i = 0; i < N_ROWS; i++)
		if (c == (int)i || (c && c == letter_of(&rows[i])))
			return &rows[i];
	return NULL;
}

static void take(struct pm_agent *agent, const struct row *row, const char *value)
{
	agent->given |= row->bit;
	if (row->value)
		*(const char **)((char *)agent + row->value_offset) = value;
}

static void complain(const struct pm_agent *agent, char *word, int what)
{
	const char *verb = agent->verb ? agent->verb->name : "";

	fprintf(stderr, "pmctl: %s '%s', try 'pmctl %s%s--help'\n",
		what == ':' ? "argument missing behind" : "unknown option", word, verb,
		*verb ? " " : "");
}

int pm_options_read(
	struct pm_agent *agent, int argc, char **argv, unsigned allowed, bool stop_at_word)
{
	struct option options[N_ROWS + 1];
	char letters[2 * N_ROWS + 3];
	int c;

	strcpy(letters, stop_at_word ? "+:" : ":");
	build(allowed, options, letters + strlen(letters));
	opterr = 0;
	optind = 0;
	while ((c = getopt_long(argc, argv, letters, options, NULL)) != -1) {
		if (c == '?' || c == ':') {
			complain(agent, argv[optind - 1], c);
			return -1;
		}
		take(agent, row_of(c), optarg);
	}
	return optind;
}

void pm_options_help(FILE *out, unsigned mask)
{
	for (size_t i = 0; i < N_ROWS; i++) {
		char text[48], letter[8] = "";

		if (!(rows[i].bit & mask))
			continue;
		if (letter_of(&rows[i]))
			snprintf(letter, sizeof(letter), ", -%c", letter_of(&rows[i]));
		snprintf(text, sizeof(text), "--%s%s%s%s", rows[i].name, rows[i].value ? "=" : "",
			rows[i].value ? rows[i].value : "", letter);
		fprintf(out, "  %-22s %s\n", text, rows[i].help);
	}
}
