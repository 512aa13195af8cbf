/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/page.h"

#include <string.h>

/* Bytes of a reply's objects: a credential is a third longer, and must fit a frame of 64 KiB. */
#define PAGE_BYTES 44000

static size_t bytes_of(json_object *row)
{
	return strlen(json_object_to_json_string_ext(row, JSON_C_TO_STRING_PLAIN)) + 1;
}

bool pm_page_add(json_object *list, json_object *row, size_t *bytes)
{
	*bytes += row ? bytes_of(row) : 0;
	if (!row || *bytes > PAGE_BYTES) {
		json_object_put(row);
		return false;
	}
	json_object_array_add(list, row);
	return true;
}
