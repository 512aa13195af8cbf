/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "lib/modes.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cleanup.h"

static const struct pm_mode_info modes[] = {
	{
		.mode = PM_MODE_MEMORY,
		.name = "memory",
		.feature = "pm_memory",
		.platform = "Memory Mode",
		.help = "persistent memory is main memory, DRAM is its cache",
		.memory_percent = 100,
	},
	{
		.mode = PM_MODE_APPDIRECT,
		.name = "appdirect",
		.feature = "pm_appdirect",
		.platform = "App Direct",
		.help = "DRAM is main memory, persistent memory is apart",
		.memory_percent = 0,
	},
};

#define N_MODES (sizeof(modes) / sizeof(modes[0]))

const struct pm_mode_info *pm_mode_next(const struct pm_mode_info *prev)
{
	const struct pm_mode_info *next = prev ? prev + 1 : modes;

	return next < modes + N_MODES ? next : NULL;
}

const struct pm_mode_info *pm_mode_info(enum pm_mode mode)
{
	pm_mode_foreach(row)
		if (row->mode == mode)
			return row;
	return NULL;
}

const struct pm_mode_info *pm_mode_by_name(const char *name)
{
	pm_mode_foreach(row)
		if (name && !strcmp(row->name, name))
			return row;
	return NULL;
}

const struct pm_mode_info *pm_mode_by_feature(const char *feature)
{
	pm_mode_foreach(row)
		if (feature && !strcmp(row->feature, feature))
			return row;
	return NULL;
}

const char *pm_mode_name(enum pm_mode mode)
{
	const struct pm_mode_info *row = pm_mode_info(mode);

	return row ? row->name : "unknown";
}

char *pm_mode_names(void)
{
	char *names = NULL;
	size_t size;
	FILE *stream = open_memstream(&names, &size);

	if (!stream)
		return NULL;
	pm_mode_foreach(row)
		fprintf(stream, "%s%s", row == modes ? "" : ", ", row->name);
	if (fclose(stream)) {
		free(names);
		return NULL;
	}
	return names;
}
