/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_FIELDS_H
#define PM_FIELDS_H

/*
 * Converts a struct to a JSON object and back by one table, so that reading and writing cannot
 * disagree. The table has a row for each member of the object; a row of zeros ends it.
 */
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/json.h"

enum pm_field_kind {
	PM_FIELD_TEXT,	  /* char[size] */
	PM_FIELD_STRING,  /* char *, malloc'ed */
	PM_FIELD_U32,	  /* uint32_t */
	PM_FIELD_U64,	  /* uint64_t, 0 to INT64_MAX */
	PM_FIELD_NAME,	  /* an enum without negative values, by the names of its values */
	PM_FIELD_FLAG,	  /* bool: the member is `flag`, or missing */
	PM_FIELD_LIST,	  /* an array of structs of `size` bytes, each by the table `entry` */
	PM_FIELD_NUMBERS, /* an array of uint64_t, 0 to UINT64_MAX */
	PM_FIELD_OBJECT,  /* json_object *: an object, which the caller reads */
};

struct pm_field {
	const char *key;
	enum pm_field_kind kind;
	size_t offset, size;
	size_t n_offset; /* of an array's length, a size_t */
	const struct pm_field *entry;
	const char *flag;
	/* Of PM_FIELD_NAME, for the values first to last. GCC: an enum without negative values is
	 * compatible with unsigned. */
	const char *(*name)(unsigned);
	unsigned first, last;
	bool may_lack;	  /* a missing member is read as 0, "" or NULL */
	bool optional;	  /* the same, and 0 or "" is not written */
	bool filled;	  /* "" is refused */
	const char *with; /* an earlier row's key: an object with it must have this member, too */
	unsigned since;	  /* the first version of the file that has it */
};

/* The place of a member in its struct. ..._ENTRIES: of an array that pm_list_next() extends
 * (base/list.h); `size` is an entry's. */
#define PM_FIELD(struct_, member_)                                                                 \
	.offset = offsetof(struct_, member_), .size = sizeof(((struct_ *)0)->member_)
#define PM_FIELD_ENTRIES(struct_, list_, n_)                                                       \
	.offset = offsetof(struct_, list_), .n_offset = offsetof(struct_, n_),                     \
	.size = sizeof(*((struct_ *)0)->list_)

/*
 * Reads the members that a file of `version` has into a struct that is all zero. False: one is
 * missing, of another type, too long, out of range or has an unknown name. The members before it
 * stay in the struct, for pm_fields_done(). Members without a row are ignored. The sentence names
 * the member: "list[2]: 'size' is missing, or is not a whole number below 2^63".
 */
bool pm_fields_read(const struct pm_field *fields, unsigned version, const json_object *object,
	void *into, struct pm_err *err);

/* Adds all members, in the order of their rows. */
void pm_fields_format(const struct pm_field *fields, const void *from, json_object *object);

/* Frees texts, arrays and objects, and sets all members that have a row to zero. */
void pm_fields_done(const struct pm_field *fields, void *value);

#endif
