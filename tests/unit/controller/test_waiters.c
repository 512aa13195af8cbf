/* SPDX-License-Identifier: Apache-2.0 */
/* When a node is ready for the job that waits for it, when one counts as idle, who may ask how
 * often, and who may read the file. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <slurm/slurm.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "controller/modes_file.h"
#include "controller/rate.h"
#include "controller/reader_file.h"
#include "controller/waiters.h"
#include "tests/unit/scratch.h"
#include "tests/unit/tap.h"

#define ALLOC NODE_STATE_ALLOCATED

static const struct {
	uint32_t state;
	enum pm_readiness readiness;
	bool is_free, idle;
} rows[] = {
	{ALLOC, PM_IS_READY, false, false},
	{NODE_STATE_MIXED, PM_IS_READY, false, false},
	{ALLOC | NODE_STATE_POWERING_UP, PM_NOT_READY, false, false},
	{ALLOC | NODE_STATE_POWERING_UP | NODE_STATE_NO_RESPOND, PM_NOT_READY, false, false},
	{ALLOC | NODE_STATE_POWER_UP, PM_IS_READY, false, false},
	{ALLOC | NODE_STATE_POWER_UP | NODE_STATE_POWERING_UP, PM_NOT_READY, false, false},
	{ALLOC | NODE_STATE_POWER_UP | NODE_STATE_POWERED_DOWN, PM_NOT_READY, false, false},
	{ALLOC | NODE_STATE_REBOOT_ISSUED, PM_NOT_READY, false, false},
	{ALLOC | NODE_STATE_REBOOT_REQUESTED, PM_IS_READY, false, false},
	{ALLOC | NODE_STATE_REBOOT_REQUESTED | NODE_STATE_POWERING_UP, PM_NOT_READY, false, false},
	{ALLOC | NODE_STATE_NO_RESPOND, PM_NOT_READY, false, false},
	{ALLOC | NODE_STATE_POWERED_DOWN, PM_NOT_READY, false, false},
	{NODE_STATE_MIXED | NODE_STATE_POWERING_DOWN, PM_NOT_READY, false, false},
	{ALLOC | NODE_STATE_MAINT | NODE_STATE_POWERING_UP, PM_NOT_READY, false, false},
	{NODE_STATE_UNKNOWN, PM_NOT_READY, false, false},
	{NODE_STATE_DOWN, PM_UNUSABLE, false, false},
	{NODE_STATE_DOWN | NODE_STATE_NO_RESPOND, PM_UNUSABLE, false, false},
	{ALLOC | NODE_STATE_FAIL, PM_UNUSABLE, false, false},
	{ALLOC | NODE_STATE_INVALID_REG, PM_UNUSABLE, false, false},
	{ALLOC | NODE_STATE_DRAIN, PM_IS_READY, false, false},
	{NODE_STATE_IDLE, PM_IS_READY, true, true},
	{NODE_STATE_IDLE | NODE_STATE_PLANNED, PM_IS_READY, true, true},
	{NODE_STATE_IDLE | NODE_STATE_POWERING_UP, PM_NOT_READY, true, false},
	{NODE_STATE_IDLE | NODE_STATE_POWERED_DOWN, PM_IS_READY, true, true},
	{NODE_STATE_IDLE | NODE_STATE_POWERING_DOWN, PM_IS_READY, true, false},
	{ALLOC | NODE_STATE_POWERED_DOWN, PM_NOT_READY, false, false},
	{NODE_STATE_IDLE | NODE_STATE_COMPLETING, PM_IS_READY, false, false},
	{NODE_STATE_IDLE | NODE_STATE_DRAIN, PM_IS_READY, true, false},
	{NODE_STATE_IDLE | NODE_STATE_MAINT, PM_IS_READY, true, false},
	{NODE_STATE_IDLE | NODE_STATE_RES, PM_IS_READY, true, false},
	{NODE_STATE_IDLE | NODE_STATE_NO_RESPOND, PM_NOT_READY, true, false},
};

static void test_states(void)
{
	FOR_EACH(row, rows)
	{
		is_number(pm_node_readiness(row->state), row->readiness, "readiness");
		is_number(pm_node_is_free(row->state), row->is_free, "free");
		is_number(pm_node_is_idle(row->state), row->idle, "idle");
	}
}

static void test_rate(void)
{
	static struct pm_rate rate;
	unsigned allowed = 0;

	for (int i = 0; i < 100; i++)
		allowed += pm_rate_allows(&rate, pm_rate_user(1), 1000);
	is_number(allowed, PM_RATE_BURST, "so many at once");
	ok(pm_rate_allows(&rate, pm_rate_user(2), 1000), "another is not kept out");
	ok(pm_rate_allows(&rate, pm_rate_address(1), 1000), "nor an address of that number");
	allowed = 0;
	for (int i = 0; i < 100; i++)
		allowed += pm_rate_allows(&rate, pm_rate_user(1), 3000);
	is_number(allowed, 2 * PM_RATE_PER_SECOND, "and so many a second later");
	for (uint32_t i = 0; i < 3 * PM_RATE_PEERS; i++)
		(void)pm_rate_allows(&rate, pm_rate_address(i), 4000);
	ok(pm_rate_allows(&rate, pm_rate_user(1), 5000), "more peers than it has places for");
}

/* By the file itself: who may enter the directory is another matter. */
static bool may_read(int dir_fd, uid_t user)
{
	pid_t child = fork();
	int status = -1;

	if (!child)
		_exit(setresuid(user, user, user) || openat(dir_fd, "modes", O_RDONLY) < 0);
	return waitpid(child, &status, 0) == child && !status;
}

static void test_readers(void)
{
	const uid_t slurm = 64030, other = 64031;
	const char *path = scratch_path("modes");
	int dir_fd = open(scratch_dir(), O_PATH | O_DIRECTORY);
	struct pm_err err = {0};

	if (geteuid()) {
		ok(true, "who may read # SKIP not root");
		return;
	}
	(void)chmod(scratch_dir(), 0755);
	is_number(pm_reader_file_write(path, "text\n", NULL, &err), 0, "for everybody");
	ok(may_read(dir_fd, slurm) && may_read(dir_fd, other), "all read it");
	is_number(pm_reader_file_write(path, "text\n", &slurm, &err), 0, err.text);
	ok(may_read(dir_fd, slurm), "SlurmUser reads it");
	ok(!may_read(dir_fd, other), "another does not");
	is_number(pm_reader_file_write(path, "text\n", &(uid_t){0}, &err), 0, "for root");
	ok(!may_read(dir_fd, slurm), "other users cannot read it");
	close(dir_fd);
}

int main(void)
{
	test_states();
	test_rate();
	test_readers();
	return tap_done();
}
