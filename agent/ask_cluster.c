/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/ask_cluster.h"

#include "agent/ask_controller.h"
#include "base/cleanup.h"

#define TIMEOUT_MS 10000

/* Moves the rows to the end of the list. Returns the last one's member `key`; NULL: none. */
static const char *move(json_object *rows, json_object *list, const char *key)
{
	size_t n = json_object_array_length(rows);

	for (size_t i = 0; i < n; i++)
		json_object_array_add(list, json_object_get(json_object_array_get_idx(rows, i)));
	return n ? pm_json_string(json_object_array_get_idx(rows, n - 1), key) : NULL;
}

int pm_ask_pages(const struct pm_config *config, struct pm_message request, const char *key,
	json_object *list, struct pm_err *err)
{
	do {
		cleanup_with(pm_message_done) struct pm_message reply = {0};
		int rc = pm_ask_controller(config, TIMEOUT_MS, &request, &reply, err);

		if (rc)
			return rc;
		request.after = (char *)move(reply.list, list, key);
	} while (request.after);
	return 0;
}

int pm_ask_nodes(const struct pm_config *config, json_object *list, struct pm_err *err)
{
	const struct pm_message request = {.type = PM_MESSAGE_NODES};

	return pm_ask_pages(config, request, "node", list, err);
}

int pm_ask_modes(const struct pm_config *config, json_object *list, struct pm_err *err)
{
	cleanup_with(pm_message_done) struct pm_message reply = {0};
	struct pm_message request = {.type = PM_MESSAGE_CLUSTER};
	int rc = pm_ask_controller(config, TIMEOUT_MS, &request, &reply, err);

	if (!rc)
		(void)move(reply.list, list, "feature");
	return rc;
}
