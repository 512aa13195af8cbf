/* SPDX-License-Identifier: Apache-2.0 */
#include "launcher/family.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"

static const int passed_on[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};

struct family {
	pid_t *pids; /* 0 once it has ended */
	unsigned n;
	unsigned alive;
	int status; /* of the first rank that failed */
	sigset_t watched;
	sigset_t mask_before;
	struct sigaction child_before; /* an inherited SIG_IGN would keep SIGCHLD from coming */
};

/* Called before the first fork(2): the signals stay blocked, so that sigwaitinfo() misses none. */
static void watch(struct family *family)
{
	sigemptyset(&family->watched);
	sigaddset(&family->watched, SIGCHLD);
	for (size_t i = 0; i < sizeof(passed_on) / sizeof(passed_on[0]); i++)
		sigaddset(&family->watched, passed_on[i]);
	sigprocmask(SIG_BLOCK, &family->watched, &family->mask_before);
	sigaction(SIGCHLD, &(struct sigaction){.sa_handler = SIG_DFL}, &family->child_before);
}

static void unwatch(const struct family *family)
{
	sigaction(SIGCHLD, &family->child_before, NULL);
	sigprocmask(SIG_SETMASK, &family->mask_before, NULL);
}

static void take_stdin_away(void)
{
	int fd = open("/dev/null", O_RDONLY);

	if (fd > STDIN_FILENO) {
		(void)dup2(fd, STDIN_FILENO);
		close(fd);
	}
}

static _Noreturn void live(const struct family *family, unsigned rank, pid_t parent,
	pm_family_rank *become, void *data)
{
	(void)prctl(PR_SET_PDEATHSIG, SIGTERM);
	/* A parent that died before prctl(2) causes no signal. */
	if (getppid() != parent)
		_exit(128 + SIGTERM);
	if (rank)
		take_stdin_away();
	unwatch(family);
	_exit(become(rank, data));
}

static void send(const struct family *family, int number)
{
	for (unsigned i = 0; i < family->n; i++)
		if (family->pids[i])
			(void)kill(family->pids[i], number);
}

static int start(struct family *family, pm_family_rank *become, void *data, struct pm_err *err)
{
	pid_t parent = getpid();

	for (unsigned rank = 0; rank < family->n; rank++) {
		pid_t pid = fork();

		if (pid < 0)
			return pm_err_sys(err, -errno, "start rank %u of %u", rank, family->n);
		if (!pid)
			live(family, rank, parent, become, data);
		family->pids[rank] = pid;
		family->alive++;
	}
	return 0;
}

static void note_end(struct family *family, pid_t pid, int status)
{
	int code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);

	for (unsigned i = 0; i < family->n; i++) {
		if (family->pids[i] != pid)
			continue;
		family->pids[i] = 0;
		family->alive--;
		if (!family->status)
			family->status = code;
	}
}

static void reap(struct family *family)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		note_end(family, pid, status);
}

/* False: the kernel has sent it to the whole process group, for a key of the terminal. */
static bool is_for_us_alone(const siginfo_t *info)
{
	return info->si_code != SI_KERNEL;
}

static void attend(struct family *family)
{
	while (family->alive) {
		siginfo_t info;
		int number = sigwaitinfo(&family->watched, &info);

		if (number == SIGCHLD)
			reap(family);
		else if (number > 0 && is_for_us_alone(&info))
			send(family, number);
	}
}

int pm_family_run(
	unsigned n, pm_family_rank *become, void *data, int *ret_status, struct pm_err *err)
{
	cleanup_free pid_t *pids = calloc(n, sizeof(*pids));
	struct family family = {.pids = pids, .n = n};
	int rc;

	if (!pids)
		return pm_err_nomem(err);
	watch(&family);
	rc = start(&family, become, data, err);
	if (rc)
		send(&family, SIGTERM);
	attend(&family);
	unwatch(&family);
	if (rc)
		return rc;
	*ret_status = family.status;
	return 0;
}
