/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_AGENT_PMCTL_H
#define PM_AGENT_PMCTL_H

/* What the verbs of pmctl share: the command line as it was read, and how they speak. */
#include <stdbool.h>

#include "protocol/pmctl.h"
#include "node/operation.h"

/* Bits of the options that a verb takes; see the table in options.c. */
enum pm_option {
	PM_OPT_CONFIG = 1 << 0,
	PM_OPT_NODE = 1 << 1,
	PM_OPT_VERBOSE = 1 << 2,
	PM_OPT_HELP = 1 << 3,
	PM_OPT_JSON = 1 << 4,
	PM_OPT_FRESH = 1 << 5,
	PM_OPT_DRY_RUN = 1 << 6,
	PM_OPT_CLEAR = 1 << 7,
	PM_OPT_EXPECT = 1 << 8,
	PM_OPT_VERSION = 1 << 9,
	PM_OPT_LIST_VERBS = 1 << 10,
	PM_OPT_LIST = 1 << 11,
	PM_OPT_JOB = 1 << 12,
	PM_OPT_UID = 1 << 13,
	PM_OPT_GID = 1 << 14,
	PM_OPT_SIZE = 1 << 15,
	PM_OPT_NAMESPACE = 1 << 16,
	PM_OPT_OUTPUT = 1 << 17,
	PM_OPT_MEMORY = 1 << 18,
	PM_OPT_ALLOCATED = 1 << 19,
	PM_OPT_SHARED = 1 << 20,
	PM_OPT_RUN = 1 << 21,
	PM_OPT_GLOBAL = PM_OPT_CONFIG | PM_OPT_NODE | PM_OPT_VERBOSE | PM_OPT_HELP,
};

struct pm_agent {
	struct pm_operation op; /* first: see pm_agent_tell() */
	const struct pm_verb *verb;
	unsigned given; /* options on the command line */
	const char *expect, *job, *uid, *gid, *size, *namespace, *output, *memory, *allocated, *run;
	int n_words; /* what is left of the command line */
	char **words;
	bool quiet; /* says nothing on the terminal, only to the system log */
};

enum { PM_VERB_ROOT = 1 << 0, PM_VERB_LOGS = 1 << 1 /* to the system log too */ };

/* A row of agent/verbs.def. */
struct pm_verb {
	int (*run)(struct pm_agent *agent); /* returns a PM_EXIT_ value */
	const char *name, *args;
	int min_words, max_words;
	unsigned options, flags;
	const char *summary, *help;
};

/* The table; ends with a row without name. */
extern const struct pm_verb pm_verbs[];

/* The verb of these words, NULL when there is none; *ret_words is how many words name it. */
const struct pm_verb *pm_verb_find(int n_words, char *const *words, int *ret_words);

/* An error: "pmctl: VERB: text" on stderr, and to the system log for verbs that log. */
void pm_fail(const struct pm_agent *agent, const struct pm_err *err);

/*
 * Hears the agent's operation: a fact goes to stdout, a warning to stderr, and both to the system
 * log for verbs that log.
 */
void pm_agent_tell(const struct pm_operation *op, enum pm_tone tone, const char *text);

#define PM_VERB(function, ...) int pm_verb_##function(struct pm_agent *agent);
#include "agent/verbs.def"

#endif
