/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "controller/history.h"
#include "controller/history_table.h"
#include "tests/unit/scratch.h"
#include "tests/unit/tap.h"

#define KEY	"0123456789abcdef"
#define HEAD	"slurm-pmem-history 1\n"
#define DAY_S	86400
#define MIB(mb) ((uint64_t)(mb) << 20)

static char *run_dir;

/* slurmctld's answer, in place of the library's function. */
static slurm_job_info_t fresh[1];
static unsigned questions;

int slurm_load_job(job_info_msg_t **ret, uint32_t job_id, uint16_t flags)
{
	(void)job_id;
	(void)flags;
	questions++;
	*ret = calloc(1, sizeof(**ret));
	(*ret)->record_count = 1;
	(*ret)->job_array = fresh;
	return 0;
}

void slurm_free_job_info_msg(job_info_msg_t *jobs)
{
	free(jobs);
}

/* The job's texts are constants. */
extern void slurm_xfree(void **item);

void slurm_xfree(void **item)
{
	(void)item;
}

/* --- the table --- */

static char *added(const char *text, const char *mode, uint64_t seconds, uint64_t used_mib)
{
	struct pm_history_run run = {.key = KEY,
		.mode = mode,
		.seconds = seconds,
		.used_mib = used_mib,
		.end_s = 1000,
		.job = 7};

	return pm_history_table_add(text, &run);
}

static void is_added(const char *before, const char *mode, uint64_t seconds, uint64_t used_mib,
	const char *after, const char *label)
{
	cleanup_free char *text = added(before, mode, seconds, used_mib);

	is_text(text, after, label);
}

static void test_table(void)
{
	static const char nine[] = HEAD KEY " flat 9 5 100 1000 1,2,3,4,5,6,7,8,9\n";

	is_added(NULL, "flat", 30, 500, HEAD KEY " flat 1 30 500 1000 30 500 7\n", "the first run");
	is_added(HEAD KEY " flat 1 30 500 999 30\n", "flat", 10, 400,
		HEAD KEY " flat 2 10 500 1000 30,10 500,400 7\n",
		"the second: of two the lower is the median");
	is_added(HEAD KEY " flat 2 10 500 999 30,10\n", "memory", 7, 1,
		HEAD KEY " flat 2 10 500 999 30,10\n" KEY " memory 1 7 1 1000 7 1 7\n", "a mode");
	is_added(nine, "flat", 50, 0, HEAD KEY " flat 10 6 100 1000 2,3,4,5,6,7,8,9,50\n",
		"of ten runs nine have their seconds");
	is_added(NULL, "flat", 0, 7600, HEAD KEY " flat 0 0 7600 1000 - 7600 7\n",
		"memory of a run that does not count");
	is_added(HEAD KEY " flat 0 0 7600 999 -\n", "flat", 5, 1,
		HEAD KEY " flat 1 5 7600 1000 5 7600,1 7\n", "and one that does");
	is_added("slurm-pmem-history 2\n" KEY " flat 1 30 500 999 30\n", "flat", 5, 1,
		HEAD KEY " flat 1 5 1 1000 5 1 7\n", "another version");
	is_added(HEAD "0123 flat 1 30 500 999 30\n" KEY " flat 1\n\n" KEY
		      " flat 1 30 500 999 30\nshort",
		"flat", 10, 1, HEAD KEY " flat 2 10 500 1000 30,10 500,1 7\n",
		"torn lines are dropped");
	is_added(HEAD KEY " flat 1 30 500 999 30 500\n" KEY " memory 1 7 1 1000 7\n", "flat", 10, 1,
		HEAD KEY " flat 2 10 500 1000 30,10 500,1 7\n" KEY " memory 1 7 1 1000 7\n",
		"a line that ends before its jobs takes nothing of the next");
	is_added(NULL, "", 5, 1, HEAD, "a run without a mode");
}

/* The memory of a line after such runs, the oldest first, of jobs with these numbers. */
static uint64_t memory_after(const uint64_t (*runs)[2], size_t n)
{
	cleanup_free char *text = NULL;
	uint64_t used_mib = 0;

	for (size_t i = 0; i < n; i++) {
		struct pm_history_run run = {.key = KEY,
			.mode = "flat",
			.seconds = 1,
			.used_mib = runs[i][0],
			.job = (uint32_t)runs[i][1]};
		char *longer = pm_history_table_add(text, &run);

		free(text);
		text = longer;
	}
	if (sscanf(text, HEAD KEY " flat %*u %*u %" SCNu64, &used_mib) != 1)
		used_mib = UINT64_MAX;
	return used_mib;
}

#define MEMORY_AFTER(...)                                                                          \
	memory_after((const uint64_t[][2]){__VA_ARGS__},                                           \
		sizeof((const uint64_t[][2]){__VA_ARGS__}) / sizeof(uint64_t[2]))

static void test_memory(void)
{
	is_number(MEMORY_AFTER({100, 1}, {140, 2}, {90, 3}), 140, "the most of the last runs");
	is_number(MEMORY_AFTER({100, 1}, {90, 2}, {800, 3}), 800, "the last one, whatever it used");
	is_number(MEMORY_AFTER({100, 1}, {800, 2}, {90, 3}), 100,
		"an odd one is left out once a later run has used less");
	is_number(MEMORY_AFTER({800, 1}, {90, 2}), 800, "not of two");
	is_number(MEMORY_AFTER({100, 1}, {800, 2}, {700, 3}, {90, 4}), 800, "nor is one of two");
	is_number(MEMORY_AFTER({100, 1}, {150, 2}, {90, 3}), 150, "nor one that is hardly odd");
	is_number(MEMORY_AFTER({100, 1}, {800, 2}, {0, 3}, {0, 4}), 800,
		"runs without a value are none");
	is_number(MEMORY_AFTER({800, 1}, {100, 1}, {90, 1}, {800, 2}, {100, 2}, {90, 2}), 800,
		"of the nodes of a job the one that used most counts");
	is_number(MEMORY_AFTER({800, 1}, {100, 2}, {100, 1}, {800, 2}, {90, 3}, {90, 1}, {90, 3},
			  {90, 2}, {90, 3}),
		800, "also where nodes of several jobs are told in turns");
	is_number(
		MEMORY_AFTER({500, 1}, {600, 2}, {400, 3}, {400, 4}, {400, 5}, {400, 6}, {400, 7}),
		400, "older runs than the last five are forgotten");
}

static void test_oldest(void)
{
	cleanup_free char *text = NULL;
	struct pm_history_run run = {.mode = "flat", .seconds = 1};

	for (unsigned i = 0; i <= PM_HISTORY_LINES; i++) {
		char *longer;

		snprintf(run.key, sizeof(run.key), "%016x", i);
		run.end_s = 1000 + (i + 1) % 3; /* 1000: 2, 5, ... */
		longer = pm_history_table_add(text, &run);
		free(text);
		text = longer;
	}
	ok(strlen(text) < PM_HISTORY_BYTES, "a full table is not too long");
	ok(!strstr(text, "\n0000000000000002 "), "the first of the oldest is dropped");
	ok(strstr(text, "\n0000000000000005 ") != NULL, "the next is not");
	ok(strstr(text, "\n0000000000000190 ") != NULL, "the newest is there");
}

/* --- the site --- */

#define SITE_HEAD "slurm-pmem-site-history 1\n"
#define OTHER	  "fedcba9876543210"

static void is_summed(const char *const *tables, size_t n, const char *text, const char *label)
{
	struct pm_history_site site = {0};
	cleanup_free char *summed = NULL;

	for (size_t i = 0; i < n; i++)
		is_number(pm_history_site_add(&site, tables[i]), 0, "a user");
	summed = pm_history_site_text(&site);
	is_text(summed, text, label);
	pm_history_site_done(&site);
}

/* " 500" as often. */
static char *repeated(const char *number, unsigned n)
{
	char *text = calloc(n, strlen(number) + 1);

	for (unsigned i = 0; i < n; i++)
		strcat(text, number);
	return text;
}

static void test_site(void)
{
	static const char one[] =
		HEAD KEY " memory 3 500 700 1000 500,500,500\n" KEY
			 " appdirect 1 400 90 1000 400\n" OTHER " mixed 0 0 4000 1000 -\n";
	static const char two[] =
		HEAD KEY " memory 1 1000 0 1000 1000\n" KEY " appdirect 1 1 0 1000 1\n";
	static const char three[] =
		HEAD KEY " memory 1 10 300 1000 10\n" KEY " appdirect 1 12 0 1000 12\n";
	cleanup_free char *of_one = repeated(" 700", PM_HISTORY_SITE_PARTS / 2);
	cleanup_free char *of_other = repeated(" 4000", PM_HISTORY_SITE_PARTS / 2);
	char text[1000];

	is_summed(NULL, 0, SITE_HEAD, "no user");
	is_summed((const char *[]){"", HEAD, "x"}, 3, SITE_HEAD, "users without jobs");
	snprintf(text, sizeof(text),
		SITE_HEAD "jobs 1 400\nused 2%s%s\nratio memory appdirect 1 800\n"
			  "ratio appdirect memory 1 1250\n",
		of_one, of_other);
	is_summed((const char *[]){one}, 1, text,
		"of a job in two modes the lower time; the most memory; the run time in both");
	is_summed((const char *[]){two}, 1,
		SITE_HEAD
		"jobs 1 1\nratio memory appdirect 1 1\nratio appdirect memory 1 1000000\n",
		"memory that is not known; a ratio is never 0");
	free(of_one);
	of_one = repeated(" 300", PM_HISTORY_SITE_PARTS);
	snprintf(text, sizeof(text),
		SITE_HEAD "jobs 2 10\nused 1%s\nratio memory appdirect 2 1200\n"
			  "ratio appdirect memory 2 1000000\n",
		of_one);
	is_summed((const char *[]){two, three}, 2, text,
		"jobs of two users with the same key are two; of two the higher ratio");
}

/* --- what nodes tell --- */

static slurm_job_info_t known[1];
static job_info_msg_t table = {.record_count = 1, .job_array = known};
static struct pm_cluster cluster = {.jobs = &table};

static const struct pm_use_part parts[] = {
	{.tier = "dram", .peak_bytes = MIB(100)},
	{.tier = "pmem", .peak_bytes = MIB(400)},
	{.tier = "dir", .peak_bytes = MIB(9000)},
};

static struct pm_job_use use_of(const char *mode)
{
	struct pm_job_use use = {.job_id = 12,
		.begin_s = 2000,
		.end_s = 2130,
		.setup_ms = 30000,
		.parts = (struct pm_use_part *)parts,
		.n_parts = 3};

	snprintf(use.mode, sizeof(use.mode), "%s", mode);
	return use;
}

static void is_file(const char *name, const char *wanted, const char *label)
{
	cleanup_free char *text = NULL;

	if (pm_file_read(AT_FDCWD, scratch_path(name), 100000, &text, NULL, NULL))
		text = strdup("no file");
	is_text(text, wanted, label);
}

static void forget(void)
{
	(void)unlink(scratch_path("history/1000"));
	(void)unlink(scratch_path("run/history-1000"));
	questions = 0;
}

static void tell(struct pm_history *history, const char *node, const struct pm_job_use *use,
	const char *label)
{
	struct pm_err err = {0};

	is_number(pm_history_add(history, &cluster, node, use, &err), 0, label);
}

static void test_run(struct pm_history *history)
{
	struct pm_job_use use = use_of("flat");

	tell(history, "n1", &use, "the first node");
	is_file("history/1000", HEAD KEY " flat 1 100 500 2130 100 500 12\n",
		"its seconds behind the set-up; memory of both tiers, not the files");
	is_file("run/history-1000", HEAD KEY " flat 1 100 500 2130 100 500 12\n", "and a copy");
	is_number((long long)questions, 1, "slurmctld was asked for the job's state");
	tell(history, "n2", &use, "the second node");
	is_file("history/1000", HEAD KEY " flat 1 100 500 2130 100 500 12\n", "counts no run");
	is_number((long long)questions, 1, "and needs no question");
	forget();
}

static void test_states(struct pm_history *history)
{
	static const struct {
		uint32_t state;
		const char *text;
	} rows[] = {
		{JOB_COMPLETE | JOB_COMPLETING, HEAD KEY " memory 1 100 500 2130 100 500 12\n"},
		{JOB_TIMEOUT, HEAD KEY " memory 1 100 500 2130 100 500 12\n"},
		{JOB_CANCELLED, HEAD KEY " memory 0 0 500 2130 - 500 12\n"},
		{JOB_FAILED, HEAD KEY " memory 0 0 500 2130 - 500 12\n"},
		{JOB_NODE_FAIL, HEAD KEY " memory 0 0 500 2130 - 500 12\n"},
		{JOB_PENDING, HEAD KEY " memory 0 0 500 2130 - 500 12\n"},
	};
	const struct pm_job_use use = use_of("memory");

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		fresh[0].job_state = rows[i].state;
		tell(history, "n1", &use, "a job's state");
		is_file("history/1000", rows[i].text, "and what it counts as");
		forget();
	}
	fresh[0].job_state = JOB_COMPLETE;
}

static void test_outgrown(struct pm_history *history)
{
	struct pm_job_use use = use_of("memory");

	use.oom_kills = 1;
	use.memory_limit_bytes = MIB(7600);
	fresh[0].job_state = JOB_OOM;
	tell(history, "n1", &use, "a job that outgrew its limit");
	is_file("history/1000", HEAD KEY " memory 0 0 7600 2130 - 7600 12\n",
		"needs as much at least");
	fresh[0].job_state = JOB_COMPLETE;
	forget();
}

static void test_notes(struct pm_history *history)
{
	static const struct {
		const char *comment;
		bool counts;
	} rows[] = {
		{"pm_hold=60; pm_same=" KEY "; site's", true},
		{"pm_same=" KEY, true},
		{"xpm_same=" KEY, false},
		{"xpm_same=1 pm_same=" KEY, true},
		{"pm_same=0123456789ABCDEF", false},
		{"pm_same=../../etc/passwd", false},
		{"pm_same=" KEY "0", false},
		{"pm_same=", false},
		{"", false},
		{NULL, false},
	};
	const struct pm_job_use use = use_of("flat");

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		known[0].admin_comment = fresh[0].admin_comment = (char *)rows[i].comment;
		tell(history, "n1", &use, rows[i].comment ? rows[i].comment : "(none)");
		is_number(access(scratch_path("history/1000"), F_OK), rows[i].counts ? 0 : -1,
			"counts or not");
		forget();
	}
	known[0].admin_comment = fresh[0].admin_comment = "pm_same=" KEY;
}

/* A job that began and ended since the table of jobs was loaded. */
static void test_unknown(struct pm_history *history)
{
	const struct pm_job_use use = use_of("flat");

	known[0].job_id = 11;
	tell(history, "n1", &use, "a job that is not in the table");
	is_file("history/1000", HEAD KEY " flat 1 100 500 2130 100 500 12\n", "slurmctld knows it");
	fresh[0].job_id = 13;
	forget();
	tell(history, "n1", &use, "a job that slurmctld has forgotten");
	is_file("history/1000", "no file", "does not count");
	known[0].job_id = fresh[0].job_id = 12;
}

/* With more tables than a turn reads. */
static void test_sum(void)
{
	struct pm_history history = {0};
	struct pm_err err = {0};
	char name[40];

	is_number(pm_history_open(&history, scratch_path("many"), run_dir, geteuid(), &err), 0,
		"the service begins");
	for (unsigned user = 1; user <= 60; user++) {
		snprintf(name, sizeof(name), "many/%u", user);
		scratch_file(name, HEAD KEY " flat 1 30 0 999 30\n");
		(void)chmod(scratch_path(name), 0600);
	}
	scratch_file("many/notes", HEAD KEY " flat 1 30 0 999 30\n");
	pm_history_sum_up(&history, geteuid(), 1000);
	is_file("run/history-site", "no file", "in one turn some tables");
	pm_history_sum_up(&history, geteuid(), 1005);
	is_file("run/history-site", SITE_HEAD "jobs 60 30\n", "in two all of them");
	(void)unlink(scratch_path("many/60"));
	pm_history_sum_up(&history, geteuid(), 1010);
	pm_history_sum_up(&history, geteuid(), 1015);
	is_file("run/history-site", SITE_HEAD "jobs 60 30\n", "and not again at once");
	pm_history_sum_up(&history, geteuid(), 1000 + 3600);
	pm_history_sum_up(&history, geteuid(), 1005 + 3600);
	is_file("run/history-site", SITE_HEAD "jobs 59 30\n", "but an hour later");
	pm_history_done(&history);
}

static void test_begin(void)
{
	struct pm_history history = {0};
	struct pm_err err = {0};

	scratch_file("history/1000", HEAD KEY " flat 1 30 500 999 30\n");
	scratch_file("history/notes", "not a table\n");
	is_number(chmod(scratch_path("history/1000"), 0600), 0, "a table of an earlier service");
	is_number(pm_history_open(&history, scratch_path("history"), run_dir, geteuid(), &err), 0,
		"the service begins");
	is_file("run/history-1000", HEAD KEY " flat 1 30 500 999 30\n", "the copy is there again");
	is_file("run/history-notes", "no file", "and no other");
	pm_history_sweep(&history, 30, (uint64_t)time(NULL) + 29 * DAY_S);
	is_number(access(scratch_path("history/1000"), F_OK), 0, "kept for 30 days");
	history.swept_s = 0;
	pm_history_sweep(&history, 30, (uint64_t)time(NULL) + 31 * DAY_S);
	is_file("history/1000", "no file", "and no longer");
	is_file("run/history-1000", "no file", "nor its copy");
	is_file("history/notes", "not a table\n", "another file stays");
	pm_history_done(&history);
}

int main(void)
{
	struct pm_history history = {0};
	struct pm_err err = {0};

	test_table();
	test_memory();
	test_oldest();
	test_site();
	known[0] = (slurm_job_info_t){.job_id = 12,
		.user_id = 1000,
		.batch_host = "n1",
		.job_state = JOB_RUNNING,
		.admin_comment = "pm_same=" KEY};
	fresh[0] = known[0];
	fresh[0].job_state = JOB_COMPLETE;
	cluster.slurm_uid = geteuid();
	scratch_file("run/here", "");
	run_dir = strdup(scratch_path("run"));
	is_number(pm_history_open(&history, scratch_path("history"), run_dir, geteuid(), &err), 0,
		"open");
	test_run(&history);
	test_states(&history);
	test_outgrown(&history);
	test_notes(&history);
	test_unknown(&history);
	pm_history_done(&history);
	test_begin();
	test_sum();
	free(run_dir);
	return tap_done();
}
