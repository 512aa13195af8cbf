/* SPDX-License-Identifier: Apache-2.0 */
#include "site/config.h"

#include <ctype.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

#include "base/address.h"
#include "base/asprintf.h"
#include "base/cleanup.h"
#include "base/strv.h"
#include "base/units.h"
#include "model/words.h"
#include "plan/topology.h"
#include "site/config_file.h"
#include "site/hours.h"

#define MAX_COUNT	     1000
#define MAX_DAYS	     3650
#define MAX_MINUTES	     525600
#define MAX_PER_DAY	     4000 /* the service remembers as many reboots */
#define MAX_TIMEOUT_S	     86400
#define MAX_RESERVED_PERCENT 90

struct row {
	struct pm_key_info info;
	size_t offset; /* of the field */
	int (*parse)(const char *value, void *field, struct pm_err *err);
	void (*release)(void *field);
};

static void release_string(void *field)
{
	free(pm_steal(*(char **)field));
}

static void release_list(void *field)
{
	pm_strv_free(pm_steal(*(char ***)field));
}

static int store_string(const char *value, void *field, struct pm_err *err)
{
	char *copy = strdup(value);

	if (!copy)
		return pm_err_nomem(err);
	release_string(field);
	*(char **)field = copy;
	return 0;
}

static int store_list(char **list, void *field, struct pm_err *err)
{
	if (!list)
		return pm_err_nomem(err);
	release_list(field);
	*(char ***)field = list;
	return 0;
}

static int parse_path(const char *value, void *field, struct pm_err *err)
{
	if (value[0] != '/' || strpbrk(value, " \t"))
		return pm_err_set(err, -EINVAL, "an absolute path expected");
	return store_string(value, field, err);
}

static int parse_program(const char *value, void *field, struct pm_err *err)
{
	if (!strcmp(value, "none"))
		return store_string(value, field, err);
	if (value[0] != '/' || strpbrk(value, " \t"))
		return pm_err_set(err, -EINVAL, "an absolute path expected, or none");
	return store_string(value, field, err);
}

static int parse_profile(const char *value, void *field, struct pm_err *err)
{
	if (!pm_model_is_class(value))
		return pm_err_set(err, -EINVAL,
			"none or the name of a class expected: letters, digits, '.', '_' and '-'");
	return store_string(value, field, err);
}

static int parse_command(const char *value, void *field, struct pm_err *err)
{
	if (value[0] != '/')
		return pm_err_set(err, -EINVAL, "an absolute path and its arguments expected");
	return store_list(pm_strv_split(value, " \t"), field, err);
}

static int parse_check(const char *value, void *field, struct pm_err *err)
{
	if (!strcmp(value, "none")) {
		release_list(field);
		return 0;
	}
	if (value[0] != '/')
		return pm_err_set(
			err, -EINVAL, "an absolute path and its arguments expected, or none");
	return store_list(pm_strv_split(value, " \t"), field, err);
}

static int parse_seconds(const char *value, void *field, struct pm_err *err)
{
	uint64_t seconds;

	if (strlen(value) > 9 || pm_parse_u64(value, &seconds))
		return pm_err_set(err, -EINVAL, "whole seconds expected");
	if (seconds < 1 || seconds > MAX_TIMEOUT_S)
		return pm_err_set(err, -EINVAL, "seconds from 1 to %d expected", MAX_TIMEOUT_S);
	*(unsigned *)field = (unsigned)seconds;
	return 0;
}

static int parse_percent(
	const char *value, unsigned least, unsigned most, void *field, struct pm_err *err)
{
	uint64_t percent;

	if (strlen(value) > 3 || pm_parse_u64(value, &percent))
		return pm_err_set(err, -EINVAL, "a whole percentage expected");
	if (percent < least || percent > most)
		return pm_err_set(err, -EINVAL, "a percentage from %u to %u expected", least, most);
	*(unsigned *)field = (unsigned)percent;
	return 0;
}

static int parse_share(const char *value, void *field, struct pm_err *err)
{
	return parse_percent(value, 1, 99, field, err);
}

static int parse_reserve(const char *value, void *field, struct pm_err *err)
{
	return parse_percent(value, 0, MAX_RESERVED_PERCENT, field, err);
}

static int add_mode(const char *name, unsigned *modes, struct pm_err *err)
{
	const struct pm_mode_info *row = pm_policy_find_mode(name, err);

	if (!row)
		return -EINVAL;
	if (*modes & (1u << row->mode))
		return pm_err_set(err, -EINVAL, "mode '%s' is named twice", name);
	*modes |= 1u << row->mode;
	return 0;
}

static int parse_modes(const char *value, void *field, struct pm_err *err)
{
	cleanup_with(pm_strv_cleanup) char **names = pm_strv_split(value, ",");
	unsigned modes = 0;

	if (!names)
		return pm_err_nomem(err);
	if (!names[0])
		return pm_err_set(err, -EINVAL, "a comma list of modes expected");
	for (size_t i = 0; names[i]; i++) {
		int rc = add_mode(names[i], &modes, err);

		if (rc)
			return rc;
	}
	*(unsigned *)field = modes;
	return 0;
}

static int parse_versions(const char *value, void *field, struct pm_err *err)
{
	if (value[strspn(value, "0123456789.,")])
		return pm_err_set(
			err, -EINVAL, "a comma list of versions like 02.00.00.3809 expected");
	return store_list(pm_strv_split(value, ","), field, err);
}

static int parse_appdirect(const char *value, void *field, struct pm_err *err)
{
	static const char *const types[] = {"AppDirect", "AppDirectNotInterleaved"};

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (!strcasecmp(value, types[i]))
			return store_string(types[i], field, err);
	return pm_err_set(err, -EINVAL, "%s or %s expected", types[0], types[1]);
}

static int parse_wipe(const char *value, void *field, struct pm_err *err)
{
	static const char *const methods[] = {[PM_WIPE_ZERO] = "zero",
		[PM_WIPE_DISCARD] = "discard",
		[PM_WIPE_CRYPTO_ERASE] = "crypto-erase"};

	for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
		if (!strcasecmp(value, methods[i])) {
			*(enum pm_wipe *)field = (enum pm_wipe)i;
			return 0;
		}
	}
	return pm_err_set(err, -EINVAL, "zero, discard or crypto-erase expected");
}

static int parse_mode(const char *value, void *field, struct pm_err *err)
{
	return pm_policy_parse_mode(value, field, err);
}

static int parse_usable(const char *value, void *field, struct pm_err *err)
{
	return pm_policy_parse_usable(value, field, err);
}

static int parse_users(const char *value, void *field, struct pm_err *err)
{
	int rc = pm_policy_check_users(value, err);

	return rc ? rc : store_string(value, field, err);
}

static int parse_clusters(const char *value, void *field, struct pm_err *err)
{
	int rc = pm_policy_check_clusters(value, err);

	return rc ? rc : store_string(value, field, err);
}

static int parse_limit(const char *value, void *field, struct pm_err *err)
{
	uint64_t bytes = 0;

	if (strcasecmp(value, "none") && (pm_parse_size(value, &bytes) || !bytes))
		return pm_err_set(err, -EINVAL, "none or a size like 800G expected");
	*(uint64_t *)field = bytes;
	return 0;
}

static int parse_peaks(const char *value, void *field, struct pm_err *err)
{
	uint64_t peaks[2] = {0};
	const char *comma = strchr(value, ',');
	cleanup_free char *in = comma ? strndup(value, (size_t)(comma - value)) : NULL;

	if (comma && !in)
		return pm_err_nomem(err);
	if (strcasecmp(value, "none") &&
		(!comma || pm_parse_size(in, &peaks[0]) || pm_parse_size(comma + 1, &peaks[1]) ||
			!peaks[0] || !peaks[1]))
		return pm_err_set(err, -EINVAL,
			"none or two sizes like 36G,12G expected, bytes per second in and out");
	memcpy(field, peaks, sizeof(peaks));
	return 0;
}

static int parse_delay(const char *value, void *field, struct pm_err *err)
{
	if (!strcmp(value, "0")) {
		*(unsigned *)field = 0;
		return 0;
	}
	return parse_seconds(value, field, err);
}

static int parse_minutes(const char *value, void *field, struct pm_err *err)
{
	uint64_t minutes;

	if (strlen(value) > 9 || pm_parse_u64(value, &minutes) || minutes > MAX_MINUTES)
		return pm_err_set(err, -EINVAL, "whole minutes from 0 to %d expected", MAX_MINUTES);
	*(unsigned *)field = (unsigned)minutes;
	return 0;
}

static int parse_hours(const char *value, void *field, struct pm_err *err)
{
	int rc = pm_hours_check(value, err);

	return rc ? rc : store_string(value, field, err);
}

static int parse_per_day(const char *value, void *field, struct pm_err *err)
{
	uint64_t number = 0;

	if (strcasecmp(value, "none") &&
		(pm_parse_u64(value, &number) || !number || number > MAX_PER_DAY))
		return pm_err_set(
			err, -EINVAL, "none or a whole number from 1 to %d expected", MAX_PER_DAY);
	*(unsigned *)field = (unsigned)number;
	return 0;
}

static int parse_node_counts(const char *value, void *field, struct pm_err *err)
{
	return pm_policy_parse_counts(value, field, err);
}

static int parse_yes_no(const char *value, void *field, struct pm_err *err)
{
	bool yes = !strcasecmp(value, "yes");

	if (!yes && strcasecmp(value, "no"))
		return pm_err_set(err, -EINVAL, "yes or no expected");
	*(bool *)field = yes;
	return 0;
}

static int parse_fstype(const char *value, void *field, struct pm_err *err)
{
	if (strcmp(value, "ext4") && strcmp(value, "xfs"))
		return pm_err_set(err, -EINVAL, "ext4 or xfs expected");
	return store_string(value, field, err);
}

static int parse_comment(const char *value, void *field, struct pm_err *err)
{
	static const char *const names[] = {"none", "Comment", "AdminComment"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcasecmp(value, names[i]))
			return store_string(names[i], field, err);
	return pm_err_set(err, -EINVAL, "none, Comment or AdminComment expected");
}

static int parse_dram(const char *value, void *field, struct pm_err *err)
{
	struct pm_reserve reserve = {0};
	size_t length = strlen(value);
	cleanup_free char *number = strndup(value, length ? length - 1 : 0);

	if (!number)
		return pm_err_nomem(err);
	if (length && value[length - 1] == '%') {
		int rc = parse_percent(number, 0, MAX_RESERVED_PERCENT, &reserve.percent, err);

		if (rc)
			return rc;
	} else if (strcasecmp(value, "none") && pm_parse_size(value, &reserve.bytes)) {
		return pm_err_set(
			err, -EINVAL, "none, a size like 8G or a share like 5%% expected");
	}
	*(struct pm_reserve *)field = reserve;
	return 0;
}

static int parse_nodes(const char *value, void *field, struct pm_err *err)
{
	cleanup_free struct pm_memory_hint *hints = NULL;
	size_t n;
	int rc = pm_memory_hints_parse(value, &hints, &n, err);

	return rc ? rc : store_string(value, field, err);
}

/* auto, none, or hosts' names or IPv6 addresses in brackets, with commas between them; a port is a
 * number. */
static int parse_address(const char *value, void *field, struct pm_err *err)
{
	bool is_word = !strcmp(value, "none") || !strcmp(value, "auto");
	int rc = is_word ? 0 : pm_addresses_check(value, err);

	return rc ? rc : store_string(value, field, err);
}

static int parse_count(const char *value, void *field, struct pm_err *err)
{
	uint64_t count;

	if (pm_parse_u64(value, &count) || count < 1 || count > MAX_COUNT)
		return pm_err_set(err, -EINVAL, "a whole number from 1 to %d expected", MAX_COUNT);
	*(unsigned *)field = (unsigned)count;
	return 0;
}

static int parse_days(const char *value, void *field, struct pm_err *err)
{
	uint64_t days;

	if (pm_parse_u64(value, &days) || days > MAX_DAYS)
		return pm_err_set(err, -EINVAL, "a whole number from 0 to %d expected", MAX_DAYS);
	*(unsigned *)field = (unsigned)days;
	return 0;
}

/* By the type of the field; NULL: nothing to release. */
#define RELEASE_OF(field_)                                                                         \
	_Generic(((struct pm_config *)0)->field_,                                                  \
		char *: release_string,                                                            \
		char **: release_list,                                                             \
		default: NULL)

#define ROW(key_, name_, kind_, field_, value_, by_job_)                                           \
	[PM_KEY_##key_] = {.info = {PM_KEY_##key_, #name_, value_, by_job_},                       \
		.offset = offsetof(struct pm_config, field_),                                      \
		.parse = parse_##kind_,                                                            \
		.release = RELEASE_OF(field_)},

static const struct row rows[PM_KEY_MAX] = {
#define PM_KEY(key, name, kind, field, value, ...)	  ROW(key, name, kind, field, value, false)
#define PM_POLICY_KEY(key, name, kind, field, value, ...) ROW(key, name, kind, field, value, true)
#include "site/keys.def"
};

const struct pm_key_info *pm_key_info(enum pm_key key)
{
	if ((unsigned)key >= PM_KEY_MAX)
		return NULL;
	return &rows[key].info;
}

static const struct row *row_by_name(const char *name)
{
	for (size_t i = 0; i < PM_KEY_MAX; i++)
		if (!strcasecmp(rows[i].info.name, name))
			return &rows[i];
	return NULL;
}

static bool is_printable(const char *value)
{
	while (isprint((unsigned char)*value))
		value++;
	return *value == '\0';
}

static int replace(char **text, const char *by)
{
	char *copy = strdup(by);

	if (!copy)
		return -ENOMEM;
	free(*text);
	*text = copy;
	return 0;
}

/* Reads the value into `config`, which remembers its text and origin. */
static int set_row(struct pm_config *config, const struct row *row, const char *value,
	const char *origin, struct pm_err *err)
{
	enum pm_key key = row->info.key;
	int rc = 0;

	if (!is_printable(value))
		rc = pm_err_set(err, -EINVAL, "unprintable bytes");
	if (!rc)
		rc = row->parse(value, (char *)config + row->offset, err);
	if (rc)
		return pm_err_prefix(err, "%s='%.100s'", row->info.name, value);
	if (replace(&config->text[key], value) || replace(&config->origin[key], origin))
		return pm_err_nomem(err);
	pm_job_pairs_drop(&config->for_jobs, (int)key);
	return 0;
}

static int set_key(struct pm_config *config, const char *key, const char *value, const char *origin,
	struct pm_err *err)
{
	const struct row *row = row_by_name(key);

	if (!row)
		return pm_err_set(err, -EINVAL, "unknown key '%.60s', see pmem.conf(5)", key);
	return set_row(config, row, value, origin, err);
}

int pm_config_set(struct pm_config *config, const char *key, const char *value, struct pm_err *err)
{
	return set_key(config, key, value, "argument", err);
}

/* A pair for some jobs is checked like any other, and kept as text. */
static int set_for_jobs(struct pm_config *config, const struct pm_config_pair *pair, char *origin,
	struct pm_err *err)
{
	cleanup_with(pm_config_done) struct pm_config ignored = {0};
	const struct row *row = row_by_name(pair->key);
	struct pm_job_pair kept = {.scope = (char *)pair->scope,
		.partitions = (char *)pair->partitions,
		.text = (char *)pair->value,
		.origin = origin};
	int rc = set_key(&ignored, pair->key, pair->value, origin, err);

	if (rc)
		return rc;
	if (!row->info.by_job)
		return pm_err_set(err, -EINVAL, "%s= cannot differ by job", row->info.name);
	if (row->info.key == PM_KEY_DEFAULT_MODE && ignored.default_mode == PM_MODE_FLAT &&
		!pair->partitions)
		return pm_err_set(err, -EINVAL,
			"DefaultMode=flat may differ by PartitionName= alone, nodes know no more "
			"of a job without an option");
	kept.key = (int)row->info.key;
	return pm_job_pairs_add(&config->for_jobs, &kept) ? pm_err_nomem(err) : 0;
}

static int set_defaults(struct pm_config *config, struct pm_err *err)
{
	for (size_t i = 0; i < PM_KEY_MAX; i++) {
		int rc = set_row(config, &rows[i], rows[i].info.value, "default", err);

		if (rc)
			return rc;
	}
	return 0;
}

/* A pair for another node is checked like any other, in a configuration that is then discarded. */
static int take_pair(void *context, const struct pm_config_pair *pair, struct pm_err *err)
{
	struct pm_config *config = context;
	cleanup_with(pm_config_done) struct pm_config ignored = {0};
	cleanup_free char *origin = pm_asprintf("%s:%u", pair->file, pair->line);

	if (!origin)
		return pm_err_nomem(err);
	if (pair->scope)
		return set_for_jobs(config, pair, origin, err);
	return set_key(pair->is_ours ? config : &ignored, pair->key, pair->value, origin, err);
}

static int remember(struct pm_config *config, const char *file, const char *node)
{
	config->file = file ? strdup(file) : NULL;
	config->node = strdup(node);
	return (file && !config->file) || !config->node ? -ENOMEM : 0;
}

/* In mode mixed, App Direct gets the percentage that these two leave. */
static int check_shares(const struct pm_config *config, struct pm_err *err)
{
	bool is_set = strcmp(config->origin[PM_KEY_MIXED_PERCENT], "default");

	if (config->mixed_percent + config->reserved_percent < 100)
		return 0;
	return pm_err_set(err, -EINVAL,
		"%s: MixedPercent=%u and ReservedPercent=%u leave nothing for App Direct; make "
		"one of them smaller",
		config->origin[is_set ? PM_KEY_MIXED_PERCENT : PM_KEY_RESERVED_PERCENT],
		config->mixed_percent, config->reserved_percent);
}

int pm_config_load_for(
	const char *path, const char *node, struct pm_config *ret, struct pm_err *err)
{
	cleanup_with(pm_config_done) struct pm_config config = {0};
	cleanup_free char *own = node ? NULL : pm_config_own_node();
	const char *file = path ? path : PM_CONFIG_DEFAULT_PATH;
	int rc;

	node = node ? node : own;
	if (!node)
		return pm_err_nomem(err);
	rc = set_defaults(&config, err);
	if (rc)
		return rc;
	rc = pm_config_file_read(file, node, take_pair, &config, err);
	if (rc == -ENOENT && !path)
		file = NULL;
	else if (rc)
		return rc;
	rc = check_shares(&config, err);
	if (rc)
		return rc;
	if (remember(&config, file, node))
		return pm_err_nomem(err);
	*ret = config;
	config = (struct pm_config){0};
	return 0;
}

/* What a text is read into, and who hears of its errors. */
struct reading {
	struct pm_config *config;
	pm_config_wrong *wrong;
	void *context;
};

static int take_of_text(void *context, const struct pm_config_pair *pair, struct pm_err *err)
{
	const struct reading *reading = context;

	return take_pair(reading->config, pair, err);
}

static void wrong_of_text(void *context, const struct pm_err *err)
{
	const struct reading *reading = context;

	reading->wrong(reading->context, err);
}

int pm_config_load_text(const char *file, char *text, const char *node, pm_config_wrong *wrong,
	void *context, struct pm_config *ret, struct pm_err *err)
{
	cleanup_with(pm_config_done) struct pm_config config = {0};
	struct reading reading = {&config, wrong, context};
	int rc = set_defaults(&config, err);

	if (!rc)
		rc = pm_config_text_read(
			file, text, node, take_of_text, &reading, wrong_of_text, err);
	if (rc)
		return rc;
	if (check_shares(&config, err))
		wrong(context, err);
	if (remember(&config, file, node))
		return pm_err_nomem(err);
	*ret = config;
	config = (struct pm_config){0};
	return 0;
}

int pm_config_load(const char *path, struct pm_config *ret, struct pm_err *err)
{
	return pm_config_load_for(path, NULL, ret, err);
}

bool pm_config_allows(const struct pm_config *config, enum pm_mode mode)
{
	return pm_mode_info(mode) && (config->modes & (1u << mode));
}

enum pm_mode pm_config_default_mode(const struct pm_config *config, const char *partition)
{
	const char *text =
		partition ? pm_job_pairs_find(&config->for_jobs, partition, PM_KEY_DEFAULT_MODE)
			  : NULL;
	enum pm_mode mode = config->default_mode;

	if (text)
		(void)pm_policy_parse_mode(text, &mode, NULL);
	return mode;
}

char *pm_config_mode_names(const struct pm_config *config)
{
	return pm_mode_names_in(config->modes);
}

void pm_config_done(struct pm_config *config)
{
	for (size_t i = 0; i < PM_KEY_MAX; i++) {
		if (rows[i].release)
			rows[i].release((char *)config + rows[i].offset);
		free(config->text[i]);
		free(config->origin[i]);
	}
	pm_job_pairs_done(&config->for_jobs);
	free(config->file);
	free(config->node);
	*config = (struct pm_config){0};
}
