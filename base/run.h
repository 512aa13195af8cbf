/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_RUN_H
#define PM_RUN_H

/*
 * Runs a program and captures what it prints. Never a shell: argv is passed as it is; argv[0] is
 * an absolute path. The child gets /dev/null as stdin, no descriptor of ours but lock_fd, default
 * signal handling, the root directory as working directory and its own process group, so that a
 * terminal's Ctrl-C or a manager's signal to our group does not end a tool in the middle of a
 * change. After a timeout or too much output pm_run() kills the whole group, and waits for the
 * child five seconds at most.
 *
 * The program inherits lock_fd. Unless it dies with its caller, so does its keeper, a process of
 * ours that waits for the program: where SELinux takes the descriptor from the program, the lock
 * lasts all the same.
 */
#include <stddef.h>

#include "base/err.h"
#include "base/spawn.h"

struct pm_output {
	int status; /* exit status 0..255, or 128 + signal that ended it */
	char *out;  /* stdout, NUL-terminated; never NULL after success */
	size_t out_len;
	char *err; /* stderr, the same */
	size_t err_len;
	unsigned elapsed_ms;
};

/*
 * 0 when the program ran and ended by itself or by a signal, whatever its status: look at
 * ret->status. The output must be released with pm_output_done().
 * -EINVAL argv empty or argv[0] not absolute; -ETIMEDOUT; -EFBIG too much output; other: the errno
 * of fork, exec or a pipe. On failure *ret is untouched, and no child is left except one that
 * SIGKILL does not end.
 */
int pm_run(const struct pm_program *run, struct pm_output *ret, struct pm_err *err);

/* Releases and empties; an all-zero struct is fine. */
void pm_output_done(struct pm_output *output);

/*
 * "'/usr/bin/ipmctl show -goal' ended with status 1, printed: 'first line | second line'":
 * one line for an error, with the tool's output, bounded and made printable. malloc'ed.
 */
char *pm_run_describe(const struct pm_program *run, const struct pm_output *output);

/* The words of argv with spaces between them; malloc'ed, NULL when out of memory. */
char *pm_run_line(const char *const *argv);

/* Printable one-line form of any text: newlines become " | ", other control bytes '?', cut with
 * "..." at `max_bytes`. malloc'ed; NULL when out of memory. */
char *pm_quote(const char *text, size_t length, size_t max_bytes);

#endif
