/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <syslog.h>
#include <unistd.h>

#include "agent/options.h"
#include "agent/pmctl.h"
#include "base/standard_files.h"

static void print_help(void)
{
	printf("usage: pmctl [OPTION]... VERB [ARGUMENT]...\n\n"
	       "Prints and changes the mode of this node's persistent memory.\n\nverbs:\n");
	for (const struct pm_verb *verb = pm_verbs; verb->name; verb++)
		printf("  %-14s %s\n", verb->name, verb->summary);
	printf("\noptions:\n");
	pm_options_help(stdout, PM_OPT_GLOBAL | PM_OPT_VERSION | PM_OPT_LIST_VERBS);
	printf("\nexit status: 0 done, 1 failed, 2 wrong usage; see pmctl(8)\n");
}

static void print_verb_help(const struct pm_verb *verb)
{
	printf("usage: pmctl %s [OPTION]...%s%s\n\n%s\n\noptions:\n", verb->name,
		*verb->args ? " " : "", verb->args, verb->help);
	pm_options_help(stdout, PM_OPT_GLOBAL | verb->options);
}

static int usage_error(const char *text)
{
	fprintf(stderr, "pmctl: %s, try 'pmctl --help'\n", text);
	return PM_EXIT_USAGE;
}

static int unknown_verb(const char *word)
{
	fprintf(stderr, "pmctl: unknown verb '%s', try 'pmctl --help'\n", word);
	return PM_EXIT_USAGE;
}

static int check_words(const struct pm_agent *agent)
{
	const struct pm_verb *verb = agent->verb;

	if (agent->n_words >= verb->min_words && agent->n_words <= verb->max_words)
		return PM_EXIT_DONE;
	fprintf(stderr, "usage: pmctl %s [OPTION]...%s%s\n", verb->name, *verb->args ? " " : "",
		verb->args);
	return PM_EXIT_USAGE;
}

static int run_verb(struct pm_agent *agent)
{
	struct pm_err err;

	if ((agent->verb->flags & PM_VERB_ROOT) && geteuid() != 0)
		pm_err_set(&err, -EPERM, "must be root");
	else if (agent->verb->flags & PM_VERB_UNCONFIGURED ||
		 !pm_config_load_for(
			 agent->op.config_path, agent->op.node, &agent->op.config, &err))
		return agent->verb->run(agent);
	return pm_fail(agent, &err);
}

/* Options may stand before the verb, and behind it. */
static int read_verb(struct pm_agent *agent, int argc, char **argv, int at)
{
	int n_name;

	agent->verb = pm_verb_find(argc - at, argv + at, &n_name);
	if (!agent->verb)
		return unknown_verb(argv[at]);
	agent->op.name = agent->verb->name;
	argc -= at + n_name - 1;
	argv += at + n_name - 1;
	at = pm_options_read(
		agent, argc, argv, PM_OPT_GLOBAL | agent->verb->options, /* stop_at_word= */ false);
	if (at < 0)
		return PM_EXIT_USAGE;
	agent->n_words = argc - at;
	agent->words = argv + at;
	if (agent->given & PM_OPT_HELP) {
		print_verb_help(agent->verb);
		return PM_EXIT_DONE;
	}
	if (check_words(agent))
		return PM_EXIT_USAGE;
	return run_verb(agent);
}

static int list_verbs(void)
{
	for (const struct pm_verb *verb = pm_verbs; verb->name; verb++)
		puts(verb->name);
	return PM_EXIT_DONE;
}

static int run(struct pm_agent *agent, int argc, char **argv)
{
	int at = pm_options_read(agent, argc, argv,
		PM_OPT_GLOBAL | PM_OPT_VERSION | PM_OPT_LIST_VERBS, /* stop_at_word= */ true);

	if (at < 0)
		return PM_EXIT_USAGE;
	if (agent->given & PM_OPT_VERSION) {
		puts("pmctl " PM_VERSION);
		return PM_EXIT_DONE;
	}
	if (agent->given & PM_OPT_LIST_VERBS)
		return list_verbs();
	if (at < argc)
		return read_verb(agent, argc, argv, at);
	if (agent->given & PM_OPT_HELP) {
		print_help();
		return PM_EXIT_DONE;
	}
	return usage_error("a verb is missing");
}

int main(int argc, char **argv)
{
	struct pm_agent agent = {.op.report = pm_agent_report};
	int status;

	pm_standard_files_open(O_RDONLY);
	if (argc < 1)
		return usage_error("a verb is missing");
	openlog("pmctl", LOG_PID, LOG_DAEMON);
	status = run(&agent, argc, argv);
	pm_config_done(&agent.op.config);
	if (fflush(stdout)) {
		fprintf(stderr, "pmctl: write to stdout: %s\n", strerror(errno));
		return PM_EXIT_FAILED;
	}
	return status;
}
