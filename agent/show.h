/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_AGENT_SHOW_H
#define PM_AGENT_SHOW_H

/*
 * What `pmctl show` knows of the node, as one JSON object; people's text is made from it, so both
 * say the same. What cannot be seen, without root or because a tool fails, is missing from its
 * list and named in "unseen".
 */
#include "agent/pmctl.h"
#include "base/json.h"

/* Each adds its members to the object. */
void pm_show_mode(const struct pm_agent *agent, json_object *root);
void pm_show_modules(const struct pm_agent *agent, json_object *root);
void pm_show_regions(const struct pm_agent *agent, json_object *root);

/* A sentence in the list "unseen", or in "blocks": what keeps the node from changing its mode. */
void pm_show_unseen(json_object *root, const char *what, const char *why);
__attribute__((format(printf, 2, 3))) void pm_show_block(json_object *root, const char *fmt, ...);

/* The object for people, on stdout. */
void pm_show_print(const json_object *root);

#endif
