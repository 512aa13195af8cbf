/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "node/state/jobs.h"
#include "tests/unit/scratch.h"
#include "tests/unit/tap.h"

static struct pm_job sample(uint32_t id, enum pm_substate substate)
{
	return (struct pm_job){.id = id,
		.uid = 1000,
		.gid = 100,
		.state = PM_JOB_READY,
		.mode = PM_MODE_APPDIRECT,
		.substate = substate,
		.size_bytes = 1 << 30,
		.memory_bytes = 3 << 20,
		.boot_id = "b1",
		.run = "2026-01-31T12:34:56.1",
		.time = "2026-01-31T12:34:56.789Z"};
}

static void test_round_trip(void)
{
	struct pm_job job = sample(12, PM_SUBSTATE_FSDAX);
	struct pm_jobs jobs = {0};
	const char *dir = scratch_path("jobs");
	struct pm_err err = {0};
	struct stat st;

	is_number(pm_jobs_read(dir, &jobs, &err), 0, "no directory");
	is_number((long long)jobs.n, 0, "is no job");
	ok(!mkdir(dir, 0755), "a directory");
	is_number(pm_job_write(dir, &job, &err), 0, "written");
	stat(scratch_path("jobs/12.json"), &st);
	is_number(st.st_mode & 07777, 0600, "for root alone");
	job.id = 4294967295u;
	job.substate = PM_SUBSTATE_FLAT;
	job.state = PM_JOB_REFUSED;
	pm_job_write(dir, &job, &err);
	scratch_file("jobs/13.json.a1b2c3", "half a file that was left by a crash");
	is_number(pm_jobs_read(dir, &jobs, &err), 0, err.text);
	is_number((long long)jobs.n, 2, "read");
	ok(jobs.n == 2 && jobs.list[0].id == 12 && jobs.list[0].uid == 1000 &&
			jobs.list[0].gid == 100 && jobs.list[0].state == PM_JOB_READY &&
			jobs.list[0].mode == PM_MODE_APPDIRECT &&
			jobs.list[0].substate == PM_SUBSTATE_FSDAX &&
			jobs.list[0].size_bytes == 1 << 30 &&
			jobs.list[0].memory_bytes == 3 << 20 &&
			!strcmp(jobs.list[0].boot_id, "b1") && !strcmp(jobs.list[0].run, job.run),
		"as it was written");
	ok(pm_jobs_find(&jobs, 4294967295u) && !pm_jobs_find(&jobs, 13), "found by ID");
	pm_jobs_done(&jobs);
	is_number(pm_job_forget(dir, 12, &err), 0, "forgotten");
	is_number(pm_job_forget(dir, 12, &err), 0, "twice");
	is_number(pm_jobs_read(dir, &jobs, &err), 0, "and then");
	is_number((long long)jobs.n, 1, "one is left");
	pm_jobs_done(&jobs);
}

#define RECORD(job_, mode_, substate_, more_)                                                      \
	"{\"version\":1,\"job\":" job_                                                             \
	",\"uid\":1,\"gid\":1,\"state\":\"ready\",\"mode\":\"" mode_                               \
	"\",\"substate\":\"" substate_                                                             \
	"\",\"size_bytes\":0,\"boot_id\":\"b\",\"time\":\"t\"" more_ "}"

static const struct bad {
	const char *name, *text;
} bad[] = {
	{"empty", ""},
	{"no object", "[]"},
	{"no members", "{}"},
	{"cut", "{\"version\":1,\"job\":7,"},
	{"another job", RECORD("8", "flat", "flat", "")},
	{"a negative job", RECORD("-7", "flat", "flat", "")},
	{"no such mode", RECORD("7", "fast", "flat", "")},
	{"no such sub-state", RECORD("7", "flat", "raw", "")},
	{"a state that no record has",
		"{\"version\":2,\"job\":7,\"uid\":1,\"gid\":1,"
		"\"state\":\"unreadable\",\"mode\":\"flat\",\"substate\":\"flat\",\"size_bytes\":0,"
		"\"memory_bytes\":0,\"boot_id\":\"b\",\"run\":\"\",\"time\":\"t\"}"},
	{"a later version",
		"{\"version\":3,\"job\":7,\"uid\":1,\"gid\":1,"
		"\"state\":\"ready\",\"mode\":\"flat\",\"substate\":\"flat\",\"size_bytes\":0,"
		"\"memory_bytes\":0,\"boot_id\":\"b\",\"run\":\"\",\"time\":\"t\"}"},
	{"something behind it", RECORD("7", "flat", "flat", "") "x"},
};

/* The record of job 7 tells nothing: the job is there all the same, and nothing is shared with it.
 */
static void check_lost(const char *name)
{
	struct pm_job fsdax = sample(8, PM_SUBSTATE_FSDAX), same = sample(7, PM_SUBSTATE_FSDAX);
	struct pm_job memory = {.id = 8, .mode = PM_MODE_MEMORY};
	struct pm_jobs jobs = {0};
	struct pm_err err = {0};

	is_number(pm_jobs_read(scratch_path("bad"), &jobs, &err), 0, name);
	ok(jobs.n == 1 && jobs.list[0].id == 7 && jobs.list[0].state == PM_JOB_UNREADABLE &&
			!jobs.list[0].uid && !*jobs.list[0].boot_id && !jobs.list[0].mode,
		"nothing of it is believed");
	ok(pm_jobs_conflict(&jobs, &fsdax) && !pm_jobs_conflict(&jobs, &same) &&
			!pm_jobs_conflict(&jobs, &memory),
		"it is in the way of others, but in Memory Mode");
	pm_jobs_done(&jobs);
}

static void test_bad(void)
{
	struct pm_jobs jobs = {0};

	scratch_file("bad/7.json", RECORD("7", "flat", "flat", ""));
	is_number(pm_jobs_read(scratch_path("bad"), &jobs, NULL), 0,
		"the sample is good, of the first version");
	ok(jobs.n == 1 && jobs.list[0].substate == PM_SUBSTATE_FLAT, "and understood");
	pm_jobs_done(&jobs);
	FOR_EACH(row, bad)
	{
		scratch_file("bad/7.json", row->text);
		check_lost(row->name);
	}
}

static void test_not_ours(void)
{
	const char *path = scratch_path("bad/7.json"), *other = scratch_path("bad/other");

	scratch_file("bad/other", RECORD("7", "flat", "flat", ""));
	ok(!unlink(path) && !symlink(other, path), "a link to a good record");
	check_lost("is not followed");
	ok(!unlink(path) && !mkdir(path, 0700), "a directory");
	check_lost("is no record");
	ok(!rmdir(path) && !mkfifo(path, 0600), "a pipe");
	check_lost("is not waited for");
	ok(!unlink(path) && !rename(other, path) && !chmod(path, 0666), "all may write");
	check_lost("is not believed");
	ok(!chmod(path, 0600) && (geteuid() || !chown(path, 65534, 65534)), "of another user");
	if (!geteuid())
		check_lost("is not believed either");
	ok(!unlink(path), "a huge file");
	scratch_file("bad/7.json", RECORD("7", "flat", "flat", ""));
	ok(!truncate(path, 1 << 20), "with zeros behind a good record");
	check_lost("is not read");
}

static void test_set_aside(void)
{
	struct pm_jobs jobs = {0};
	struct pm_err err = {0};
	struct stat st;

	is_number(pm_job_set_aside(scratch_path("bad"), 7, &err), 0, "set aside");
	is_number(pm_job_set_aside(scratch_path("bad"), 7, &err), 0, "twice");
	ok(!stat(scratch_path("bad/7.json.unreadable"), &st), "kept");
	is_number(pm_jobs_read(scratch_path("bad"), &jobs, &err), 0, "and then");
	is_number((long long)jobs.n, 0, "there is no job");
}

static const struct pair {
	enum pm_substate there, wanted;
	bool conflict;
} pairs[] = {
	{PM_SUBSTATE_FSDAX, PM_SUBSTATE_FSDAX, false},
	{PM_SUBSTATE_EMPTY, PM_SUBSTATE_EMPTY, false},
	{PM_SUBSTATE_FSDAX, PM_SUBSTATE_DEVDAX, true},
	{PM_SUBSTATE_FSDAX, PM_SUBSTATE_FLAT, true},
	{PM_SUBSTATE_DEVDAX, PM_SUBSTATE_FSDAX, true},
	{PM_SUBSTATE_DEVDAX, PM_SUBSTATE_DEVDAX, true},
	{PM_SUBSTATE_FLAT, PM_SUBSTATE_FLAT, true},
	{PM_SUBSTATE_FLAT, PM_SUBSTATE_EMPTY, true},
};

static void test_conflict(void)
{
	FOR_EACH(pair, pairs)
	{
		struct pm_job there = sample(1, pair->there), wanted = sample(2, pair->wanted);
		const struct pm_jobs jobs = {&there, 1};

		ok(!!pm_jobs_conflict(&jobs, &wanted) == pair->conflict, "%d beside %d",
			(int)pair->wanted, (int)pair->there);
		wanted.id = 1;
		ok(!pm_jobs_conflict(&jobs, &wanted), "never with itself");
		wanted.id = 2;
		strcpy(there.boot_id, "b0");
		ok(!pm_jobs_conflict(&jobs, &wanted), "nor with the dead");
		strcpy(there.boot_id, "b1");
		there.state = PM_JOB_REFUSED;
		ok(!pm_jobs_conflict(&jobs, &wanted), "nor with those that got nothing");
	}
}

static void test_ids(void)
{
	static const char *const wrong[] = {
		"", "0", "-1", "1.0", "1_2", "4294967296", " 1", "../1"};
	uint32_t id = 0;

	is_number(pm_job_parse_id("4294967295", &id), 0, "the largest");
	is_number(id, 4294967295u, "is read");
	FOR_EACH(text, wrong)
	is_number(pm_job_parse_id(*text, &id), -EINVAL, *text);
}

int main(void)
{
	test_round_trip();
	test_bad();
	test_not_ours();
	test_set_aside();
	test_conflict();
	test_ids();
	return tap_done();
}
