/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_STORE_H
#define PM_STORE_H

/*
 * The project's small files: each is one JSON object with its version. A struct pm_store describes
 * a kind of file: its fields, and the users who may have written it. Reading and replacing are the
 * same for all.
 *
 * Only one process at a time may replace a file: writers hold a lock (base/lock.h), or there is
 * only one writer. Readers need no lock: they see the old file or the new one.
 */
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/fields.h"

/* Limit of most files: a thousand entries. */
#define PM_STORE_BYTES (256 * 1024)

struct pm_store {
	const char *what;	  /* "a journal": for the message that the file is not one */
	unsigned version, oldest; /* the one written, and the oldest one read; 0: the same */
	mode_t mode;		  /* exact, whatever the umask */
	size_t max_bytes;	  /* a longer file is neither read nor written */
	bool starts_empty;	  /* a missing file is the value of zeros, not -ENOENT */
	bool is_ours;		  /* read by pm_file_read_ours() */

	/* The value: its size in bytes, its fields without the version, and a check that the fields
	 * fit one another; NULL: no check. */
	size_t size;
	const struct pm_field *fields;
	bool (*fits)(const void *value);
};

/*
 * Reads a file, relative to the directory `dir_fd`, into *ret, which is untouched on failure.
 * Release with pm_fields_done(). -EPROTONOSUPPORT: of a later version, which a newer slurm-pmem
 * wrote. -EBADMSG: truncated, of an earlier version than `oldest`, or with wrong fields. The file
 * is kept, and the sentence has the cure. -EFBIG: longer than allowed. -EPERM, -ELOOP: see
 * pm_file_read_ours(). -ENOMEM. Else of open(2), read(2).
 */
int pm_store_read_at(
	const struct pm_store *store, int dir_fd, const char *path, void *ret, struct pm_err *err);
int pm_store_read(const struct pm_store *store, const char *path, void *ret, struct pm_err *err);

/*
 * Replaces a file as pm_file_write() does, and removes temporary files of earlier writers that were
 * killed. -EFBIG: longer than `max_bytes`, so that it could not be read again. On failure the old
 * file is as it was, unless only its directory could not be synced.
 */
int pm_store_write(
	const struct pm_store *store, const char *path, const void *from, struct pm_err *err);

/* Removes a file and temporary files of its writers. A missing file is fine. */
int pm_store_remove(const char *path, struct pm_err *err);

/* True if pm_store_read() answers -EPROTONOSUPPORT. */
bool pm_store_is_newer(const struct pm_store *store, const char *path);

/*
 * Renames a file that cannot be read and must not stay: "12.json" becomes "12.json.unreadable". One
 * that was set aside earlier becomes "12.json.unreadable.1", or of the first number that is free;
 * of more than PM_STORE_ASIDE_MAX the last is replaced. A missing file is fine.
 */
int pm_store_set_aside(const char *path, struct pm_err *err);
#define PM_STORE_ASIDE_MAX 99

/* As above by a second name for the file, link(2): it also stays where it is, to be replaced. */
int pm_store_keep_aside(const char *path, struct pm_err *err);

/* The text of the file; malloc'ed, NULL when out of memory. */
char *pm_store_format(const struct pm_store *store, const void *from);

#endif
