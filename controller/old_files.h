/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_OLD_FILES_H
#define PM_OLD_FILES_H

/* Files of the state directory that are kept for JobReportDays. */
#include <stdbool.h>
#include <stdint.h>

/* True once an hour, and the first time; *swept_s is then `now_s`. */
bool pm_old_files_are_due(uint64_t *swept_s, uint64_t now_s);

/* True if it is a regular file that nothing was written to for so many days. */
bool pm_old_files_has(int dir_fd, const char *name, unsigned keep_days, uint64_t now_s);

#endif
