/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>

#include "agent/pmctl.h"
#include "agent/print.h"
#include "base/cleanup.h"
#include "node/see/survey.h"
#include "node/state/state.h"

static json_object *to_json(const struct pm_pins *pins)
{
	json_object *list = json_object_new_array();

	for (size_t i = 0; i < pins->n; i++) {
		json_object *one = pm_json_append_object(list);

		pm_json_add_string(one, "uuid", pins->list[i].uuid);
		pm_json_add_string(one, "dev", pins->list[i].dev);
		pm_json_add_string(one, "name", pins->list[i].name);
		pm_json_add_string(one, "time", pins->list[i].time);
	}
	return list;
}

static int list(const struct pm_agent *agent)
{
	cleanup_with(pm_pins_done) struct pm_pins pins = {0};
	struct pm_err err;

	if (pm_state_read_pins(&agent->op.config, &pins, &err))
		return pm_fail(agent, &err);
	if (agent->given & PM_OPT_JSON)
		pm_print_json(to_json(&pins));
	else
		for (size_t i = 0; i < pins.n; i++)
			printf("%s  %s  %s%s%s\n", pins.list[i].uuid, pins.list[i].time,
				pins.list[i].dev, *pins.list[i].name ? "  " : "",
				pins.list[i].name);
	return PM_EXIT_DONE;
}

/* A pin cannot hold off the firmware, which applies a goal at any reset. */
static int check_no_goal(const struct pm_config *config, struct pm_err *err)
{
	cleanup_with(pm_journal_done) struct pm_journal journal = {0};
	bool is_open = false;
	int rc = pm_state_read_journal(config, &journal, err);

	if (!rc)
		rc = pm_state_goal_is_open(config, &journal, &is_open, err);
	if (rc || !is_open)
		return rc;
	return pm_err_set(err, -EBUSY,
		"goal %s is staged, and the next reset takes all namespaces; withdraw it first "
		"with "
		"'pmctl set %s'",
		pm_mode_name(journal.mode), pm_mode_name(journal.from));
}

static int pin(const struct pm_agent *agent, const char *name, struct pm_err *err)
{
	cleanup_with(pm_survey_done) struct pm_survey survey = {0};
	const struct pm_inventory_ns *ns;
	const struct pm_inventory_region *region;
	int rc = check_no_goal(&agent->op.config, err);

	if (!rc)
		rc = pm_survey(&agent->op.config, &survey, err);
	if (rc)
		return rc;
	ns = pm_inventory_find(&survey.inventory, name, &region);
	if (!ns)
		return pm_err_set(err, -ENOENT,
			"no namespace, or several, called '%.100s'; 'ndctl list -N' shows what "
			"there is",
			name);
	rc = pm_pins_add(&survey.pins, &ns->nd, err);
	if (rc == -EEXIST)
		return 0;
	if (!rc)
		rc = pm_state_write_pins(&agent->op.config, &survey.pins, err);
	if (!rc)
		pm_report(&agent->op, "%s of %s is pinned", ns->nd.dev, region->nd.dev);
	return rc;
}

int pm_verb_pin(struct pm_agent *agent)
{
	cleanup_close int lock_fd = -1;
	struct pm_err err;

	if (agent->given & PM_OPT_LIST)
		return list(agent);
	if (!agent->n_words) {
		fprintf(stderr, "usage: pmctl pin [OPTION]... NAME|--list\n");
		return PM_EXIT_USAGE;
	}
	if (pm_state_lock(&agent->op, &lock_fd, &err) || pin(agent, agent->words[0], &err))
		return pm_fail(agent, &err);
	return PM_EXIT_DONE;
}

static int unpin(const struct pm_agent *agent, const char *name, struct pm_err *err)
{
	cleanup_with(pm_pins_done) struct pm_pins pins = {0};
	int rc = pm_state_read_pins(&agent->op.config, &pins, err);

	if (!rc)
		rc = pm_pins_remove(&pins, name, err);
	if (!rc)
		rc = pm_state_write_pins(&agent->op.config, &pins, err);
	if (!rc)
		pm_report(&agent->op, "%s is not pinned any more", name);
	return rc;
}

int pm_verb_unpin(struct pm_agent *agent)
{
	cleanup_close int lock_fd = -1;
	struct pm_err err;

	if (pm_state_lock(&agent->op, &lock_fd, &err) || unpin(agent, agent->words[0], &err))
		return pm_fail(agent, &err);
	return PM_EXIT_DONE;
}
