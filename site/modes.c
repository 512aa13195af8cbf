/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "site/modes.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

static const struct pm_mode_info modes[] = {
#define PM_MODE_ROW(name_, text_, feature_, platform_, substate_, help_)                           \
	{PM_MODE_##name_, text_, feature_, PM_PLATFORM_##platform_, PM_SUBSTATE_##substate_, help_},
#include "site/modes.def"
};

static const char *const platforms[] = {
	[PM_PLATFORM_UNKNOWN] = "unknown",
	[PM_PLATFORM_MEMORY] = "memory",
	[PM_PLATFORM_APPDIRECT] = "appdirect",
	[PM_PLATFORM_MIXED] = "mixed",
};

#define N_PLATFORMS (sizeof(platforms) / sizeof(platforms[0]))
#define N_MODES	    (sizeof(modes) / sizeof(modes[0]))

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

enum pm_mode pm_mode_of_feature(const char *feature)
{
	const struct pm_mode_info *row = pm_mode_by_feature(feature);

	return row ? row->mode : PM_MODE_UNKNOWN;
}

const char *pm_mode_name_of_feature(const char *feature)
{
	const struct pm_mode_info *row = pm_mode_by_feature(feature);

	return row ? row->name : "none";
}

const char *pm_mode_name(enum pm_mode mode)
{
	const struct pm_mode_info *row = pm_mode_info(mode);

	return row ? row->name : "unknown";
}

char *pm_mode_names_in(unsigned set)
{
	char *names = NULL;
	size_t size, n = 0;
	FILE *stream = open_memstream(&names, &size);

	if (!stream)
		return NULL;
	pm_mode_foreach(row)
		if (set & (1u << row->mode))
			fprintf(stream, "%s%s", n++ ? ", " : "", row->name);
	if (fclose(stream)) {
		free(names);
		return NULL;
	}
	return names;
}

char *pm_mode_names(void)
{
	return pm_mode_names_in(~0u);
}

enum pm_platform pm_mode_platform(enum pm_mode mode)
{
	const struct pm_mode_info *row = pm_mode_info(mode);

	return row ? row->platform : PM_PLATFORM_UNKNOWN;
}

const struct pm_mode_info *pm_mode_of_platform(enum pm_platform platform)
{
	pm_mode_foreach(row)
		if (row->platform == platform)
			return row;
	return NULL;
}

const char *pm_platform_name(enum pm_platform platform)
{
	return platforms[(unsigned)platform < N_PLATFORMS ? platform : 0];
}

enum pm_platform pm_platform_by_name(const char *name)
{
	for (unsigned i = 0; name && i < N_PLATFORMS; i++)
		if (!strcmp(platforms[i], name))
			return (enum pm_platform)i;
	return PM_PLATFORM_UNKNOWN;
}

bool pm_platform_has_volatile(enum pm_platform platform)
{
	return platform == PM_PLATFORM_MEMORY || platform == PM_PLATFORM_MIXED;
}

bool pm_platform_has_regions(enum pm_platform platform)
{
	return platform == PM_PLATFORM_APPDIRECT || platform == PM_PLATFORM_MIXED;
}

const char *pm_substate_name(enum pm_substate substate)
{
	static const char *const names[] = {
		[PM_SUBSTATE_EMPTY] = "empty",
		[PM_SUBSTATE_FSDAX] = "fsdax",
		[PM_SUBSTATE_DEVDAX] = "devdax",
		[PM_SUBSTATE_FLAT] = "flat",
	};

	return names[substate];
}
