/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/runtime_reports.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/units.h"

#define FILE_BYTES (64 * 1024 * 1024)

static const struct {
	const char *key, *words;
} counts[PM_RUNTIME_COUNTS] = {
	[PM_RUNTIME_DRAM] = {"dram", "in DRAM"},
	[PM_RUNTIME_PMEM] = {"pmem", "in PMem"},
	[PM_RUNTIME_SPILLED] = {"spilled", "spilled"},
	[PM_RUNTIME_PROMOTED] = {"promoted", "promoted"},
};

/* The member of a member; 0: there is none. */
static uint64_t number_in(json_object *object, const char *key, const char *inner)
{
	json_object *member;

	return json_object_object_get_ex(object, key, &member) &&
			       json_object_is_type(member, json_type_object)
		       ? pm_json_number(member, inner)
		       : 0;
}

static uint64_t pmem_peak(json_object *line)
{
	json_object *spaces;

	return json_object_object_get_ex(line, "spaces", &spaces) &&
			       json_object_is_type(spaces, json_type_object)
		       ? number_in(spaces, "pmem", "peak_bytes")
		       : 0;
}

static void count(
	struct pm_runtime_sums *sums, enum pm_runtime_count what, uint64_t bytes, const char *rank)
{
	sums->of[what].sum += bytes;
	if (bytes <= sums->of[what].most)
		return;
	sums->of[what].most = bytes;
	snprintf(sums->of[what].rank, sizeof(sums->of[what].rank), "%s", rank);
}

/* A rank's number goes to the terminal. */
static bool is_report(json_object *line)
{
	const char *rank =
		json_object_is_type(line, json_type_object) ? pm_json_string(line, "rank") : NULL;

	return rank && !rank[strspn(rank, "0123456789")] &&
	       json_object_object_get_ex(line, "spaces", NULL);
}

static void add(struct pm_runtime_sums *sums, json_object *line)
{
	const char *rank = pm_json_text(line, "rank");

	sums->processes++;
	count(sums, PM_RUNTIME_DRAM, pm_json_number(line, "dram_bytes"), rank);
	count(sums, PM_RUNTIME_PMEM, pmem_peak(line), rank);
	count(sums, PM_RUNTIME_SPILLED, pm_json_number(line, "spilled_bytes"), rank);
	count(sums, PM_RUNTIME_PROMOTED,
		number_in(line, "sizing", "promoted_bytes") +
			number_in(line, "moved", "promoted_bytes"),
		rank);
}

int pm_runtime_reports_read(const char *path, struct pm_runtime_sums *ret, struct pm_err *err)
{
	cleanup_free char *text = NULL;
	struct pm_runtime_sums sums = {0};
	unsigned number = 1;
	int rc = pm_file_read(AT_FDCWD, path, FILE_BYTES, &text, NULL, err);

	if (rc)
		return rc;
	for (const char *at = text; *at; number++) {
		size_t length = strcspn(at, "\n");
		cleanup_with(pm_json_cleanup) json_object *line = pm_json_parse(at, length);

		if (!is_report(line))
			return pm_err_set(err, -EBADMSG,
				"'%s', line %u: not a report that PM_REPORT has written", path,
				number);
		add(&sums, line);
		at += length + (at[length] == '\n');
	}
	*ret = sums;
	return 0;
}

void pm_runtime_reports_print(const struct pm_runtime_sums *sums, FILE *out)
{
	const char *comma = ":";

	fprintf(out, "%u process%s", sums->processes, sums->processes == 1 ? "" : "es");
	for (int i = 0; i < PM_RUNTIME_COUNTS; i++) {
		char sum[PM_SIZE_TEXT], most[PM_SIZE_TEXT];

		if (!sums->of[i].sum)
			continue;
		fprintf(out, "%s %s %s", comma, pm_format_size(sums->of[i].sum, sum),
			counts[i].words);
		if (sums->processes > 1)
			fprintf(out, " (rank %s: %s)", *sums->of[i].rank ? sums->of[i].rank : "-",
				pm_format_size(sums->of[i].most, most));
		comma = ",";
	}
}

void pm_runtime_reports_format(const struct pm_runtime_sums *sums, json_object *ret)
{
	char key[40];

	pm_json_add_u64(ret, "processes", sums->processes);
	for (int i = 0; i < PM_RUNTIME_COUNTS; i++) {
		snprintf(key, sizeof(key), "%s_bytes", counts[i].key);
		pm_json_add_u64(ret, key, sums->of[i].sum);
		snprintf(key, sizeof(key), "%s_most_bytes", counts[i].key);
		pm_json_add_u64(ret, key, sums->of[i].most);
		snprintf(key, sizeof(key), "%s_most_rank", counts[i].key);
		pm_json_add_string(ret, key, sums->of[i].rank);
	}
}
