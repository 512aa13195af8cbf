/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_TOOL_JSON_H
#define PM_TOOL_JSON_H

/* Parts of the parsers of ndctl's and daxctl's lists. */
#include <stdbool.h>

#include "base/err.h"
#include "base/json.h"

/*
 * Calls `add` with the root, or not at all if the text is blank. -EBADMSG: it is not JSON, or
 * `add` returned false: "a JSON list of WHAT expected, it printed: '...'".
 */
int pm_tool_json(const char *text, size_t length, const char *what,
	bool (*add)(void *found, const json_object *root), void *found, struct pm_err *err);

/* Elements of an array; any other value counts as a list with that element. */
size_t pm_tool_json_length(const json_object *value);
const json_object *pm_tool_json_element(const json_object *value, size_t i);

/* Copies a string member; a missing one becomes "". False: it is too long, or not a string. */
bool pm_tool_json_copy(const json_object *object, const char *key, char *to, size_t size);

/* True if member `key` is the string `value`. */
bool pm_tool_json_is(const json_object *object, const char *key, const char *value);

/* A NUMA node, -1 if it is missing. False: it is not such a number. */
bool pm_tool_json_node(const json_object *object, const char *key, int *ret);

#endif
