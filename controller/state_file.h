/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_STATE_FILE_H
#define PM_STATE_FILE_H

/*
 * The service's files, each with a copy, "<path>.copy": Slurm does not have what is in them, as the
 * reboots that RebootsPerDay counts.
 */
#include "base/err.h"
#include "base/store.h"

/*
 * At the service's start: reads a file into *ret, or its copy if the file is malformed, missing or
 * cannot be read; *ret stays zero if that fails, too. Says so on stderr. A malformed file, or one
 * of a newer slurm-pmem, is renamed; of a newer one the copy is not read.
 */
void pm_state_file_read(const struct pm_store *store, const char *path, void *ret);

/* Replaces the file and its copy, each also if the other fails. As pm_store_write(). */
int pm_state_file_write(
	const struct pm_store *store, const char *path, const void *from, struct pm_err *err);

#endif
