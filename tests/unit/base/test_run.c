/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/run.h"
#include "tests/unit/tap.h"

#define SH(script_) ((const char *const[]){"/bin/sh", "-c", script_, NULL})

static int lock_fd; /* of what is run; 0: none, and no keeper */

static int run(const char *const *argv, unsigned timeout_ms, size_t max, struct pm_output *ret,
	struct pm_err *err)
{
	const struct pm_program how = {.argv = argv,
		.timeout_ms = timeout_ms,
		.lock_fd = lock_fd,
		.max_output_bytes = max};

	return pm_run(&how, ret, err);
}

/* Runs a script that succeeds and compares its stdout. */
static void prints(const char *script, const char *expected, const char *name)
{
	struct pm_output output = {0};

	is_number(run(SH(script), 5000, 0, &output, NULL), 0, name);
	is_text(output.out, expected, "its output");
	pm_output_done(&output);
}

static void test_surroundings(void)
{
	int fd = open("/dev/null", O_RDONLY); /* on purpose without O_CLOEXEC */

	setenv("SECRET", "x", 1);
	prints("echo a; echo b", "a\nb\n", "stdout is captured");
	prints("env | grep -v -e ^PWD -e ^SHLVL -e ^_ -e ^OLDPWD | sort",
		"LC_ALL=C\nPATH=/usr/sbin:/usr/bin:/sbin:/bin\n", "the environment is clean");
	prints("cat", "", "stdin is empty");
	prints("pwd", "/\n", "the working directory is the root");
	prints("ls /proc/self/fd | wc -l", lock_fd ? "5\n" : "4\n",
		"no descriptor of ours is left open but the lock's");
	prints("ps -o pgid= -p $$ | tr -d ' ' | grep -qx $$ && echo own", "own\n",
		"the process group is its own");
	close(fd);
}

static void test_signals(void)
{
	sigset_t blocked, before;

	sigemptyset(&blocked);
	sigaddset(&blocked, SIGTERM);
	sigprocmask(SIG_BLOCK, &blocked, &before);
	signal(SIGPIPE, SIG_IGN);
	prints("sed -nE 's/^Sig(Blk|Ign).*(.{7})$/\\1 \\2/p' /proc/self/status",
		"Blk 0000000\nIgn 0000000\n", "no signal is blocked or ignored");
	signal(SIGPIPE, SIG_DFL);
	sigprocmask(SIG_SETMASK, &before, NULL);
}

static void test_status(void)
{
	struct pm_output output = {0};
	const struct pm_program how = {
		.argv = SH("echo one; echo two; echo bad >&2; exit 7"), .lock_fd = lock_fd};
	char *text;

	is_number(pm_run(&how, &output, NULL), 0, "a program that fails has run");
	is_number(output.status, 7, "its status is told");
	is_text(output.err, "bad\n", "stderr is captured");
	text = pm_run_describe(&how, &output);
	is_text(text,
		"'/bin/sh -c echo one; echo two; echo bad >&2; exit 7' ended with status 7, "
		"printed: 'one | two | bad'",
		"and described in one line");
	free(text);
	pm_output_done(&output);
	is_number(run(SH("kill -9 $$"), 0, 0, &output, NULL), 0, "a program that is killed");
	is_number(output.status, 128 + SIGKILL, "has a status above 128");
	pm_output_done(&output);
}

static void test_refused(void)
{
	const char *const relative[] = {"sh", "-c", "true", NULL}, *const none[] = {NULL};
	const char *const missing[] = {"/nonexistent/tool", "-x", NULL};
	struct pm_output output = {.status = 42};
	struct pm_err err = {0};

	is_number(run(relative, 0, 0, &output, &err), -EINVAL, "a relative path is refused");
	is_number(run(none, 0, 0, &output, &err), -EINVAL, "no program is refused");
	is_number(run(missing, 0, 0, &output, &err), -ENOENT, "a program that is not there");
	is_text(err.text, "run '/nonexistent/tool -x': No such file or directory", "is named");
	is_number(output.status, 42, "the output is untouched");
}

static double seconds_since(const struct timespec *then)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)(now.tv_sec - then->tv_sec) + (double)(now.tv_nsec - then->tv_nsec) / 1e9;
}

/* A zombie that nobody has collected yet is dead. */
static bool is_alive(int pid)
{
	char path[64], state = 'X';
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	file = fopen(path, "r");
	if (!file)
		return false;
	if (fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
		state = 'X';
	fclose(file);
	return !strchr("XZ", state);
}

/* The grandchild prints its pid: it must be gone too. */
static void test_timeout(void)
{
	char pid_file[] = "/tmp/pm-run.XXXXXX", script[200];
	struct pm_output output = {0};
	struct pm_err err = {0};
	struct timespec start;
	FILE *file;
	int pid = 0;

	close(mkstemp(pid_file));
	snprintf(script, sizeof(script), "sleep 60 & echo $! >%s; wait", pid_file);
	clock_gettime(CLOCK_MONOTONIC, &start);
	is_number(run(SH(script), 300, 0, &output, &err), -ETIMEDOUT, "a program that hangs");
	ok(seconds_since(&start) < 5, "is given up in time");
	has_text(err.text, "did not end within 300 ms and was killed", "the error says so");
	file = fopen(pid_file, "r");
	ok(file && fscanf(file, "%d", &pid) == 1 && pid > 0, "it had a child");
	for (int i = 0; i < 100 && is_alive(pid); i++)
		usleep(10000);
	ok(pid > 0 && !is_alive(pid), "which was killed with it");
	if (file)
		fclose(file);
	unlink(pid_file);
}

static void test_output_bound(void)
{
	struct pm_output output = {0};
	struct pm_err err = {0};

	is_number(run(SH("head -c 100 /dev/zero"), 5000, 100, &output, &err), 0, "just enough");
	is_number((long long)output.out_len, 100, "is all there");
	pm_output_done(&output);
	is_number(run(SH("head -c 101 /dev/zero"), 5000, 100, &output, &err), -EFBIG, "too much");
	has_text(err.text, "printed more than 100 bytes", "is said");
	is_number(run(SH("yes"), 5000, 0, &output, &err), -EFBIG, "output without an end ends");
	is_number(run(SH("head -c 900000 /dev/zero | tr '\\0' x; head -c 900000 /dev/zero >&2"),
			  5000, 0, &output, &err),
		0, "both streams at once");
	is_number((long long)(output.out_len + output.err_len), 1800000, "are read whole");
	pm_output_done(&output);
}

/* A daemon that keeps the pipe open is not waited for, and left alone. */
static void test_background(void)
{
	struct pm_output output = {0};
	struct timespec start;
	int pid = 0;

	clock_gettime(CLOCK_MONOTONIC, &start);
	is_number(run(SH("sleep 3 & echo $!"), 10000, 0, &output, NULL), 0, "a program that forks");
	ok(seconds_since(&start) < 2, "is done when it ends itself");
	ok(output.out && sscanf(output.out, "%d", &pid) == 1 && is_alive(pid),
		"what it left behind lives");
	if (pid > 0)
		kill(pid, SIGKILL);
	pm_output_done(&output);
}

static int read_pid(const char *path)
{
	FILE *file = fopen(path, "r");
	int pid = 0;

	if (file && fscanf(file, "%d", &pid) != 1)
		pid = 0;
	if (file)
		fclose(file);
	return pid;
}

static int wait_for_pid(const char *path)
{
	int pid = read_pid(path);

	for (int i = 0; i < 500 && pid <= 0; i++) {
		usleep(10000);
		pid = read_pid(path);
	}
	return pid;
}

static bool ends(int pid)
{
	for (int i = 0; i < 200 && is_alive(pid); i++)
		usleep(10000);
	return !is_alive(pid);
}

/* A process that runs a tool which writes its pid, and is then killed; returns the tool's pid. */
static int kill_caller(const struct pm_program *how, const char *pid_file)
{
	struct pm_output output = {0};
	pid_t caller = fork();
	int pid;

	if (!caller)
		_exit(pm_run(how, &output, NULL) ? 1 : 0);
	pid = wait_for_pid(pid_file);
	kill(caller, SIGKILL);
	waitpid(caller, NULL, 0);
	return pid;
}

static void test_death_of_caller(void)
{
	char pid_file[] = "/tmp/pm-run.XXXXXX", script[100];
	struct pm_program how = {.argv = SH(script), .dies = true};
	int pid;

	close(mkstemp(pid_file));
	snprintf(script, sizeof(script), "echo $$ >%s; exec sleep 60", pid_file);
	pid = kill_caller(&how, pid_file);
	ok(pid > 0 && ends(pid), "a program that only looks dies with its caller");
	how.dies = false;
	unlink(pid_file);
	pid = kill_caller(&how, pid_file);
	ok(pid > 0 && is_alive(pid), "one that changes something goes on");
	if (pid > 0)
		kill(pid, SIGKILL);
	unlink(pid_file);
}

static bool is_free(const char *path)
{
	int fd = open(path, O_RDWR);
	bool taken = fd >= 0 && !flock(fd, LOCK_EX | LOCK_NB);

	close(fd);
	return taken;
}

/* What a debugger holds its parent cannot reap, like a program that a device does not let go of. */
static pid_t trace(const char *pid_file)
{
	pid_t tracer = fork();

	if (tracer)
		return tracer;
	if (lock_fd)
		close(lock_fd);
	if (ptrace(PTRACE_SEIZE, wait_for_pid(pid_file), 0, 0))
		_exit(1);
	sleep(30);
	_exit(0);
}

static pid_t check_unkillable(char *pid_file)
{
	char script[100];
	struct pm_output output = {0};
	struct pm_err err = {0};
	pid_t tracer;

	close(mkstemp(pid_file));
	snprintf(script, sizeof(script), "exec 3>&-; echo $$ >%s; exec sleep 60", pid_file);
	tracer = trace(pid_file);
	is_number(run(SH(script), 1000, 0, &output, &err), -ETIMEDOUT, "what SIGKILL cannot end");
	is_number(waitpid(tracer, NULL, WNOHANG), 0, "is not waited for until it ends");
	return tracer;
}

static void test_unkillable(void)
{
	char pid_file[] = "/tmp/pm-run.XXXXXX";
	pid_t tracer = check_unkillable(pid_file);

	kill(tracer, SIGKILL);
	waitpid(tracer, NULL, 0);
	unlink(pid_file);
}

/* The program closes the lock, as SELinux does, and the caller has released it. */
static void test_unkillable_keeps_lock(void)
{
	char pid_file[] = "/tmp/pm-run.XXXXXX", path[] = "/tmp/pm-lock.XXXXXX";
	pid_t tracer;

	lock_fd = mkstemp(path);
	ok(lock_fd > 0 && !flock(lock_fd, LOCK_EX), "with a lock:");
	tracer = check_unkillable(pid_file);
	close(lock_fd);
	lock_fd = 0;
	ok(!is_free(path), "it keeps the lock");
	kill(tracer, SIGKILL);
	waitpid(tracer, NULL, 0);
	for (int i = 0; i < 200 && !is_free(path); i++)
		usleep(10000);
	ok(is_free(path), "until it ends");
	unlink(pid_file);
	unlink(path);
}

static const struct {
	const char *text;
	size_t length, max;
	const char *quoted;
} quotes[] = {
	{"", 0, 10, ""},
	{"a\nb\n", 4, 10, "a | b"},
	{"a\r\nb", 4, 10, "a | b"},
	{"a\033[0mb\200", 7, 20, "a?[0mb?"},
	{"a\0b", 3, 10, "a?b"},
	{"abcdef", 6, 3, "abc..."},
	{"abc", 3, 3, "abc"},
};

static void test_quote(void)
{
	FOR_EACH(row, quotes)
	{
		char *text = pm_quote(row->text, row->length, row->max);

		is_text(text, row->quoted, "a text is quoted");
		free(text);
	}
}

static void test_each_way(void)
{
	test_surroundings();
	test_signals();
	test_status();
	test_refused();
	test_timeout();
	test_output_bound();
	test_background();
}

int main(void)
{
	test_each_way();
	lock_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	test_each_way();
	close(lock_fd);
	lock_fd = 0;
	test_unkillable();
	test_unkillable_keeps_lock();
	test_death_of_caller();
	test_quote();
	return tap_done();
}
