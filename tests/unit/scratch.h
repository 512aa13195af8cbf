/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_TESTS_SCRATCH_H
#define PM_TESTS_SCRATCH_H

/* A private directory for a test, gone at exit; files in it; and the recorded outputs. */
#include <stddef.h>

/* Below /run for root: its programs want directories that only root can change. Else in TMPDIR. */
const char *scratch_dir(void);

/* "DIR/name"; the text is good until 16 further calls. */
const char *scratch_path(const char *name);

/* Writes a file with this text, making directories on the way; returns its path. */
const char *scratch_file(const char *name, const char *text);

/* Makes a symbolic link, and directories on the way; returns its path. */
const char *scratch_link(const char *name, const char *target);

/* The text with the first `old` in it as `new`; malloc'ed. Ends the program if there is none. */
char *replaced(const char *text, const char *old, const char *new);

/* tests/fixtures/NAME, read whole; ends the program when it is not there. Freed at exit. */
const char *fixture(const char *name, size_t *ret_length);

#endif
