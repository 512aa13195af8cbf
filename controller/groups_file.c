/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "controller/groups_file.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/asprintf.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/strv.h"
#include "site/config.h"

#define HEAD	  "slurm-pmem-groups 1\n"
#define MAX_BYTES (4 * 1024 * 1024)

/* --- the groups that pmem.conf names --- */

/* Appends the groups "@name" of a comma list to a list of words with commas. False: no memory. */
static bool add_groups(const char *list, char **groups)
{
	cleanup_with(pm_strv_cleanup) char **names = pm_strv_split(list, ",");

	for (size_t i = 0; names && names[i]; i++) {
		char *longer;

		if (names[i][0] != '@')
			continue;
		longer = pm_asprintf("%s,%s", *groups ? *groups : "", names[i] + 1);
		if (!longer)
			return false;
		free(*groups);
		*groups = longer;
	}
	return names != NULL;
}

/* Those of the condition User= of a line. */
static bool add_groups_of_scope(const char *scope, char **groups)
{
	static const char key[] = "User=";
	cleanup_with(pm_strv_cleanup) char **words = pm_strv_split(scope, " ");

	for (size_t i = 0; words && words[i]; i++)
		if (!strncmp(words[i], key, strlen(key)) &&
			!add_groups(words[i] + strlen(key), groups))
			return false;
	return words != NULL;
}

/* NULL: no memory. */
static char **groups_of(const struct pm_config *config)
{
	cleanup_free char *groups = NULL;
	bool good = add_groups(config->reboot_users, &groups);

	for (size_t i = 0; good && i < config->for_jobs.count; i++) {
		const struct pm_job_pair *pair = &config->for_jobs.list[i];

		good = add_groups_of_scope(pair->scope, &groups);
		if (good && pair->key == PM_KEY_REBOOT_USERS)
			good = add_groups(pair->text, &groups);
	}
	return good ? pm_strv_split(groups ? groups : "", ",") : NULL;
}

/* --- their users --- */

static void put_primary(FILE *out, gid_t gid)
{
	const struct passwd *user;

	setpwent();
	while ((user = getpwent()))
		if (user->pw_gid == gid)
			fprintf(out, " %s", user->pw_name);
	endpwent();
}

/* False: the directory service failed. */
static bool put_users(FILE *out, const char *name)
{
	const struct group *group;

	errno = 0;
	group = getgrnam(name);
	if (!group)
		return !errno || errno == ENOENT;
	for (size_t i = 0; group->gr_mem[i]; i++)
		fprintf(out, " %s", group->gr_mem[i]);
	put_primary(out, group->gr_gid);
	return true;
}

char *pm_groups_text(const char *const *names)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);
	bool good = out != NULL;

	if (!out)
		return NULL;
	fputs(HEAD, out);
	for (size_t i = 0; good && names[i]; i++) {
		fputs(names[i], out);
		good = put_users(out, names[i]);
		fputc('\n', out);
	}
	if (!fclose(out) && good)
		return text;
	free(text);
	return NULL;
}

/* --- the child --- */

static int write_file(const char *config_path, const char *run_dir, struct pm_err *err)
{
	cleanup_with(pm_config_done) struct pm_config config = {0};
	cleanup_with(pm_strv_cleanup) char **names = NULL;
	cleanup_free char *text = NULL, *path = pm_asprintf("%s/groups", run_dir);
	int rc = pm_config_load(config_path, &config, err);

	if (rc)
		return rc;
	names = groups_of(&config);
	if (!names || !path)
		return pm_err_nomem(err);
	text = pm_groups_text((const char *const *)names);
	if (!text)
		return pm_err_set(err, -EIO,
			"look up the groups of pmem.conf: the directory service failed; those of "
			"before stay");
	return pm_file_write(path, 0644, text, strlen(text), err);
}

struct place {
	const char *config_path, *run_dir;
};

static void write_or_say(const void *context)
{
	const struct place *place = context;
	struct pm_err err;

	if (write_file(place->config_path, place->run_dir, &err))
		fprintf(stderr, "%s\n", err.text);
}

void pm_groups_turn(struct pm_child *child, const char *config_path, const char *run_dir)
{
	const struct place place = {config_path, run_dir};

	if (pm_child_turn(child, write_or_say, &place))
		fprintf(stderr, "the groups of pmem.conf: no answer of the directory service in 60 "
				"s; those of before stay\n");
}

/* --- reading --- */

static bool is_whole(const char *text)
{
	return !strncmp(text, HEAD, strlen(HEAD)) && text[strlen(text) - 1] == '\n';
}

char *pm_groups_load(const char *run_dir)
{
	cleanup_free char *path = pm_asprintf("%s/groups", run_dir);
	struct pm_err err = {0};
	char *text = NULL;

	if (!path || pm_file_read(AT_FDCWD, path, MAX_BYTES, &text, NULL, &err))
		return NULL;
	if (is_whole(text))
		return text;
	free(text);
	return NULL;
}

/* A whole word of a line's text: spaces stand in front of users, and behind them or a line's end.
 */
bool pm_groups_have(const char *text, const char *group, const char *user)
{
	cleanup_free char *head = pm_asprintf("\n%s ", group), *word = pm_asprintf(" %s", user);
	const char *line = text && head && word ? strstr(text, head) : NULL, *end, *at;
	size_t length = word ? strlen(word) : 0;

	if (!line || !*user)
		return false;
	line += strlen(head) - 1;
	end = line + strcspn(line, "\n");
	for (at = strstr(line, word); at && at < end; at = strstr(at + 1, word))
		if (at[length] == ' ' || at[length] == '\n' || !at[length])
			return true;
	return false;
}
