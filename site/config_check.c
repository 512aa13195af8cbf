/* SPDX-License-Identifier: Apache-2.0 */
#include "site/config_check.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/asprintf.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/list.h"
#include "base/secure.h"
#include "base/strv.h"
#include "site/config_file.h"

/* A pair that was read, with the nodes or jobs that it is for. */
struct place {
	char *scope, *key;
	unsigned line;
};

struct check {
	const char *path;
	pm_config_found *found;
	void *context;
	struct place *places;
	size_t n;
};

__attribute__((format(printf, 3, 4))) static void finding(
	const struct check *check, bool is_error, const char *format, ...)
{
	cleanup_free char *text = NULL;
	va_list args;

	va_start(args, format);
	text = pm_vasprintf(format, args);
	va_end(args);
	check->found(check->context, is_error, text ? text : "out of memory");
}

/* --- lines --- */

static void wrong_line(void *context, const struct pm_err *err)
{
	finding(context, /* is_error= */ true, "%s", err->text);
}

/* --- a key twice --- */

static const struct place *find(const struct check *check, const char *scope, const char *key)
{
	for (size_t i = 0; i < check->n; i++)
		if (!strcmp(check->places[i].scope, scope) &&
			!strcasecmp(check->places[i].key, key))
			return &check->places[i];
	return NULL;
}

static int remember(struct check *check, const char *scope, const struct pm_config_pair *pair)
{
	struct place *next = pm_list_next(&check->places, check->n, sizeof(*next));

	if (!next)
		return -ENOMEM;
	*next = (struct place){strdup(scope), strdup(pair->key), pair->line};
	check->n++;
	return next->scope && next->key ? 0 : -ENOMEM;
}

static int look_for_twice(void *context, const struct pm_config_pair *pair, struct pm_err *err)
{
	struct check *check = context;
	cleanup_free char *scope = pair->scope	 ? pm_asprintf("jobs with %s", pair->scope)
				   : pair->nodes ? pm_asprintf("nodes %s", pair->nodes)
						 : strdup("all");
	const struct place *before = scope ? find(check, scope, pair->key) : NULL;

	if (!scope)
		return pm_err_nomem(err);
	if (before)
		finding(check, /* is_error= */ false,
			"%s:%u: %s for %s is on line %u, too: this one counts", check->path,
			pair->line, pair->key, scope, before->line);
	else if (remember(check, scope, pair))
		return pm_err_nomem(err);
	return 0;
}

static void ignore(void *context, const struct pm_err *err)
{
	(void)context;
	(void)err;
}

/* --- contradictions --- */

static const char *value_of(
	const struct pm_config *config, const char *partition, enum pm_key key, const char **ret_at)
{
	const struct pm_job_pair *pair =
		partition ? pm_job_pairs_last(&config->for_jobs, partition, (int)key) : NULL;

	*ret_at = pair ? pair->origin : config->origin[key];
	return pair ? pair->text : config->text[key];
}

/* `partition` NULL: of all jobs. */
static void check_default(
	const struct check *check, const struct pm_config *config, const char *partition)
{
	const char *at, *modes_at;
	const char *mode = value_of(config, partition, PM_KEY_DEFAULT_MODE, &at);
	const char *modes = value_of(config, partition, PM_KEY_MODES, &modes_at);
	cleanup_with(pm_strv_cleanup) char **names = pm_strv_split(modes, ",");

	if (!strcasecmp(mode, "none") || !strcasecmp(mode, "auto") || !names ||
		pm_strv_contains(names, mode))
		return;
	finding(check, /* is_error= */ true,
		"%s: DefaultMode=%s is not one of Modes=%s (%s)%s%s: each job without a mode would "
		"be refused",
		at, mode, modes, modes_at, partition ? ", in partition " : "",
		partition ? partition : "");
}

static void check_user(const struct check *check, const char *at, const char *name)
{
	if (*name == '@' && !getgrnam(name + 1))
		finding(check, /* is_error= */ false,
			"%s: RebootUsers=%s: this machine has no such group", at, name);
	else if (*name != '@' && strcmp(name, "*") != 0 && strcmp(name, "none") != 0 &&
		 !getpwnam(name))
		finding(check, /* is_error= */ false,
			"%s: RebootUsers=%s: this machine has no such user", at, name);
}

static void check_users(const struct check *check, const char *at, const char *users)
{
	cleanup_with(pm_strv_cleanup) char **names = pm_strv_split(users, ",");

	for (size_t i = 0; names && names[i]; i++)
		check_user(check, at, names[i]);
}

static void check_policy(const struct check *check, const struct pm_config *config)
{
	const struct pm_job_pairs *pairs = &config->for_jobs;

	check_default(check, config, NULL);
	check_users(check, config->origin[PM_KEY_REBOOT_USERS], config->text[PM_KEY_REBOOT_USERS]);
	for (size_t i = 0; i < pairs->count; i++) {
		const struct pm_job_pair *pair = &pairs->list[i];
		cleanup_with(pm_strv_cleanup) char **names =
			pm_strv_split(pair->partitions ? pair->partitions : "", ",");

		if (pair->key == PM_KEY_REBOOT_USERS)
			check_users(check, pair->origin, pair->text);
		for (size_t k = 0; names && names[k]; k++)
			if (pm_job_pairs_first(pairs, i, names[k]))
				check_default(check, config, names[k]);
	}
}

/* --- the file --- */

/* A staged copy lies where others may write; root reads it only where they may not. */
static void check_place(const struct check *check)
{
	cleanup_free char *real = realpath(check->path, NULL);
	struct pm_err err;

	if (real && pm_secure_path(real, &err))
		finding(check, /* is_error= */ false, "root would not read it where it is: %s",
			err.text);
}

static void free_places(struct check *check)
{
	for (size_t i = 0; i < check->n; i++) {
		free(check->places[i].scope);
		free(check->places[i].key);
	}
	free(check->places);
}

/* In a pass of its own: reading a text changes it. */
static void check_repeats(struct check *check, const char *node)
{
	cleanup_free char *text = NULL;
	struct pm_err err;

	if (!pm_file_read(AT_FDCWD, check->path, PM_CONFIG_MAX_BYTES, &text, NULL, NULL))
		(void)pm_config_text_read(
			check->path, text, node, look_for_twice, check, ignore, &err);
	free_places(check);
}

int pm_config_check(const char *path, const char *node, pm_config_found *found, void *context,
	struct pm_config *ret, struct pm_err *err)
{
	struct check check = {.path = path, .found = found, .context = context};
	cleanup_free char *text = NULL;
	cleanup_free char *own = pm_config_own_node();
	int rc = pm_file_read(AT_FDCWD, path, PM_CONFIG_MAX_BYTES, &text, NULL, err);

	if (rc)
		return rc;
	node = node ? node : own;
	if (!node)
		return pm_err_nomem(err);
	rc = pm_config_load_text(path, text, node, wrong_line, &check, ret, err);
	if (rc)
		return rc;
	check_repeats(&check, node);
	check_policy(&check, ret);
	check_place(&check);
	return 0;
}
