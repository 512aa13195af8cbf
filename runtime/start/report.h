/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_RUNTIME_REPORT_H
#define PM_RUNTIME_REPORT_H

/*
 * What became of a rank's memory, told when it ends, where PM_REPORT asks for it: "stderr", in
 * lines for people; else a file, to which one line of JSON is appended. Not told by a process that
 * is killed, or that ends by _exit(2) or execve(2); nor by one of the many that a script starts,
 * and that never need more than they begin with.
 */
#include <stdbool.h>

/*
 * Notes where to, for the working directory may change until the end; a process that has
 * attached, the rank's own, tells in any case.
 */
void pm_report_prepare(bool attached);

#endif
