/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_RUNTIME_FILES_H
#define PM_RUNTIME_FILES_H

/*
 * The files that a user has named for the placement runtime. The runtime itself reports a file that
 * it cannot use and lets the program run; who has asked for a profile would miss it days later. So
 * the launchers look before the program starts.
 */
#include "base/err.h"

/*
 * `profile`: the directory for profiles, which is made if it is missing; `advice`: a file that can
 * be read; NULL: not asked for. Relative to the working directory. The errno of the call, with a
 * sentence that names the file.
 */
int pm_runtime_files_check(const char *profile, const char *advice, struct pm_err *err);

#endif
