/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/lock.h"
#include "base/run.h"
#include "tests/unit/scratch.h"
#include "tests/unit/tap.h"

/* A child that holds the lock until it is killed, or for `ms`. */
static pid_t hold(const char *path, unsigned ms)
{
	int ready[2], fd;
	char byte;
	pid_t pid;

	if (pipe(ready) || (pid = fork()) < 0)
		exit(2);
	if (pid) {
		close(ready[1]);
		if (read(ready[0], &byte, 1) != 1)
			exit(2);
		close(ready[0]);
		return pid;
	}
	if (pm_lock_take(path, "verify", 0, &fd, NULL) || write(ready[1], "x", 1) != 1)
		_exit(2);
	usleep(ms * 1000);
	_exit(0);
}

static void test_lock(void)
{
	const char *path = scratch_path("lock");
	struct pm_err err = {0};
	char holder[64];
	int fd = -1;
	pid_t pid = hold(path, 60000);

	snprintf(holder, sizeof(holder), "held by pmctl verify (pid %d)", (int)pid);
	is_number(pm_lock_take(path, "set", 0, &fd, &err), -EBUSY, "a held lock");
	has_text(err.text, holder, "names its holder");
	is_number(pm_lock_take(path, "set", 100, &fd, &err), -EBUSY, "waiting has an end");
	ok(fd == -1, "the result is untouched");
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	is_number(pm_lock_take(path, "set", 0, &fd, &err), 0, "a holder's death releases it");
	close(fd);
	pid = hold(path, 300);
	is_number(pm_lock_take(path, "set", 5000, &fd, &err), 0, "waiting helps");
	waitpid(pid, NULL, 0);
	close(fd);
	is_number(pm_lock_take(scratch_path("no/lock"), "set", 0, &fd, &err), -ENOENT, "no place");
}

/* A child that takes the lock, hands it to a program that writes its pid to $0, and is killed. */
static int leave_tool(const char *path, const char *script, const char *pid_path)
{
	const char *const argv[] = {"/bin/sh", "-c", script, pid_path, NULL};
	struct pm_program run = {.argv = argv};
	struct pm_output output = {0};
	pid_t caller = fork();
	FILE *file = NULL;
	int pid = 0;

	if (!caller)
		_exit(pm_lock_take(path, "set", 0, &run.lock_fd, NULL) ||
			pm_run(&run, &output, NULL));
	for (int i = 0; i < 500 && (!file || fscanf(file, "%d", &pid) != 1); i++) {
		usleep(10000);
		file = file ? freopen(pid_path, "r", file) : fopen(pid_path, "r");
	}
	if (file)
		fclose(file);
	kill(caller, SIGKILL);
	waitpid(caller, NULL, 0);
	return pid;
}

static void check_left_tool(const char *script)
{
	const char *path = scratch_path("left"), *pid_path = scratch_path("tool.pid");
	struct pm_err err = {0};
	char holder[64];
	int fd = -1, pid;

	unlink(pid_path);
	pid = leave_tool(path, script, pid_path);

	snprintf(holder, sizeof(holder), "held by 'sleep 60' (pid %d), left behind by pmctl set",
		pid);
	is_number(pm_lock_take(path, "verify", 100, &fd, &err), -EBUSY,
		"what a killed pmctl was running keeps the lock");
	has_text(err.text, holder, "and is named");
	if (pid > 0)
		kill(pid, SIGKILL);
	is_number(pm_lock_take(path, "verify", 5000, &fd, &err), 0, "until it ends");
	close(fd);
}

#define BECOME_TOOL "echo $$ >\"$0\"; exec sleep 60"

int main(void)
{
	test_lock();
	check_left_tool(BECOME_TOOL);
	check_left_tool("exec 3>&-; " BECOME_TOOL); /* as SELinux does, of another domain's tool */
	check_left_tool("kill -KILL $PPID; " BECOME_TOOL); /* without its keeper */
	return tap_done();
}
