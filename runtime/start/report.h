/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_RUNTIME_REPORT_H
#define PM_RUNTIME_REPORT_H

/*
 * The report of a rank's memory, written at exit where PM_REPORT asks for it: lines for people for
 * "stderr", else one line of JSON that is appended to a file, pmplace(7). A process that is killed,
 * or ends by _exit(2) or execve(2), writes none. Neither does a process beside the rank's own that
 * has not grown since its start, such as the many that a shell script starts.
 */
#include <stdbool.h>

/*
 * Keeps the destination as an absolute path, since the working directory may change. `attached`:
 * this is the rank's own process, which always reports.
 */
void pm_report_prepare(bool attached);

#endif
