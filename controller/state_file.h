/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_STATE_FILE_H
#define PM_STATE_FILE_H

/* The service's files at its start. */
#include "base/store.h"

/*
 * Reads a file into *ret, which stays zero if that fails: the service starts without it and says so
 * on stderr. A malformed file, or one of a newer slurm-pmem, is renamed.
 */
void pm_state_file_read(const struct pm_store *store, const char *path, void *ret);

#endif
