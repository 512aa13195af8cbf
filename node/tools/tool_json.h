/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_TOOL_JSON_H
#define PM_TOOL_JSON_H

/* What the lists of ndctl and daxctl have in common. */
#include <stdbool.h>

#include "base/err.h"
#include "base/json.h"

/*
 * Calls `add` with the whole value, or not at all when nothing was printed. -EBADMSG: no JSON, or
 * `add` returned false: "a JSON list of WHAT expected of TOOL, it printed: '...'".
 */
int pm_tool_json(const char *text, size_t length, const char *what,
	bool (*add)(void *found, const json_object *root), void *found, struct pm_err *err);

/* Elements of an array; any other value counts as a list of itself. */
size_t pm_tool_json_length(const json_object *value);
const json_object *pm_tool_json_element(const json_object *value, size_t i);

/* Copies a string member; a missing one is "". False when it is too long, or no string. */
bool pm_tool_json_copy(const json_object *object, const char *key, char *to, size_t size);

/* Is `key` the string `value`? */
bool pm_tool_json_is(const json_object *object, const char *key, const char *value);

/* A NUMA node, -1 when missing. False when it is no such number. */
bool pm_tool_json_node(const json_object *object, const char *key, int *ret);

#endif
