/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_COMMAND_H
#define PM_COMMAND_H

#include "base/err.h"
#include "base/run.h"

/* pm_command(): the program ran and did not end with 0. */
#define PM_COMMAND_SAID_NO (-EPERM)

/*
 * Runs a program from the plugin: a clean environment, and in it only what says which Slurm and
 * which node we are (SLURM_CONF, SLURMD_NODENAME).
 * -EPERM: it ended with another status than 0; the text is what it printed on stderr, without the
 * program's own name in front. Others: it could not be run, or ran into the timeout.
 */
int pm_command(const char *const *argv, unsigned timeout_ms, struct pm_err *err);

/* The same; *ret_status is the exit status where it ran, else untouched. */
int pm_command_status(
	const char *const *argv, unsigned timeout_ms, int *ret_status, struct pm_err *err);

/* The same; *ret_out is, where it ran, what it printed on stdout, malloc'ed. */
int pm_command_answer(const char *const *argv, unsigned timeout_ms, int *ret_status, char **ret_out,
	struct pm_err *err);

/* The same; *ret is the first line of its stdout, malloc'ed. */
int pm_command_read(const char *const *argv, unsigned timeout_ms, char **ret, struct pm_err *err);

/* The same; *ret is all that it printed, to be released with pm_output_done(). */
int pm_command_output(
	const char *const *argv, unsigned timeout_ms, struct pm_output *ret, struct pm_err *err);

#endif
