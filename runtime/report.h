/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_RUNTIME_REPORT_H
#define PM_RUNTIME_REPORT_H

/*
 * What became of a rank's memory, told when it ends, where PM_REPORT asks for it: "stderr", in
 * lines for people; else a file, to which one line of JSON is appended. Not told by a process that
 * is killed, or that ends by _exit(2) or execve(2).
 */

/* Notes where to: the working directory may change until the end. */
void pm_report_prepare(void);

#endif
