/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_COMMAND_H
#define PM_COMMAND_H

#include "base/err.h"
#include "base/run.h"

/* The program ran, and its exit status was not 0. */
#define PM_COMMAND_SAID_NO (-EPERM)

/*
 * Runs a program, an absolute path with arguments, in a clean environment: PATH, LC_ALL=C, and
 * SLURM_CONF and SLURMD_NODENAME if they are set, which name the cluster and the node. It is killed
 * after the timeout. -EPERM (PM_COMMAND_SAID_NO): its exit status was not 0; the text is the last
 * line of its stderr, else of its stdout, without "pmctl: " in front. Other errors: it could not be
 * run, or the timeout passed.
 */
int pm_command(const char *const *argv, unsigned timeout_ms, struct pm_err *err);

/* The same; *ret_status is the exit status if the program ran, else untouched. */
int pm_command_status(
	const char *const *argv, unsigned timeout_ms, int *ret_status, struct pm_err *err);

/* The same; *ret_out is its stdout if it ran, malloc'ed, also with an exit status that is not 0. */
int pm_command_answer(const char *const *argv, unsigned timeout_ms, int *ret_status, char **ret_out,
	struct pm_err *err);

/* The same; *ret is the first line of its stdout, malloc'ed, untouched on errors. */
int pm_command_read(const char *const *argv, unsigned timeout_ms, char **ret, struct pm_err *err);

/* The same; *ret is all of its output, untouched on errors. Release with pm_output_done(). */
int pm_command_output(
	const char *const *argv, unsigned timeout_ms, struct pm_output *ret, struct pm_err *err);

/* The next line of an output; "" at the end. Empty lines are skipped. */
const char *pm_next_line(const char *line);

#endif
