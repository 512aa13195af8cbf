/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "controller/reports.h"
#include "tests/unit/loop.h"
#include "tests/unit/scratch.h"
#include "tests/unit/tap.h"

#define DAY_S 86400

static slurm_job_info_t jobs[1];
static job_info_msg_t table = {.record_count = 1, .job_array = jobs};
static struct pm_cluster cluster = {.jobs = &table};
static struct pm_reboot reboot = {
	.node = "n1", .to = "pm_memory", .start_s = 100, .end_s = 140, .job_id = 12, .uid = 1000};
static struct pm_reboots reboots = {.list = &reboot, .n = 1};

static const uid_t owner = 1000, other = 1001;

static int add(struct pm_reports *reports, uint32_t job_id, char *node, const char *use)
{
	cleanup_with(pm_json_cleanup) json_object *list = pm_json_parse(use, strlen(use));
	struct pm_message message = {
		.type = PM_MESSAGE_USED, .job_id = job_id, .node = node, .list = list};
	struct pm_err err = {0};

	return pm_reports_add(reports, &cluster, &reboots, &message, &err);
}

#define USE(job)                                                                                   \
	"[{\"job\":" job ",\"uid\":1000,\"mode\":\"memory\",\"begin\":150,\"setup_ms\":20,"        \
	"\"parts\":[],\"samples\":[],\"secret\":1}]"

/* The lines that `viewer` is told behind the first `after`; NULL: none, with the error. */
static json_object *ask(const struct pm_reports *reports, uint32_t job_id, char *after,
	const uid_t *viewer, int *ret_rc)
{
	const struct pm_message request = {
		.type = PM_MESSAGE_REPORT, .job_id = job_id, .after = after};
	json_object *list = NULL;
	struct pm_err err = {0};

	*ret_rc = pm_reports_answer(reports, &cluster, &reboots, &request, viewer, &list, &err);
	return list;
}

static const char *type_of(json_object *list, size_t i)
{
	return pm_json_string(json_object_array_get_idx(list, i), "type");
}

static void test_lines(struct pm_reports *reports)
{
	cleanup_with(pm_json_cleanup) json_object *list = NULL, *rest = NULL;
	int rc;

	is_number(add(reports, 12, "n1", USE("12")), 0, "the first node");
	is_number(add(reports, 12, "n2", USE("12")), 0, "and the second");
	list = ask(reports, 12, NULL, &owner, &rc);
	is_number(rc, 0, "its owner asks");
	is_number((long long)json_object_array_length(list), 4, "job, reboot and two nodes");
	is_text(type_of(list, 0), "job", "the job first");
	is_text(type_of(list, 1), "reboot", "its reboot");
	is_text(pm_json_string(json_object_array_get_idx(list, 3), "node"), "n2", "the last node");
	ok(!json_object_object_get_ex(json_object_array_get_idx(list, 3), "secret", NULL),
		"fields that are not known are dropped");
	rest = ask(reports, 12, "3", &owner, &rc);
	is_number((long long)json_object_array_length(rest), 1, "behind the first three");
}

/* Of the file's last line about the job, as a reader takes it; 0: none. */
static uint64_t energy_of(const struct pm_reports *reports, uint32_t job_id, unsigned *ret_lines)
{
	cleanup_with(pm_json_cleanup) json_object *list = NULL;
	uint64_t joules = 0;
	int rc;

	list = ask(reports, job_id, NULL, NULL, &rc);
	*ret_lines = 0;
	for (size_t i = 0; list && i < json_object_array_length(list); i++) {
		json_object *line = json_object_array_get_idx(list, i);

		if (!pm_json_is(line, "type", "job"))
			continue;
		joules = pm_json_number(line, "energy_joules");
		++*ret_lines;
	}
	return joules;
}

/* Slurm forgets the job after each: the file alone tells. */
static void test_energy_of_file(struct pm_reports *reports)
{
	unsigned lines;

	jobs[0].job_id = 20;
	jobs[0].tres_alloc_str = NULL;
	is_number(add(reports, 20, "n1", USE("20")), 0, "before Slurm has the job's energy");
	jobs[0].tres_alloc_str = "cpu=2,energy=12300,node=2";
	is_number(add(reports, 20, "n2", USE("20")), 0, "and when it has it");
	jobs[0].job_id = 21;
	is_number(add(reports, 21, "n1", USE("21")), 0, "in the first line");
	is_number(add(reports, 21, "n2", USE("21")), 0, "it stays there");
	jobs[0].job_id = 12;
	jobs[0].tres_alloc_str = NULL;
	is_number((long long)energy_of(reports, 20, &lines), 12300, "the energy is kept");
	is_number(lines, 2, "in a line of its own");
	is_number((long long)energy_of(reports, 21, &lines), 12300, "as is the other");
	is_number(lines, 1, "in the first line, once");
}

static void test_energy(const struct pm_reports *reports)
{
	static const struct {
		char *tres;
		long long joules;
	} rows[] = {
		{NULL, 0},
		{"cpu=2,node=1,billing=2", 0},
		{"cpu=2,mem=1G,energy=12300,node=1", 12300},
		{"energy=2K", 2048},
		{"cpu=2,energy=3M", 3 << 20},
		{"gres/energy=7,cpu=1", 0},
		{"cpu=2,energy=7.5K", 0},
		{"cpu=2,energy=18446744073709551614", 0},
		{"cpu=2,energy=0", 0},
	};
	unsigned lines;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		jobs[0].tres_alloc_str = rows[i].tres;
		is_number((long long)energy_of(reports, 12, &lines), rows[i].joules,
			rows[i].tres ? rows[i].tres : "no allocation");
	}
	jobs[0].tres_alloc_str = NULL;
}

static void test_viewers(const struct pm_reports *reports)
{
	int rc;

	json_object_put(ask(reports, 12, NULL, &other, &rc));
	is_number(rc, -ENOENT, "another user");
	json_object_put(ask(reports, 12, NULL, NULL, &rc));
	is_number(rc, 0, "root");
	json_object_put(ask(reports, 99, NULL, NULL, &rc));
	is_number(rc, -ENOENT, "no such job");
}

static void test_wrong(struct pm_reports *reports)
{
	is_number(add(reports, 13, "n1", USE("12")), -EBADMSG, "of another job");
	is_number(add(reports, 13, "n1", "[]"), -EBADMSG, "an empty list");
	is_number(add(reports, 13, "n1", "[{\"job\":13}]"), -EBADMSG, "too few fields");
	is_number(access(scratch_path("reports/13.jsonl"), F_OK), -1, "and no file");
}

/* A crash has cut a line: the next one begins on its own. */
static void test_torn(struct pm_reports *reports)
{
	cleanup_with(pm_json_cleanup) json_object *list = NULL;
	int rc, fd = open(scratch_path("reports/12.jsonl"), O_WRONLY | O_APPEND);

	ok(write(fd, "{\"type\":\"no", 11) == 11, "a line is cut");
	close(fd);
	is_number(add(reports, 12, "n3", USE("12")), 0, "another node");
	list = ask(reports, 12, NULL, &owner, &rc);
	is_number((long long)json_object_array_length(list), 5, "is told, and the cut line is not");
}

/* Takes all but `spare` bytes of the file system; false: there is none of its own. */
static bool fill(off_t spare)
{
	static const char bytes[4096];
	int fd = open(scratch_path("full/ballast"), O_WRONLY | O_CREAT | O_APPEND, 0600);
	struct stat info;

	if (fd < 0)
		return false;
	while (write(fd, bytes, sizeof(bytes)) > 0)
		;
	if (spare && (fstat(fd, &info) || ftruncate(fd, info.st_size - spare)))
		spare = -1;
	close(fd);
	return spare >= 0;
}

/* A line of more than a page. */
static const char *long_use(void)
{
	static char text[16384];
	int n = snprintf(text, sizeof(text), "%s",
		"[{\"job\":12,\"uid\":1000,\"mode\":\"memory\",\"begin\":150,\"setup_ms\":20,"
		"\"parts\":[],\"samples\":[");

	for (int i = 0; i < 120; i++)
		n += snprintf(text + n, sizeof(text) - (size_t)n,
			"%s{\"after_s\":%d,\"dram_bytes\":1000000000000}", i ? "," : "", i);
	snprintf(text + n, sizeof(text) - (size_t)n, "]}]");
	return text;
}

static void test_full(void)
{
	struct pm_reports reports = {.keep_days = 30};
	struct pm_err err = {0};
	int rc;

	if (!loop_mount("tmpfs", scratch_path("full"), "tmpfs", "size=64k")) {
		ok(geteuid() != 0, "a file system of its own is for root alone");
		return;
	}
	is_number(pm_reports_open(&reports, scratch_path("full/reports"), &err), 0, "a small disk");
	ok(fill(0), "is full");
	is_number(add(&reports, 12, "n1", USE("12")), -ENOSPC, "nothing can be added");
	ok(fill(4096), "it has a page");
	is_number(add(&reports, 12, "n1", long_use()), -ENOSPC, "too little for a long line");
	is_number(access(scratch_path("full/reports/12.jsonl"), F_OK), 0, "the file is there");
	is_number(add(&reports, 12, "n1", USE("12")), 0, "and has room, as it kept no part of it");
	ok(fill(16384), "others make room");
	is_number(add(&reports, 12, "n2", long_use()), 0, "the second time");
	{
		cleanup_with(pm_json_cleanup) json_object *list =
			ask(&reports, 12, NULL, &owner, &rc);

		is_number((long long)json_object_array_length(list), 4, "nothing is missing");
		is_text(type_of(list, 0), "job", "from the job on");
	}
	pm_reports_done(&reports);
}

static void test_sweep(struct pm_reports *reports)
{
	uint64_t now_s = (uint64_t)time(NULL);

	reports->swept_s = 0;
	pm_reports_sweep(reports, now_s + 29 * DAY_S);
	is_number(access(scratch_path("reports/12.jsonl"), F_OK), 0, "kept for 30 days");
	pm_reports_sweep(reports, now_s + 31 * DAY_S);
	is_number(access(scratch_path("reports/12.jsonl"), F_OK), -1, "and no longer");
}

static void test_none(struct pm_reports *reports)
{
	reports->keep_days = 0;
	is_number(add(reports, 12, "n1", USE("12")), 0, "with 0 days");
	is_number(access(scratch_path("reports/12.jsonl"), F_OK), -1, "nothing is kept");
}

int main(void)
{
	struct pm_reports reports = {.keep_days = 30};
	struct pm_err err = {0};

	jobs[0] = (slurm_job_info_t){.job_id = 12, .user_id = 1000, .job_state = JOB_RUNNING};
	scratch_file("here", "");
	is_number(pm_reports_open(&reports, scratch_path("reports"), &err), 0, "open");
	test_lines(&reports);
	test_energy(&reports);
	test_energy_of_file(&reports);
	test_viewers(&reports);
	test_wrong(&reports);
	test_torn(&reports);
	test_full();
	test_sweep(&reports);
	test_none(&reports);
	pm_reports_done(&reports);
	return tap_done();
}
