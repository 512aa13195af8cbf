/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_JSON_H
#define PM_JSON_H

/* The few things that json-c leaves to its users: strict parsing and typed, optional members. */
#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Parses one value with only white space after it; NULL: the text has another form. */
json_object *pm_json_parse(const char *text, size_t length);

/* Reads a value into `into`; false: the value is not as expected. */
typedef bool pm_json_reader(const json_object *value, void *into);

/* Calls `read` for each entry of an array, in its order. False: the member is missing or not an
 * array, or an entry is not of `type` or `read` refuses it. */
bool pm_json_each(const json_object *object, const char *key, enum json_type type,
	pm_json_reader *read, void *into);

/* The member's text, which lives as long as `object`; NULL: missing or not a string. */
const char *pm_json_string(const json_object *object, const char *key);

/* Copies the member's text; false: it is missing, not a string, or does not fit. */
bool pm_json_copy(const json_object *object, const char *key, char *to, size_t size);
/* The same, and false for an empty text too. */
bool pm_json_copy_filled(const json_object *object, const char *key, char *to, size_t size);

/* -ENOENT: missing; -EINVAL: not an integer from 0 to INT64_MAX. */
int pm_json_u64(const json_object *object, const char *key, uint64_t *ret);

/* For what is shown: the member, or 0 and "" if it is missing or of another type. */
uint64_t pm_json_number(const json_object *object, const char *key);
const char *pm_json_text(const json_object *object, const char *key);

/* True if the member is this text. */
bool pm_json_is(const json_object *object, const char *key, const char *text);

/* Adds a string member; NULL adds nothing. */
void pm_json_add_string(json_object *object, const char *key, const char *text);
void pm_json_add_u64(json_object *object, const char *key, uint64_t value);
void pm_json_add_int(json_object *object, const char *key, int value);
void pm_json_add_bool(json_object *object, const char *key, bool value);

/* Add an empty object or array as a member, or append an empty object to an array. The result
 * belongs to the object or array. */
json_object *pm_json_add_object(json_object *object, const char *key);
json_object *pm_json_add_array(json_object *object, const char *key);
json_object *pm_json_append_object(json_object *array);

/* The value as text, indented, with a newline at its end; malloc'ed, NULL when out of memory. */
char *pm_json_format(json_object *object);

/* For cleanup_with(): json_object_put() on the variable. */
void pm_json_cleanup(json_object **object);

#endif
