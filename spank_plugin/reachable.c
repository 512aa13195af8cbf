/* SPDX-License-Identifier: Apache-2.0 */
#include "spank_plugin/reachable.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/asprintf.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/lock.h"
#include "base/strv.h"
#include "site/features.h"
#include "spank_plugin/command.h"
#include "spank_plugin/node.h"

#define MAX_MARK_BYTES	  4096
#define MAX_COMMENT_BYTES 300
#define OUR_COMMENT	  "pm: "
#define REFUSED		  "Failed to set node feature(s)"

/* The answer of 'pmctl reachable': features, and why others are missing. */
struct answer {
	char **features; /* NULL at the end */
	char *why;
	bool all;
};

static void release_answer(struct answer *answer)
{
	pm_strv_free(answer->features);
	free(answer->why);
}

static bool names_all(char *const *features)
{
	pm_mode_foreach(row)
		if (!pm_strv_contains(features, row->feature))
			return false;
	return true;
}

static int ask_node(
	const struct pm_config *config, unsigned timeout_ms, struct answer *ret, struct pm_err *err)
{
	cleanup_with(pm_output_done) struct pm_output output = {0};
	const char *argv[] = {config->pmctl_path, "reachable", NULL}, *own_name = "pmctl: ";
	const char *why;
	int rc = pm_command_output(argv, timeout_ms, &output, err);

	if (rc)
		return rc;
	why = output.err + (strncmp(output.err, own_name, strlen(own_name)) ? 0 : strlen(own_name));
	ret->features = pm_strv_split(output.out, "\n");
	ret->why = pm_quote(why, strcspn(why, "\n"), MAX_COMMENT_BYTES);
	if (!ret->features || !ret->why)
		return pm_err_nomem(err);
	ret->all = names_all(ret->features);
	return 0;
}

/* The mark holds the features that were removed: slurmctld does not keep what slurmd reported. */
static char *mark_path(const struct pm_config *config)
{
	return pm_asprintf("%s/unreachable", config->run_dir);
}

static char *read_mark(const char *path)
{
	char *text = NULL;

	if (pm_file_read(AT_FDCWD, path, MAX_MARK_BYTES, &text, NULL, NULL))
		return NULL;
	return text;
}

static void print_name(FILE *out, const char *name)
{
	fprintf(out, "%s%s", ftell(out) > 0 ? "," : "", name);
}

/* Sorts a feature that slurmd reported, now or before it was removed. */
static void sort_in(const char *name, const struct answer *answer, FILE *available, FILE *missing)
{
	bool ours = pm_features_is_ours(name);

	if (!ours || pm_strv_contains(answer->features, name))
		print_name(available, name);
	else
		print_name(missing, name);
}

/*
 * Divides "rack1,pm_memory,pm_mixed" and the mark into features that are available now and those
 * that are not; both malloc'ed.
 */
static int divide(const char *known, const char *mark, const struct answer *answer,
	char **ret_available, char **ret_missing)
{
	cleanup_with(pm_strv_cleanup) char **now = pm_strv_split(known, ",");
	cleanup_with(pm_strv_cleanup) char **before = pm_strv_split(mark ? mark : "", ",");
	size_t size[2];
	FILE *available = open_memstream(ret_available, &size[0]);
	FILE *missing = open_memstream(ret_missing, &size[1]);
	bool failed;

	for (size_t i = 0; available && missing && now && now[i]; i++)
		sort_in(now[i], answer, available, missing);
	for (size_t i = 0; available && missing && before && before[i]; i++)
		if (!pm_strv_contains(now, before[i]))
			sort_in(before[i], answer, available, missing);
	failed = !available || fclose(available);
	failed |= !missing || fclose(missing);
	return failed || !now || !before ? -ENOMEM : 0;
}

/* True for the same names in any order. */
static bool same_set(const char *one, const char *other)
{
	cleanup_with(pm_strv_cleanup) char **a = pm_strv_split(one, ",");
	cleanup_with(pm_strv_cleanup) char **b = pm_strv_split(other, ",");

	if (pm_strv_length(a) != pm_strv_length(b))
		return false;
	for (size_t i = 0; a && a[i]; i++)
		if (!pm_strv_contains(b, a[i]))
			return false;
	return true;
}

static int set_mark(const char *path, const char *missing, struct pm_err *err)
{
	if (*missing)
		return pm_file_write(path, 0644, missing, strlen(missing), err);
	if (unlink(path) && errno != ENOENT)
		return pm_err_sys(err, -errno, "remove '%s'", path);
	return 0;
}

/* NULL: the comment stays, as it is right or another's. */
static const char *new_comment(const char *known, const char *wanted)
{
	bool ours = !*known || !strncmp(known, OUR_COMMENT, strlen(OUR_COMMENT));

	return ours && strcmp(known, wanted) ? wanted : NULL;
}

/*
 * True if slurmd took the node down because the helper refused (from Slurm 24.05 on, "...:
 * 'pm_memory'"). If the helper failed although 'pmctl reachable' reports the feature, the node
 * stays down.
 */
static bool was_refused(const struct pm_node_known *known, const struct answer *answer)
{
	bool refused = !strncmp(known->state, "DOWN", strlen("DOWN")) &&
		       !pm_node_is_drained(known) &&
		       !strncmp(known->reason, REFUSED, strlen(REFUSED));

	pm_mode_foreach(row)
		if (strstr(known->reason, row->feature) &&
			pm_strv_contains(answer->features, row->feature))
			refused = false;
	return refused;
}

/* An update of its own: Slurm drops an update as a whole if it refuses a part. */
static int take_back(const struct pm_config *config, unsigned timeout_ms, struct pm_err *err)
{
	const struct pm_node_update update = {
		.config = config, .state = "resume", .timeout_ms = timeout_ms};

	return pm_node_update(&update, err);
}

/*
 * The mark is set before features are removed and removed after they are back: a report that ends
 * between the two, or that slurmctld refuses, is repeated.
 */
static int update_node(const struct pm_node_update *update, const char *missing, const char *mark,
	struct pm_err *err)
{
	int rc = *missing ? set_mark(mark, missing, err) : 0;

	if (!rc && (update->available || update->comment))
		rc = pm_node_update(update, err);
	return !rc && !*missing ? set_mark(mark, missing, err) : rc;
}

static int tell(const struct pm_config *config, const struct answer *answer, const char *mark_file,
	unsigned timeout_ms, struct pm_err *err)
{
	cleanup_with(pm_node_known_done) struct pm_node_known known = {0};
	cleanup_free char *mark = read_mark(mark_file), *available = NULL, *missing = NULL;
	cleanup_free char *comment = NULL;
	struct pm_node_update update = {.config = config, .timeout_ms = timeout_ms};
	int rc = pm_node_ask(config, timeout_ms, &known, err);

	if (rc)
		return rc;
	if (!divide(known.available, mark, answer, &available, &missing))
		comment = *missing ? pm_asprintf(OUR_COMMENT "%s", answer->why) : strdup("");
	if (!comment)
		return pm_err_nomem(err);
	update.available = same_set(known.available, available) ? NULL : available;
	update.comment = new_comment(known.comment, comment);
	rc = update_node(&update, missing, mark_file, err);
	return !rc && was_refused(&known, answer) ? take_back(config, timeout_ms, err) : rc;
}

/*
 * HealthCheckProgram, the prolog and what follows a refused change report at the same time. Without
 * the lock, an answer of before would overwrite a later one and its mark.
 */
static int take_turn(
	const struct pm_config *config, unsigned timeout_ms, int *ret_fd, struct pm_err *err)
{
	cleanup_free char *path = pm_asprintf("%s/reachable.lock", config->run_dir);

	return path ? pm_lock_take(path, "reachable", timeout_ms, ret_fd, err) : pm_err_nomem(err);
}

/* A node that can serve no mode is left to 'pmctl health'. */
int pm_reachable_report(const struct pm_config *config, unsigned timeout_ms, struct pm_err *err)
{
	cleanup_with(release_answer) struct answer answer = {0};
	cleanup_free char *mark_file = mark_path(config);
	cleanup_close int lock = -1;
	int rc;

	if (!mark_file)
		return pm_err_nomem(err);
	rc = take_turn(config, timeout_ms, &lock, err);
	if (rc)
		return rc;
	rc = ask_node(config, timeout_ms, &answer, err);
	if (rc)
		return pm_err_prefix(err, "which modes this node can serve is not known");
	if (!answer.features[0] || (answer.all && access(mark_file, F_OK)))
		return 0;
	return tell(config, &answer, mark_file, timeout_ms, err);
}

bool pm_reachable_any(const struct pm_config *config, const char *modes, unsigned timeout_ms)
{
	cleanup_with(release_answer) struct answer answer = {0};
	cleanup_with(pm_strv_cleanup) char **names = pm_strv_split(modes, ",");

	if (!names || ask_node(config, timeout_ms, &answer, NULL))
		return true;
	for (size_t i = 0; names[i]; i++) {
		const struct pm_mode_info *row = pm_mode_by_name(names[i]);

		if (!row || pm_strv_contains(answer.features, row->feature))
			return true;
	}
	return !answer.features[0];
}
