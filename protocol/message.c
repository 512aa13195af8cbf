/* SPDX-License-Identifier: Apache-2.0 */
#include "protocol/message.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/strv.h"
#include "protocol/job_id.h"

#define MAX_NODES 60000
#define MAX_NAME  255
#define MAX_TEXT  2000

enum {
	JOB = 1,
	UID = 2,
	NODES = 4,
	NODE = 8,
	TEXT = 16,
	LIST = 32,
	AFTER = 64,
	BY = 128,
	SINCE = 256
};

static const struct {
	const char *name;
	unsigned members;
	bool is_request;
} types[PM_MESSAGE_MAX] = {
	[PM_MESSAGE_WAIT] = {"wait", JOB | UID | NODES, true},
	[PM_MESSAGE_WAITING] = {"waiting", 0, true},
	[PM_MESSAGE_MODES] = {"modes", 0, true},
	[PM_MESSAGE_TURNED_AWAY] = {"turned-away", JOB | NODE | TEXT, true},
	[PM_MESSAGE_CLUSTER] = {"cluster", 0, true},
	[PM_MESSAGE_NODES] = {"nodes", AFTER, true},
	[PM_MESSAGE_EXPLAIN] = {"explain", JOB, true},
	[PM_MESSAGE_USED] = {"used", JOB | NODE | LIST, true},
	[PM_MESSAGE_REPORT] = {"report", JOB | AFTER, true},
	[PM_MESSAGE_REBOOTS] = {"reboots", BY | SINCE | AFTER, true},
	[PM_MESSAGE_SUBSTATE] = {"substate", NODE | TEXT, true},
	[PM_MESSAGE_STILL] = {"still", 0, false},
	[PM_MESSAGE_READY] = {"ready", 0, false},
	[PM_MESSAGE_LIST] = {"list", LIST, false},
	[PM_MESSAGE_NOTED] = {"noted", 0, false},
	[PM_MESSAGE_REQUEUED] = {"requeued", 0, false},
	[PM_MESSAGE_ERROR] = {"error", TEXT, false},
	[PM_MESSAGE_ELSEWHERE] = {"elsewhere", TEXT, false},
};

const char *const pm_reboots_by_names[PM_BY_MAX] = {
	[PM_BY_USER] = "user",
	[PM_BY_ACCOUNT] = "account",
	[PM_BY_PARTITION] = "partition",
};

static enum pm_message_type type_by_name(const char *name)
{
	for (int i = PM_MESSAGE_NONE + 1; name && i < PM_MESSAGE_MAX; i++)
		if (!strcmp(types[i].name, name))
			return (enum pm_message_type)i;
	return PM_MESSAGE_NONE;
}

/*
 * True for 1 to `max` bytes without control characters: the text goes into logs and into the job's
 * AdminComment.
 */
static bool is_clean(const char *text, size_t max)
{
	size_t length = strlen(text);

	for (size_t i = 0; i < length; i++)
		if (iscntrl((unsigned char)text[i]))
			return false;
	return length && length <= max;
}

static bool is_names(const char *text, size_t max)
{
	return is_clean(text, max) && !text[strspn(text, "abcdefghijklmnopqrstuvwxyz"
							 "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
							 "0123456789-_.,[]")];
}

static bool read_text(const json_object *root, const char *key, size_t max,
	bool (*good)(const char *, size_t), char **ret)
{
	json_object *member;
	const char *text = pm_json_string(root, key);

	if (!text || !good(text, max))
		return false;
	/* A NUL in the member would cut the text. */
	if (!json_object_object_get_ex(root, key, &member) ||
		(size_t)json_object_get_string_len(member) != strlen(text))
		return false;
	*ret = strdup(text);
	return *ret != NULL;
}

static bool read_number(
	const json_object *root, const char *key, uint64_t min, uint64_t max, uint32_t *ret)
{
	uint64_t value;

	if (pm_json_u64(root, key, &value) || value < min || value > max)
		return false;
	*ret = (uint32_t)value;
	return true;
}

static bool read_by(const json_object *root, enum pm_reboots_by *ret)
{
	const char *name = pm_json_string(root, "by");

	return name && !pm_names_find(pm_reboots_by_names, PM_BY_MAX, name, ret);
}

static bool read_list(const json_object *root, json_object **ret)
{
	json_object *member;

	if (!json_object_object_get_ex(root, "list", &member) ||
		!json_object_is_type(member, json_type_array))
		return false;
	*ret = json_object_get(member);
	return true;
}

/* The name of the first member that is wrong; NULL if all are right. */
static const char *read_members(const json_object *root, unsigned members, struct pm_message *into)
{
	if (members & JOB && !read_number(root, "job", 1, PM_JOB_ID_MAX, &into->job_id))
		return "job";
	if (members & UID && !read_number(root, "uid", 0, UINT32_MAX - 1, &into->uid))
		return "uid";
	if (members & NODES && !read_text(root, "nodes", MAX_NODES, is_names, &into->nodes))
		return "nodes";
	if (members & NODE && !read_text(root, "node", MAX_NAME, is_names, &into->node))
		return "node";
	if (members & AFTER && json_object_object_get_ex(root, "after", NULL) &&
		!read_text(root, "after", MAX_NAME, is_clean, &into->after))
		return "after";
	if (members & BY && !read_by(root, &into->by))
		return "by";
	if (members & SINCE && pm_json_u64(root, "since", &into->since_s))
		return "since";
	if (members & TEXT && !read_text(root, "text", MAX_TEXT, is_clean, &into->text))
		return "text";
	if (members & LIST && !read_list(root, &into->list))
		return "list";
	return NULL;
}

static int check_version(const json_object *root, struct pm_err *err)
{
	uint64_t version;

	if (!json_object_is_type(root, json_type_object))
		return pm_err_set(err, -EBADMSG, "message is not a JSON object");
	if (pm_json_u64(root, "version", &version))
		return pm_err_set(err, -EBADMSG, "message without a version");
	if (version != PM_MESSAGE_VERSION)
		return pm_err_set(err, -EPROTONOSUPPORT,
			"message of version %llu, this side supports version %d",
			(unsigned long long)version, PM_MESSAGE_VERSION);
	return 0;
}

int pm_message_parse(const char *text, size_t length, struct pm_message *ret, struct pm_err *err)
{
	cleanup_with(pm_json_cleanup) json_object *root = pm_json_parse(text, length);
	cleanup_with(pm_message_done) struct pm_message message = {0};
	const char *wrong;
	int rc = check_version(root, err);

	if (rc)
		return rc;
	message.type = type_by_name(pm_json_string(root, "type"));
	if (!message.type)
		return pm_err_set(err, -EBADMSG, "message of an unknown type");
	if (pm_json_u64(root, "id", &message.id))
		return pm_err_set(err, -EBADMSG, "message without an id");
	wrong = read_members(root, types[message.type].members, &message);
	if (wrong)
		return pm_err_set(err, -EBADMSG, "message '%s': bad or missing '%s'",
			types[message.type].name, wrong);
	*ret = message;
	memset(&message, 0, sizeof(message));
	return 0;
}

static void add_members(json_object *root, unsigned members, const struct pm_message *message)
{
	if (members & JOB)
		pm_json_add_u64(root, "job", message->job_id);
	if (members & UID)
		pm_json_add_u64(root, "uid", message->uid);
	if (members & NODES)
		pm_json_add_string(root, "nodes", message->nodes);
	if (members & NODE)
		pm_json_add_string(root, "node", message->node);
	if (members & AFTER)
		pm_json_add_string(root, "after", message->after);
	if (members & BY)
		pm_json_add_string(root, "by", pm_reboots_by_names[message->by]);
	if (members & SINCE)
		pm_json_add_u64(root, "since", message->since_s);
	if (members & TEXT)
		pm_json_add_string(root, "text", message->text);
	if (members & LIST)
		json_object_object_add(root, "list", json_object_get(message->list));
}

char *pm_message_format(const struct pm_message *message)
{
	cleanup_with(pm_json_cleanup) json_object *root = json_object_new_object();

	if (!root)
		return NULL;
	pm_json_add_u64(root, "version", PM_MESSAGE_VERSION);
	pm_json_add_string(root, "type", types[message->type].name);
	pm_json_add_u64(root, "id", message->id);
	add_members(root, types[message->type].members, message);
	return strdup(json_object_to_json_string_ext(
		root, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE));
}

bool pm_message_is_request(enum pm_message_type type)
{
	return types[type].is_request;
}

void pm_message_done(struct pm_message *message)
{
	free(message->nodes);
	free(message->node);
	free(message->after);
	free(message->text);
	json_object_put(message->list);
	memset(message, 0, sizeof(*message));
}
