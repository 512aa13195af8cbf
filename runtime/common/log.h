/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_RUNTIME_LOG_H
#define PM_RUNTIME_LOG_H

/*
 * Writes "pm: rank 3: ..." and a newline to standard error by a single system call, so that
 * lines of several ranks do not mix. Lines are cut at 511 bytes. Allocates nothing and keeps errno.
 */
void pm_log(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
