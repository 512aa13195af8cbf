/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "agent/options.h"

#include <getopt.h>
#include <stddef.h>
#include <string.h>

static const struct row {
	const char *name;
	char letter;	      /* of its short form, 0 for none */
	const char *argument; /* its name, NULL for none */
	size_t offset;	      /* of its value in struct pm_agent */
	const char *help;
} rows[] = {
#define PM_OPTION(NAME, word, letter, argument, member, help)                                      \
	{word, letter, argument, offsetof(struct pm_agent, member), help},
#define PM_FLAG(NAME, word, help) {word, 0, NULL, 0, help},
#include "agent/options.def"
};

#define N_ROWS (sizeof(rows) / sizeof(rows[0]))

/* For getopt_long(3): `val` is the row's index, which is below all letters. */
static void build(uint64_t allowed, struct option options[N_ROWS + 1], char letters[2 * N_ROWS + 1])
{
	size_t n = 0;

	for (size_t i = 0; i < N_ROWS; i++) {
		if (!(UINT64_C(1) << i & allowed))
			continue;
		options[n++] = (struct option){.name = rows[i].name,
			.has_arg = rows[i].argument ? required_argument : no_argument,
			.val = (int)i};
		if (rows[i].letter)
			letters += sprintf(
				letters, "%c%s", rows[i].letter, rows[i].argument ? ":" : "");
	}
	options[n] = (struct option){0};
	*letters = '\0';
}

static void take(struct pm_agent *agent, int c, const char *value)
{
	for (size_t i = 0; i < N_ROWS; i++) {
		if (c != (int)i && (!c || c != rows[i].letter))
			continue;
		agent->given |= UINT64_C(1) << i;
		if (rows[i].argument)
			*(const char **)((char *)agent + rows[i].offset) = value;
	}
}

static void complain(const struct pm_agent *agent, char *word, int what)
{
	const char *verb = agent->verb ? agent->verb->name : "";

	fprintf(stderr, "pmctl: %s '%s', try 'pmctl %s%s--help'\n",
		what == ':' ? "missing argument after" : "unknown option", word, verb,
		*verb ? " " : "");
}

int pm_options_read(
	struct pm_agent *agent, int argc, char **argv, uint64_t allowed, bool stop_at_word)
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
		take(agent, c, optarg);
	}
	return optind;
}

void pm_options_help(FILE *out, uint64_t mask)
{
	for (size_t i = 0; i < N_ROWS; i++) {
		char text[48], letter[8] = "";

		if (!(UINT64_C(1) << i & mask))
			continue;
		if (rows[i].letter)
			snprintf(letter, sizeof(letter), ", -%c", rows[i].letter);
		snprintf(text, sizeof(text), "--%s%s%s%s", rows[i].name,
			rows[i].argument ? "=" : "", rows[i].argument ? rows[i].argument : "",
			letter);
		fprintf(out, "  %-22s %s\n", text, rows[i].help);
	}
}
