/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_RUNTIME_PROFILE_FILE_H
#define PM_RUNTIME_PROFILE_FILE_H

/*
 * A profile's file, made when its buffer is full for the first time, or at the end. It is not kept
 * open: a program that closes all files, as daemons do, would get its number for another.
 */
#include <stdbool.h>
#include <stddef.h>

#include "runtime/profile/profile_format.h"

/*
 * Where it will be: a file of this process in `directory`, which is made if need be, relative to
 * what is now the working directory. The program's record, at most 8 KiB, is its first. False, with
 * a line on standard error: there is no such path.
 */
bool pm_profile_file_prepare(
	const char *directory, const char *rank, const struct pm_record_program *program);

/* By any thread. What does not get into the file is told of once. */
void pm_profile_file_put(const struct pm_record *record);

/* Is there more than the program's record? */
bool pm_profile_file_has_any(void);

/* Writes what there is. */
void pm_profile_file_close(void);

void pm_profile_file_lock(void);
void pm_profile_file_unlock(void);

#endif
