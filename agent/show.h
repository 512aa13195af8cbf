/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_AGENT_SHOW_H
#define PM_AGENT_SHOW_H

/*
 * The state of the node as `pmctl show` prints it: one JSON object, from which the text for people
 * is made. A part that cannot be seen, without root or because a tool fails, is missing from its
 * list and named in "unseen".
 */
#include "agent/pmctl.h"
#include "base/json.h"

/* Each adds its members to the object. */
void pm_show_mode(const struct pm_agent *agent, json_object *root);
void pm_show_modules(const struct pm_agent *agent, json_object *root);
void pm_show_site_profile(const struct pm_agent *agent, json_object *root);
void pm_show_regions(const struct pm_agent *agent, json_object *root);

/* Add a sentence to the list "unseen", or to "blocks": a reason why the mode cannot be changed. */
void pm_show_unseen(json_object *root, const char *what, const char *why);
__attribute__((format(printf, 2, 3))) void pm_show_block(json_object *root, const char *fmt, ...);

/* The object for people, on stdout. */
void pm_show_print(const json_object *root);

#endif
