/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_RUNTIME_PROFILE_FILE_H
#define PM_RUNTIME_PROFILE_FILE_H

/*
 * The file of a profile, and its buffer. The file is created when the buffer is full for the first
 * time, or at the end. It is opened for each write and closed again: a program may close all
 * descriptors, as daemons do, and then a kept number could be another file of the program.
 */
#include <stdbool.h>
#include <stddef.h>

#include "runtime/profile/profile_format.h"

/*
 * Sets the path, a file of this process in `directory`. The directory is made if it is missing; a
 * relative one is resolved now, since the working directory may change. `program` becomes the first
 * record, at most 8 KiB. False, after a line on standard error: no such path.
 */
bool pm_profile_file_prepare(
	const char *directory, const char *rank, const struct pm_record_program *program);

/* Appends a record. Any thread; keeps errno. The first failure to write is reported once. */
void pm_profile_file_append(const struct pm_record *record);

/* True: there are records behind the program's. */
bool pm_profile_file_has_records(void);

/* Writes the buffer; later records are dropped. */
void pm_profile_file_close(void);

/* For fork(2): nothing is written in between. */
void pm_profile_file_lock(void);
void pm_profile_file_unlock(void);

#endif
