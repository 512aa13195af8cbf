/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/substates.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "site/modes.h"

/* A change of Slurm's list of nodes leaves old names behind; more are not kept. */
#define NODES_MAX 100000

static const char *known_name(const char *substate)
{
	for (int i = PM_SUBSTATE_EMPTY; i <= PM_SUBSTATE_FLAT; i++)
		if (!strcmp(pm_substate_name((enum pm_substate)i), substate))
			return pm_substate_name((enum pm_substate)i);
	return NULL;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct pm_node_substate *)a)->node,
		((const struct pm_node_substate *)b)->node);
}

static struct pm_node_substate *find(const struct pm_substates *substates, const char *node)
{
	const struct pm_node_substate key = {.node = (char *)node};

	return substates->n ? bsearch(&key, substates->list, substates->n, sizeof(key), by_name)
			    : NULL;
}

/* Room for one more, in steps: a list of thousands of nodes grows within seconds. */
static int grow(struct pm_substates *substates)
{
	size_t room = substates->room ? 2 * substates->room : 64;
	struct pm_node_substate *list;

	if (substates->n < substates->room)
		return 0;
	list = substates->n < NODES_MAX ? reallocarray(substates->list, room, sizeof(*list)) : NULL;
	if (!list)
		return -ENOMEM;
	substates->list = list;
	substates->room = room;
	return 0;
}

static int add(struct pm_substates *substates, const char *node)
{
	char *copy = strdup(node);

	if (!copy || grow(substates)) {
		free(copy);
		return -ENOMEM;
	}
	substates->list[substates->n++] = (struct pm_node_substate){.node = copy};
	qsort(substates->list, substates->n, sizeof(*substates->list), by_name);
	return 0;
}

int pm_substates_set(struct pm_substates *substates, const char *node, const char *substate,
	uint64_t now_s, struct pm_err *err)
{
	const char *name = known_name(substate);
	struct pm_node_substate *entry;

	if (!name)
		return pm_err_set(err, -EINVAL, "'%.40s' is not a sub-state", substate);
	if (!find(substates, node) && add(substates, node))
		return pm_err_nomem(err);
	entry = find(substates, node);
	entry->substate = name;
	entry->told_s = now_s;
	return 0;
}

const char *pm_substates_of(const struct pm_substates *substates, const char *node, uint64_t boot_s)
{
	const struct pm_node_substate *entry = find(substates, node);

	return entry && entry->told_s >= boot_s ? entry->substate : NULL;
}

void pm_substates_done(struct pm_substates *substates)
{
	for (size_t i = 0; i < substates->n; i++)
		free(substates->list[i].node);
	free(substates->list);
	*substates = (struct pm_substates){0};
}
