/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/node_features.h"

#include <string.h>

#include "site/modes.h"

static bool has_word(const char *list, const char *separators, const char *word)
{
	size_t length = strlen(word);

	for (const char *at = list; at && *at; at += strspn(at, separators)) {
		size_t n = strcspn(at, separators);

		if (n == length && !strncmp(at, word, length))
			return true;
		at += n;
	}
	return false;
}

bool pm_features_have(const char *list, const char *word)
{
	return has_word(list, ",", word);
}

const char *pm_node_feature(const node_info_t *node)
{
	pm_mode_foreach(row)
		if (pm_features_have(node->features_act, row->feature))
			return row->feature;
	return NULL;
}

bool pm_feature_is(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

bool pm_node_can_be(const node_info_t *node, const char *feature)
{
	return pm_features_have(node->features, feature);
}

bool pm_node_has_modes(const node_info_t *node)
{
	pm_mode_foreach(row)
		if (pm_node_can_be(node, row->feature))
			return true;
	return false;
}

const char *pm_job_feature(const slurm_job_info_t *job)
{
	pm_mode_foreach(row)
		if (has_word(job->features, PM_CONSTRAINT_OPERATORS, row->feature))
			return row->feature;
	return NULL;
}
