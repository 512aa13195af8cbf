/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_AGENT_OPTIONS_H
#define PM_AGENT_OPTIONS_H

/* The options of pmctl: one table for parsing and help. */
#include <stdio.h>

#include "agent/pmctl.h"

/*
 * Reads options and words of `argv` (argv[0] is skipped) into the agent, stopping at the first
 * word when `stop_at_word`. Only options in `allowed` are taken. Returns the index of the first
 * word, or -1 after a message on stderr.
 */
int pm_options_read(
	struct pm_agent *agent, int argc, char **argv, uint64_t allowed, bool stop_at_word);

/* Lines of help for the options in `mask`. */
void pm_options_help(FILE *out, uint64_t mask);

#endif
