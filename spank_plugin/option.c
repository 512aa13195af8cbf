/* SPDX-License-Identifier: Apache-2.0 */
#include "spank_plugin/option.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/asprintf.h"
#include "base/cleanup.h"
#include "base/suggest.h"
#include "base/units.h"
#include "site/rank_model.h"
#include "spank_plugin/refuse.h"

#define CARRIER	      "SLURM_SPANK__SLURM_SPANK_OPTION_pmem_"
#define MAX_NAME      24
#define MAX_SIZE_TEXT 20       /* it becomes an argument of pmctl */
#define PROLOG	      "SPANK_" /* Slurm's prefix of variables of spank_job_control_setenv() */

static const struct pm_option_info options[PM_OPTION_COUNT] = {
#define ROW(NAME, word, argument, help, ...)                                                       \
	[PM_OPTION_##NAME] = {                                                                     \
		.name = "pm-" #word,                                                               \
		.twin = "PM_" #NAME,                                                               \
		.arginfo = argument,                                                               \
		.usage = "[pm] " help,                                                             \
	},
#define PM_JOB_OPTION  ROW
#define PM_RANK_OPTION ROW
#include "plan/options.def"
};

static struct state {
	char *given;	/* value for this component */
	char *at_start; /* the carrier's value at the process's start, for all components */
	unsigned calls; /* calls of the callback in this component */
} states[PM_OPTION_COUNT];

static unsigned component;

const struct pm_option_info *pm_option_info(enum pm_option option)
{
	return &options[option];
}

/* Slurm builds the name so: other characters than letters and digits become '_'. */
const char *pm_option_carrier(enum pm_option option)
{
	static char names[PM_OPTION_COUNT][sizeof(CARRIER) + MAX_NAME];
	char *name = names[option];

	if (*name)
		return name;
	snprintf(name, sizeof(names[option]), CARRIER "%s", options[option].name);
	for (char *at = name + strlen(CARRIER); *at; at++)
		if (!isalnum((unsigned char)*at))
			*at = '_';
	return name;
}

bool pm_option_is_no_mode(const char *value)
{
	return value && (!strcmp(value, PM_NO_MODE) || !strcmp(value, PM_AUTO_MODE));
}

static int check_mode(const char *source, const char *name, struct pm_err *err)
{
	static const char *const modes[] = {
#define PM_MODE_ROW(NAME, name_, ...) name_,
#include "site/modes.def"
		PM_NO_MODE,
		PM_AUTO_MODE,
		NULL,
	};
	const struct pm_mode_info *of_feature = pm_mode_by_feature(name);
	const char *meant = of_feature ? of_feature->name : pm_suggest_word(name, modes);
	cleanup_free char *names = NULL;

	if (pm_mode_by_name(name) || pm_option_is_no_mode(name))
		return 0;
	names = pm_mode_names();
	return pm_err_set(err, -EINVAL, "%s: unknown mode '%.64s', %s%s%s%s", source, name,
		meant ? "did you mean " : "", meant ? meant : "",
		meant ? "? Valid modes are " : "valid modes are ",
		names ? names : "(out of memory)");
}

static int check_size(const char *source, const char *text, struct pm_err *err)
{
	char example[PM_SIZE_TEXT];
	uint64_t bytes = 0;

	if (strlen(text) <= MAX_SIZE_TEXT && !pm_parse_size(text, &bytes) && bytes)
		return 0;
	return pm_err_set(err, -EINVAL,
		"%s: '%.64s' is not a size; write a whole number and K, M, G or T, as %s", source,
		text, pm_suggest_size(text, example) ? example : "100G");
}

static int check_namespace(const char *source, const char *text, struct pm_err *err)
{
	if (!strcmp(text, "fsdax") || !strcmp(text, "devdax"))
		return 0;
	return pm_err_set(err, -EINVAL, "%s: unknown kind '%.64s', valid kinds are fsdax, devdax",
		source, text);
}

/* Only the node knows whether it has this runtime. */
static int check_runtime(const char *source, const char *text, struct pm_err *err)
{
	return *text ? 0 : pm_err_set(err, -EINVAL, "%s: write a runtime's name, or none", source);
}

static int check_path(const char *source, const char *text, struct pm_err *err)
{
	return *text ? 0 : pm_err_set(err, -EINVAL, "%s: write a path", source);
}

/* Only the node knows whether it has the file. */
static int check_site_profile(const char *source, const char *text, struct pm_err *err)
{
	if (pm_site_profile_is_file(text) || pm_model_is_class(text))
		return 0;
	return pm_err_set(err, -EINVAL,
		"%s: '%.64s' is not the name of a class; write a name, a file with a '/' in it, or "
		"none",
		source, text);
}

static bool is_word(enum pm_option option)
{
	return option >= PM_OPTION_PLAN && option < PM_OPTION_PLAN + PM_PLAN_WORDS;
}

int pm_option_check(
	enum pm_option option, const char *source, const char *value, struct pm_err *err)
{
	static int (*const checks[PM_OPTION_COUNT])(const char *, const char *, struct pm_err *) = {
		[PM_OPTION_MODE] = check_mode,
		[PM_OPTION_SIZE] = check_size,
		[PM_OPTION_NAMESPACE] = check_namespace,
		[PM_OPTION_RUNTIME] = check_runtime,
		[PM_OPTION_PROFILE] = check_path,
		[PM_OPTION_ADVICE] = check_path,
		[PM_OPTION_SITE_PROFILE] = check_site_profile,
	};

	if (is_word(option))
		return pm_plan_take((enum pm_plan_word)(option - PM_OPTION_PLAN), source,
			value ? value : "", &(struct pm_plan_request){0}, err);
	return checks[option] ? checks[option](source, value ? value : "", err) : 0;
}

/* In a later component the first call comes from the carrier, if that is set: see option.h. */
static bool comes_from_before(enum pm_option option, int remote)
{
	return !remote && component && !states[option].calls++ && getenv(pm_option_carrier(option));
}

static int remember(enum pm_option option, const char *value)
{
	char *copy = value ? strdup(value) : NULL;

	if (value && !copy)
		return -ENOMEM;
	free(states[option].given);
	states[option].given = copy;
	return 0;
}

static int take(int val, const char *value, int remote)
{
	enum pm_option option = (enum pm_option)val;
	struct pm_err err = {0};
	char source[40];

	if (comes_from_before(option, remote))
		return remember(option, states[option].at_start);
	snprintf(source, sizeof(source), "--%s", options[option].name);
	if (pm_option_check(option, source, value, &err) && !remote)
		pm_refuse(&err, PM_EXIT_OPTION);
	if (err.code)
		slurm_error("pm: %s", err.text);
	return err.code ? err.code : remember(option, value ? value : "");
}

static struct spank_option spank_form(enum pm_option option, char *usage)
{
	return (struct spank_option){
		.name = (char *)options[option].name,
		.arginfo = (char *)options[option].arginfo,
		.usage = usage,
		.has_arg = options[option].arginfo != NULL,
		.val = (int)option,
		.cb = take,
	};
}

static int register_one(spank_t sp, enum pm_option option)
{
	cleanup_free char *names = option == PM_OPTION_MODE ? pm_mode_names() : strdup("");
	cleanup_free char *usage = names ? pm_asprintf("%s%s", options[option].usage, names) : NULL;
	struct spank_option form;

	if (!usage) {
		slurm_error("pm: register '--%s': out of memory", options[option].name);
		return -ENOMEM;
	}
	form = spank_form(option, usage);
	if (spank_option_register(sp, &form) != ESPANK_SUCCESS) {
		slurm_error("pm: register '--%s': refused by Slurm", options[option].name);
		return -EINVAL;
	}
	return 0;
}

int pm_option_register(spank_t sp)
{
	int rc = 0;

	for (enum pm_option option = 0; !rc && option < PM_OPTION_COUNT; option++) {
		const char *carried = getenv(pm_option_carrier(option));

		states[option].at_start = carried ? strdup(carried) : NULL;
		rc = register_one(sp, option);
	}
	return rc;
}

const char *pm_option_given(enum pm_option option)
{
	return states[option].given;
}

const struct pm_mode_info *pm_option_mode(void)
{
	return pm_mode_by_name(states[PM_OPTION_MODE].given);
}

const char *pm_option_twin(enum pm_option option)
{
	const char *value = getenv(options[option].twin);

	return value && *value ? value : NULL;
}

/* Slurm has set the carrier from an earlier component: sets it to this component's value. */
static void correct(spank_t sp, enum pm_option option)
{
	const char *word = pm_option_carrier(option) + strlen("SLURM_SPANK_");
	const char *given = states[option].given;

	if (given) {
		(void)setenv(word, given, 1);
		(void)spank_job_control_setenv(sp, word, given, 1);
	} else {
		(void)unsetenv(word);
		(void)spank_job_control_unsetenv(sp, word);
	}
}

void pm_option_end_component(spank_t sp)
{
	for (enum pm_option option = 0; option < PM_OPTION_COUNT; option++) {
		if (component)
			correct(sp, option);
		(void)remember(option, NULL);
		states[option].calls = 0;
	}
	component++;
}

const char *pm_option_of_job(spank_t sp, enum pm_option option)
{
	struct spank_option form = spank_form(option, "");
	char *value = NULL;

	if (spank_option_getopt(sp, &form, &value) != ESPANK_SUCCESS)
		return NULL;
	return value;
}

const struct pm_mode_info *pm_option_mode_of_job(spank_t sp)
{
	const char *given = pm_option_of_job(sp, PM_OPTION_MODE);
	const struct pm_mode_info *row = pm_mode_by_name(given);

	if (row || pm_option_is_no_mode(given))
		return row;
	return pm_mode_by_name(pm_option_twin_of_job(PM_OPTION_MODE));
}

bool pm_option_overrides_twin(void)
{
	return pm_option_is_no_mode(states[PM_OPTION_MODE].given);
}

const char *pm_option_twin_of_job(enum pm_option option)
{
	char name[40];

	snprintf(name, sizeof(name), PROLOG "%s", options[option].twin);
	return getenv(name);
}
