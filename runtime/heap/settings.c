/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/heap/settings.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/common/log.h"
#include "runtime/heap/space.h"

const char *const pm_space_names[PM_SPACES] = {
	[PM_METADATA] = "metadata",
	[PM_TEMPORARY] = "temporary",
	[PM_MIGRATION] = "migration",
	[PM_FREE] = "free",
	[PM_PMEM] = "pmem",
	[PM_LENT] = "lent",
};

static uint64_t whole_chunks(uint64_t bytes)
{
	return bytes / PM_CHUNK * PM_CHUNK;
}

/* Parses digits up to `end` or the end of the text. False: not a number, or too large a space. */
static bool parse_bytes(const char *text, char end, const char **ret_end, uint64_t *ret)
{
	char *stop;
	uint64_t bytes;

	if (*text < '0' || *text > '9')
		return false;
	bytes = strtoull(text, &stop, 10);
	if (bytes > PM_SPACE_MAX || (*stop && *stop != end))
		return false;
	*ret_end = stop;
	*ret = bytes;
	return true;
}

static int find_space(const char *name, size_t length)
{
	for (int i = 0; i < PM_DRAM_SPACES; i++)
		if (strlen(pm_space_names[i]) == length &&
			!strncmp(pm_space_names[i], name, length))
			return i;
	return -1;
}

/* Parses "metadata=BYTES,temporary=BYTES,migration=BYTES,free=BYTES", in any order. */
static bool parse_spaces(const char *text, uint64_t *bytes)
{
	while (*text) {
		size_t length = strcspn(text, "=");
		int id = find_space(text, length);

		if (id < 0 || !parse_bytes(text + length + 1, ',', &text, &bytes[id]))
			return false;
		text += *text == ',';
	}
	return true;
}

/* Divides the budget by PM_SPACES. If PM_SPACES is unset or invalid, all is the free space. */
static void divide(struct pm_settings *settings)
{
	const char *text = getenv("PM_SPACES");
	uint64_t bytes[PM_DRAM_SPACES] = {0}, sum = 0;

	if (!text || !*text)
		text = "";
	if (!parse_spaces(text, bytes)) {
		pm_log("PM_SPACES='%.200s' is not a list like metadata=BYTES,...: all DRAM is one "
		       "space",
			text);
		memset(bytes, 0, sizeof(bytes));
	}
	for (int i = 0; i < PM_FREE; i++)
		sum += whole_chunks(bytes[i]);
	if (sum > settings->budget_bytes) {
		pm_log("PM_SPACES='%.200s' is more than PM_RANK_DRAM=%llu: all DRAM is one space",
			text, (unsigned long long)settings->budget_bytes);
		memset(bytes, 0, sizeof(bytes));
		sum = 0;
	}
	for (int i = 0; i < PM_FREE; i++)
		settings->bytes[i] = whole_chunks(bytes[i]);
	settings->bytes[PM_FREE] = settings->budget_bytes - sum;
}

static void read_nodes(const char *name, struct pm_nodemask *nodes)
{
	const char *text = getenv(name);

	if (text && *text && !pm_nodemask_parse(text, nodes))
		pm_log("%s='%.100s' is not a list of NUMA nodes like 0 or 0-1: this memory is not "
		       "bound",
			name, text);
}

/* Reads a variable with two values, the first one the default. True: it is the second one. */
static bool read_choice(const char *name, const char *usual, const char *other)
{
	const char *text = getenv(name);

	if (!text || !*text || !strcmp(text, usual))
		return false;
	if (strcmp(text, other))
		pm_log("%s='%.100s' is neither %s nor %s: it is %s", name, text, usual, other,
			usual);
	return !strcmp(text, other);
}

/* Limits the budget to the size of its nodes: the variables may be of another machine. */
static void limit_to_nodes(struct pm_settings *settings)
{
	uint64_t total;

	if (pm_nodemask_empty(&settings->dram))
		return;
	total = pm_nodemask_total_bytes(&settings->dram);
	if (total == UINT64_MAX || settings->budget_bytes <= total)
		return;
	pm_log("PM_RANK_DRAM=%llu is more than PM_NODE_DRAM=%.100s has: the budget is %llu",
		(unsigned long long)settings->budget_bytes, getenv("PM_NODE_DRAM"),
		(unsigned long long)whole_chunks(total));
	settings->budget_bytes = whole_chunks(total);
}

bool pm_settings_read(struct pm_settings *ret)
{
	const char *text = getenv("PM_RANK_DRAM"), *end;
	struct pm_settings settings = {0};

	if (!text || !*text)
		return false;
	if (!parse_bytes(text, '\0', &end, &settings.budget_bytes)) {
		pm_log("PM_RANK_DRAM='%.100s' is not a number of bytes: nothing is placed", text);
		return false;
	}
	settings.budget_bytes = whole_chunks(settings.budget_bytes);
	read_nodes("PM_NODE_DRAM", &settings.dram);
	read_nodes("PM_NODE_PMEM", &settings.pmem);
	settings.static_in_pmem = read_choice("PM_STATIC", "dram", "pmem");
	settings.is_fixed = read_choice("PM_SIZING", "measured", "fixed");
	limit_to_nodes(&settings);
	divide(&settings);
	*ret = settings;
	return true;
}
