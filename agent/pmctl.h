/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_AGENT_PMCTL_H
#define PM_AGENT_PMCTL_H

/* The verbs of pmctl: their command line, and their messages. */
#include <stdbool.h>
#include <stdint.h>

#include "protocol/pmctl.h"
#include "node/operation.h"

enum pm_option_row {
#define PM_OPTION(NAME, ...) PM_OPTION_##NAME,
#define PM_FLAG(NAME, ...)   PM_OPTION_##NAME,
#include "agent/options.def"
};

/* Bits of the options that a verb takes: 64 at most. */
enum pm_option {
#define PM_OPTION(NAME, ...) PM_OPT_##NAME = 1ULL << PM_OPTION_##NAME,
#define PM_FLAG(NAME, ...)   PM_OPT_##NAME = 1ULL << PM_OPTION_##NAME,
#include "agent/options.def"
	PM_OPT_GLOBAL = PM_OPT_CONFIG | PM_OPT_NODE | PM_OPT_VERBOSE | PM_OPT_HELP,
};

struct pm_agent {
	struct pm_operation op; /* first: see pm_agent_report() */
	const struct pm_verb *verb;
	uint64_t given; /* options on the command line */
	const char *expect, *job, *uid, *gid, *size, *namespace, *output, *memory, *allocated, *run,
		*site_profile, *class, *by, *since, *wait, *runtime;
	int n_words; /* the rest of the command line */
	char **words;
	bool quiet; /* prints nothing, logs to the system log only */
};

enum {
	PM_VERB_ROOT = 1 << 0,
	PM_VERB_LOGS = 1 << 1,	       /* to the system log too */
	PM_VERB_UNCONFIGURED = 1 << 2, /* runs without pmem.conf, which may be broken */
};

/* A row of agent/verbs.def. */
struct pm_verb {
	int (*run)(struct pm_agent *agent); /* returns a PM_EXIT_ value */
	const char *name, *args;
	int min_words, max_words;
	uint64_t options;
	unsigned flags;
	const char *summary, *help;
};

/* The table; ends with a row without name. */
extern const struct pm_verb pm_verbs[];

/*
 * The verb of these words, NULL when there is none; *ret_words is the number of words in its name.
 */
const struct pm_verb *pm_verb_find(int n_words, char *const *words, int *ret_words);

/*
 * Prints "pmctl: VERB: text" on stderr, and to the system log for verbs that log. Returns
 * PM_EXIT_FAILED.
 */
int pm_fail(const struct pm_agent *agent, const struct pm_err *err);

/* Writes a text to a file, or to stdout (NULL). Errors of pm_file_write(), or of the write. */
int pm_write_output(const char *path, const char *text, struct pm_err *err);

/*
 * The exit status of a verb that returned `rc`: PM_EXIT_REBOOT for PM_NEEDS_REBOOT. Prints as
 * pm_fail() does.
 */
int pm_finish(const struct pm_agent *agent, int rc, const struct pm_err *err);

/*
 * Takes the messages of the agent's operation. A fact goes to stdout, a warning to stderr, and both
 * to the system log for verbs that log.
 */
void pm_agent_report(const struct pm_operation *op, enum pm_tone tone, const char *text);

#define PM_VERB(function, ...) int pm_verb_##function(struct pm_agent *agent);
#include "agent/verbs.def"

#endif
