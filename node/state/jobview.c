/* SPDX-License-Identifier: Apache-2.0 */
#include "node/state/jobview.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/asprintf.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/units.h"

#define MAX_BYTES (64 * 1024)

static const char *const names[] = {
	[PM_ALLOTMENT_DIR] = "PM_DIR",
	[PM_ALLOTMENT_DAX] = "PM_DAX",
	[PM_ALLOTMENT_NODE] = "PM_NODE",
};

#define N_NAMES (sizeof(names) / sizeof(names[0]))

const char *pm_jobview_name(enum pm_allotment_kind kind)
{
	return names[kind];
}

char *pm_jobview_path(const char *run_dir, uint32_t job_id)
{
	return pm_asprintf("%s/jobs/%u", run_dir, (unsigned)job_id);
}

char *pm_job_record_path(const char *state_dir, uint32_t job_id)
{
	return pm_asprintf("%s/jobs/%u.json", state_dir, (unsigned)job_id);
}

static bool fits_a_line(const char *value)
{
	if (!*value)
		return false;
	while (*value && !iscntrl((unsigned char)*value))
		value++;
	return !*value;
}

static bool is_value_of(enum pm_allotment_kind kind, const char *value)
{
	if (!fits_a_line(value))
		return false;
	if (kind == PM_ALLOTMENT_NODE)
		return strlen(value) < 6 && !value[strspn(value, "0123456789")];
	return value[0] == '/';
}

int pm_jobview_add(
	struct pm_jobview *view, enum pm_allotment_kind kind, const char *value, int socket)
{
	struct pm_allotment *grown;

	if (!is_value_of(kind, value) || socket < 0)
		return -EINVAL;
	if (view->n >= PM_ALLOTMENTS_MAX)
		return -E2BIG;
	grown = realloc(view->allotments, (view->n + 1) * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	view->allotments = grown;
	grown[view->n] = (struct pm_allotment){kind, strdup(value), socket};
	if (!grown[view->n].value)
		return -ENOMEM;
	view->n++;
	return 0;
}

void pm_jobview_done(struct pm_jobview *view)
{
	for (size_t i = 0; i < view->n; i++)
		free(view->allotments[i].value);
	free(view->allotments);
	free(view->refused);
	*view = (struct pm_jobview){0};
}

/* The kind of a key such as "PM_DIR3", with this number and suffix; N_NAMES: another key. */
static size_t kind_of(const char *key, size_t number, const char *suffix)
{
	for (size_t i = 0; i < N_NAMES; i++) {
		char wanted[40];

		snprintf(wanted, sizeof(wanted), "%s%zu%s", names[i], number, suffix);
		if (!strcmp(key, wanted))
			return i;
	}
	return N_NAMES;
}

/* The line after each allotment has its socket, which is INT32_MAX until that line is read. */
static int parse_socket(struct pm_jobview *view, const char *key, const char *value)
{
	struct pm_allotment *last = view->n ? &view->allotments[view->n - 1] : NULL;

	if (!last || last->socket != INT32_MAX ||
		kind_of(key, view->n - 1, "_SOCKET") != (size_t)last->kind)
		return -EBADMSG;
	if (!is_value_of(PM_ALLOTMENT_NODE, value))
		return -EBADMSG;
	last->socket = atoi(value);
	return 0;
}

static bool is_complete(const struct pm_jobview *view)
{
	return !view->n || view->allotments[view->n - 1].socket != INT32_MAX;
}

static int parse_mode(struct pm_jobview *view, const char *value)
{
	const struct pm_mode_info *row = pm_mode_by_name(value);

	if (!row || view->mode)
		return -EBADMSG;
	view->mode = row->mode;
	return 0;
}

static int parse_refusal(struct pm_jobview *view, const char *value)
{
	if (view->refused || !fits_a_line(value))
		return -EBADMSG;
	view->refused = strdup(value);
	return view->refused ? 0 : -ENOMEM;
}

static int parse_number(const char *value, uint32_t *ret)
{
	uint64_t number;

	if (*ret || pm_parse_u64(value, &number) || number >= UINT32_MAX)
		return -EBADMSG;
	*ret = (uint32_t)number;
	return 0;
}

static int parse_boot(struct pm_jobview_owner *owner, const char *value)
{
	if (*owner->boot_id || !fits_a_line(value) || strlen(value) >= sizeof(owner->boot_id))
		return -EBADMSG;
	strcpy(owner->boot_id, value);
	return 0;
}

/* A word that this version does not know and need not: another pmctl may have written the view. */
static bool is_of_later_version(const char *key)
{
	for (size_t i = 0; i < N_NAMES; i++)
		if (!strncmp(key, names[i], strlen(names[i])))
			return false;
	return !strncmp(key, "PM_", 3);
}

static int parse_key(struct pm_jobview *view, const char *key, const char *value)
{
	size_t kind;

	if (!strcmp(key, "PM_JOB"))
		return parse_number(value, &view->owner.job_id);
	if (!strcmp(key, "PM_UID"))
		return parse_number(value, &view->owner.uid);
	if (!strcmp(key, "PM_BOOT"))
		return parse_boot(&view->owner, value);
	if (!strcmp(key, "PM_MODE"))
		return parse_mode(view, value);
	if (!strcmp(key, "PM_REFUSED"))
		return parse_refusal(view, value);
	if (!is_complete(view))
		return parse_socket(view, key, value);
	kind = kind_of(key, view->n, "");
	if (kind == N_NAMES)
		return is_of_later_version(key) ? 0 : -EBADMSG;
	return pm_jobview_add(view, (enum pm_allotment_kind)kind, value, INT32_MAX);
}

static int parse_line(struct pm_jobview *view, char *line)
{
	char *equals = strchr(line, '=');

	if (!equals)
		return -EBADMSG;
	*equals = '\0';
	return parse_key(view, line, equals + 1);
}

int pm_jobview_parse(const char *text, struct pm_jobview *ret, struct pm_err *err)
{
	cleanup_with(pm_jobview_done) struct pm_jobview view = {0};
	cleanup_free char *copy = strdup(text);
	char *line, *next = copy;
	int rc = 0;

	if (!copy)
		return pm_err_nomem(err);
	while (!rc && *next) {
		line = strsep(&next, "\n");
		rc = next ? parse_line(&view, line) : -EBADMSG;
	}
	if (rc == -ENOMEM)
		return pm_err_nomem(err);
	if (rc || !is_complete(&view))
		return pm_err_set(err, -EBADMSG, "not a job view");
	*ret = view;
	view = (struct pm_jobview){0};
	return 0;
}

int pm_jobview_read(const char *path, struct pm_jobview *ret, struct pm_err *err)
{
	cleanup_free char *text = NULL;
	size_t length;
	int rc;

	rc = pm_file_read_roots(path, MAX_BYTES, &text, &length, err);
	if (rc)
		return rc;
	if (strlen(text) != length)
		return pm_err_set(err, -EBADMSG, "read '%s': it has a NUL byte", path);
	rc = pm_jobview_parse(text, ret, err);
	return rc ? pm_err_prefix(err, "read '%s'", path) : 0;
}

int pm_jobview_read_of(const char *run_dir, uint32_t job_id, uid_t uid, const char *fs_root,
	struct pm_jobview *ret, struct pm_err *err)
{
	cleanup_with(pm_jobview_done) struct pm_jobview view = {0};
	cleanup_free char *path = pm_jobview_path(run_dir, job_id);
	char boot_id[PM_BOOT_ID_MAX];
	int rc = path ? pm_jobview_read(path, &view, err) : pm_err_nomem(err);

	if (rc)
		return rc;
	if (pm_kernel_boot_id(fs_root, boot_id, NULL) || view.owner.job_id != job_id ||
		view.owner.uid != uid || strcmp(view.owner.boot_id, boot_id))
		return pm_err_set(err, -ESTALE,
			"'%s' was not written for this job in this boot, so the task does not run",
			path);
	*ret = view;
	view = (struct pm_jobview){0};
	return 0;
}

static int print(FILE *out, const struct pm_jobview *view)
{
	const struct pm_jobview_owner *owner = &view->owner;

	if (owner->job_id)
		fprintf(out, "PM_JOB=%u\nPM_UID=%u\nPM_BOOT=%s\n", (unsigned)owner->job_id,
			(unsigned)owner->uid, owner->boot_id);
	if (view->mode)
		fprintf(out, "PM_MODE=%s\n", pm_mode_name(view->mode));
	for (size_t i = 0; i < view->n; i++) {
		const struct pm_allotment *allotment = &view->allotments[i];
		const char *name = names[allotment->kind];

		fprintf(out, "%s%zu=%s\n%s%zu_SOCKET=%d\n", name, i, allotment->value, name, i,
			allotment->socket);
	}
	if (!view->refused)
		return 0;
	if (!fits_a_line(view->refused))
		return -EINVAL;
	fprintf(out, "PM_REFUSED=%s\n", view->refused);
	return 0;
}

int pm_jobview_write(const char *path, const struct pm_jobview *view, struct pm_err *err)
{
	cleanup_free char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);
	int rc;

	if (!out)
		return pm_err_nomem(err);
	rc = print(out, view);
	if (fclose(out))
		return pm_err_nomem(err);
	if (rc)
		return pm_err_set(err, rc, "write '%s': a control byte in the sentence", path);
	return pm_file_write(path, 0644, text, length, err);
}
