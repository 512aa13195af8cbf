/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_AGENT_PMREPORT_H
#define PM_AGENT_PMREPORT_H

/* Becomes pmreport, which is installed beside pmctl: pages and tables are its work. */
#include "base/err.h"

/* list[0] is "pmreport". Returns only on failure, with an errno of execv(2) or readlink(2). */
int pm_run_pmreport(char *const *list, struct pm_err *err);

/* Becomes `pmreport job - --html=FILE` with this text as its stdin; the same. */
int pm_run_pmreport_of_job(const char *text, const char *file, struct pm_err *err);

#endif
