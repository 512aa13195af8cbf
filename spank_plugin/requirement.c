/* SPDX-License-Identifier: Apache-2.0 */
#include "spank_plugin/requirement.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "site/features.h"
#include "spank_plugin/option.h"

#define ENV_PARTITION "SLURM_JOB_PARTITION"

/* The platform modes that satisfy the constraint, a bit each. */
static unsigned platforms_of(const struct pm_features *features)
{
	unsigned platforms = 0;

	pm_mode_foreach(row)
		if (pm_features_allow(features, row->mode))
			platforms |= 1u << row->platform;
	return platforms;
}

/*
 * Compares --pm-mode with the constraint, which may be another than at submission: Slurm puts
 * --prefer in its place, and an update may change it. Leaves the option's platform alone in
 * *platforms.
 */
static int check_option(const struct pm_mode_info *option, const char *constraints,
	const struct pm_features *features, unsigned *platforms, struct pm_err *err)
{
	if (!*platforms)
		return pm_err_set(err, -EPERM,
			"no mode satisfies the job's constraint '%.200s', submit it again",
			constraints);
	if (!option)
		return 0;
	if (!pm_features_allow(features, option->mode))
		return pm_err_set(err, -EPERM,
			"job was submitted with --pm-mode=%s, but its constraint '%.200s' asks for "
			"another mode: submit it again",
			option->name, constraints);
	*platforms = 1u << option->platform;
	return 0;
}

/*
 * The first of option, variable and default that belongs to the platform mode, else its first mode.
 */
static const struct pm_mode_info *chosen_mode(
	spank_t sp, const struct pm_config *config, enum pm_platform platform)
{
	const struct pm_mode_info *rows[] = {
		pm_option_mode_of_job(sp),
		pm_mode_info(pm_config_default_mode(config, getenv(ENV_PARTITION))),
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i] && rows[i]->platform == platform)
			return rows[i];
	return pm_mode_of_platform(platform);
}

static const struct pm_mode_info *mode_of(
	spank_t sp, const struct pm_config *config, enum pm_platform platform, unsigned platforms)
{
	const struct pm_mode_info *fallback =
		pm_mode_info(pm_config_default_mode(config, getenv(ENV_PARTITION)));

	if (platforms == 1u << platform)
		return chosen_mode(sp, config, platform);
	return fallback && fallback->platform == platform ? fallback
							  : pm_mode_of_platform(platform);
}

static bool has_own_pmem(const struct pm_mode_info *row)
{
	return row->substate == PM_SUBSTATE_FSDAX;
}

/*
 * The option, else its twin, else NULL. A wrong value counts as none: a client without the plugin
 * has not checked it.
 */
static const char *value_of(spank_t sp, enum pm_option option)
{
	const char *value = pm_option_of_job(sp, option);

	if (!value)
		value = pm_option_twin_of_job(option);
	return value && !pm_option_check(option, "", value, NULL) ? value : NULL;
}

static int list_modes(spank_t sp, const struct pm_config *config, unsigned platforms,
	struct pm_requirement *ret, struct pm_err *err)
{
	char *modes = NULL;
	size_t size;
	bool own_pmem = true;
	FILE *out = open_memstream(&modes, &size);

	if (!out)
		return pm_err_nomem(err);
	for (enum pm_platform p = PM_PLATFORM_MEMORY; p <= PM_PLATFORM_MIXED; p++) {
		const struct pm_mode_info *row = mode_of(sp, config, p, platforms);

		if (!(platforms & (1u << p)) || !row)
			continue;
		fprintf(out, "%s%s", ftell(out) > 0 ? "," : "", row->name);
		own_pmem = own_pmem && has_own_pmem(row);
	}
	if (fclose(out)) {
		free(modes);
		return pm_err_nomem(err);
	}
	*ret = (struct pm_requirement){.modes = modes};
	if (own_pmem) {
		ret->size = value_of(sp, PM_OPTION_SIZE);
		ret->kind = value_of(sp, PM_OPTION_NAMESPACE);
	}
	return 0;
}

int pm_requirement_read(spank_t sp, const char *constraints, const struct pm_config *config,
	struct pm_requirement *ret, struct pm_err *err)
{
	const struct pm_mode_info *option = pm_mode_by_name(pm_option_of_job(sp, PM_OPTION_MODE));
	struct pm_features features;
	unsigned platforms;
	int rc = pm_features_read(constraints, &features, err);

	if (rc)
		return rc;
	if (!features.mentioned) {
		*ret = (struct pm_requirement){.recorded = pm_option_mode_of_job(sp)};
		return 0;
	}
	platforms = platforms_of(&features);
	rc = check_option(option, constraints, &features, &platforms, err);
	return rc ? rc : list_modes(sp, config, platforms, ret, err);
}

void pm_requirement_done(struct pm_requirement *requirement)
{
	free(requirement->modes);
	*requirement = (struct pm_requirement){0};
}
