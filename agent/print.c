/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/print.h"

#include <stdio.h>

#include "base/cleanup.h"

void pm_print_json(json_object *object)
{
	cleanup_free char *text = pm_json_format(object);

	if (text)
		fputs(text, stdout);
	json_object_put(object);
}
