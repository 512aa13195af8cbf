/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "base/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"

#define LOCK_FD 3 /* of the program, after its stderr */

static const char *const clean_env[] = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C", NULL};

static int spawn_attributes(posix_spawnattr_t *attr)
{
	sigset_t all, none;

	sigfillset(&all);
	sigdelset(&all, SIGKILL);
	sigdelset(&all, SIGSTOP);
	sigemptyset(&none);
	posix_spawnattr_setsigdefault(attr, &all);
	posix_spawnattr_setsigmask(attr, &none);
	posix_spawnattr_setpgroup(attr, 0);
	return posix_spawnattr_setflags(
		attr, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
}

static int spawn_descriptors(
	posix_spawn_file_actions_t *actions, const struct pm_program *run, int out, int err)
{
	int rc = posix_spawn_file_actions_addopen(actions, 0, "/dev/null", O_RDONLY, 0);

	if (!rc)
		rc = posix_spawn_file_actions_adddup2(actions, out, 1);
	if (!rc)
		rc = posix_spawn_file_actions_adddup2(actions, err, 2);
	if (!rc && run->lock_fd)
		rc = posix_spawn_file_actions_adddup2(actions, run->lock_fd, LOCK_FD);
	if (!rc)
		rc = posix_spawn_file_actions_addclosefrom_np(
			actions, run->lock_fd ? LOCK_FD + 1 : LOCK_FD);
	if (!rc)
		rc = posix_spawn_file_actions_addchdir_np(actions, "/");
	return rc;
}

static int spawn(const struct pm_program *run, int out, int err, pid_t *ret)
{
	const char *const *env = run->env ? run->env : clean_env;
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	int rc;

	posix_spawn_file_actions_init(&actions);
	posix_spawnattr_init(&attr);
	rc = spawn_descriptors(&actions, run, out, err);
	if (!rc)
		rc = spawn_attributes(&attr);
	if (!rc)
		rc = posix_spawn(ret, run->argv[0], &actions, &attr, (char *const *)run->argv,
			(char *const *)env);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attr);
	return -rc;
}

/* From here to become(): code of a forked child. The parent may have threads, so the child makes
 * only system calls. */
static void reset_signals(void)
{
	const struct sigaction plain = {.sa_handler = SIG_DFL};
	sigset_t none;

	for (int i = 1; i < NSIG; i++)
		(void)sigaction(i, &plain, NULL);
	sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
}

static bool set_descriptors(const struct pm_program *run, int out, int err)
{
	int null = open("/dev/null", O_RDONLY);

	if (null < 0 || dup2(null, 0) < 0 || dup2(out, 1) < 0 || dup2(err, 2) < 0)
		return false;
	if (close_range(LOCK_FD, ~0U, CLOSE_RANGE_CLOEXEC))
		return false;
	return !run->lock_fd || !fcntl(run->lock_fd, F_SETFD, 0);
}

/* A parent that died before prctl(2) causes no signal, hence getppid(). Returns only on failure. */
static void become(const struct pm_program *run, pid_t parent, int out, int err)
{
	const char *const *env = run->env ? run->env : clean_env;

	if (setpgid(0, 0) || !set_descriptors(run, out, err) || chdir("/") ||
		prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != parent)
		return;
	reset_signals();
	execve(run->argv[0], (char *const *)run->argv, (char *const *)env);
}

/* Of a forked child that starts the program, to its parent. Nothing: it has become the program. */
struct message {
	int rc; /* 0 or a negative errno */
	pid_t program;
};

typedef void start_fn(const struct pm_program *run, pid_t parent, int out, int err, int to_parent);

static void send_message(int fd, struct message message)
{
	(void)!write(fd, &message, sizeof(message));
}

static void start_dying(const struct pm_program *run, pid_t parent, int out, int err, int to_parent)
{
	become(run, parent, out, err);
	send_message(to_parent, (struct message){.rc = -errno});
	_exit(127);
}

/* A descriptor of the caller's pipes would keep them open. */
static void close_all_but(int fd)
{
	if (fd > 0)
		(void)close_range(0, (unsigned)fd - 1, 0);
	(void)close_range((unsigned)fd + 1, ~0U, 0);
}

/* The program's status as struct pm_output has it. */
static int wait_for(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) != pid)
		if (errno != EINTR)
			return 127;
	return pm_spawn_status(status);
}

/*
 * The caller may be dead by now, and told in vain: the program runs all the same. posix_spawn(3)
 * and its attributes allocate memory, which is safe here: glibc's fork(3) leaves malloc(3) usable.
 */
static void start_kept(const struct pm_program *run, pid_t parent, int out, int err, int to_parent)
{
	struct message message = {0};

	(void)parent;
	(void)setpgid(0, 0);
	message.rc = spawn(run, out, err, &message.program);
	send_message(to_parent, message);
	close_all_but(run->lock_fd);
	(void)!chdir("/");
	_exit(message.rc ? 127 : wait_for(message.program));
}

/* All signals are blocked meanwhile, so that no signal handler of the parent runs in the child. */
static pid_t fork_child(
	const struct pm_program *run, int out, int err, int to_parent, start_fn *start)
{
	pid_t parent = getpid(), pid;
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pid = fork();
	if (!pid)
		start(run, parent, out, err, to_parent);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return pid;
}

static struct message read_message(int fd)
{
	struct message message;
	ssize_t got;

	do
		got = read(fd, &message, sizeof(message));
	while (got < 0 && errno == EINTR);
	return got == sizeof(message) ? message : (struct message){0};
}

static int spawn_by(
	start_fn *start, const struct pm_program *run, int out, int err, struct pm_spawned *ret)
{
	cleanup_close int reader = -1;
	struct message message;
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	reader = ends[0];
	ret->pid = fork_child(run, out, err, ends[1], start);
	message = (struct message){.rc = ret->pid < 0 ? -errno : 0};
	close(ends[1]);
	if (ret->pid > 0)
		message = read_message(reader);
	if (message.rc && ret->pid > 0)
		(void)waitpid(ret->pid, NULL, 0);
	ret->group = message.program ? message.program : ret->pid;
	return message.rc;
}

static int spawn_free(const struct pm_program *run, int out, int err, struct pm_spawned *ret)
{
	int rc = spawn(run, out, err, &ret->pid);

	ret->group = ret->pid;
	return rc;
}

int pm_spawn(const struct pm_program *run, int out, int err, struct pm_spawned *ret)
{
	if (run->dies)
		return spawn_by(start_dying, run, out, err, ret);
	if (run->lock_fd)
		return spawn_by(start_kept, run, out, err, ret);
	return spawn_free(run, out, err, ret);
}

int pm_spawn_status(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
