/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_PAGE_H
#define PM_PAGE_H

/* Rows of a reply, as many as it holds: the client asks for the rest by the last row that it got.
 */
#include <stdbool.h>
#include <stddef.h>

#include "base/json.h"

/*
 * Adds a row to the list, and its bytes to *bytes, which is 0 at first. False: it does not fit, or
 * is NULL, and is released.
 */
bool pm_page_add(json_object *list, json_object *row, size_t *bytes);

#endif
