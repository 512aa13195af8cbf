/* SPDX-License-Identifier: Apache-2.0 */
#include "node/act/background.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/asprintf.h"
#include "base/cleanup.h"

#define LOWEST	19
#define WORDS	6
#define PROGRAM "/proc/self/exe"

/*
 * Leaves everything of the caller: its locks, pipes that a reader waits on until they are closed,
 * and its signal mask.
 */
static void leave_caller(void)
{
	sigset_t none;
	int null = open("/dev/null", O_RDWR);

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	(void)setsid();
	(void)setpriority(PRIO_PROCESS, 0, LOWEST);
	if (null < 0 || chdir("/"))
		_exit(1);
	for (int fd = 0; fd < 3; fd++)
		(void)dup2(null, fd);
	(void)syscall(SYS_close_range, 3, ~0U, 0);
}

/* Forks again, so that the caller has only to wait for this short-lived process. */
static void become(char *const *argv)
{
	static char *const env[] = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C", NULL};

	leave_caller();
	if (fork() == 0)
		execve(PROGRAM, argv, env);
	_exit(0);
}

static void start(char *const *argv)
{
	pid_t child = fork();

	if (child == 0)
		become(argv);
	while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
}

void pm_background_start(const struct pm_operation *op, const char *const *verb)
{
	char *argv[WORDS] = {"pmctl"};
	cleanup_free char *path = op->config_path ? realpath(op->config_path, NULL) : NULL;
	cleanup_free char *config = path ? pm_asprintf("--config=%s", path) : NULL;
	cleanup_free char *node = pm_asprintf("--node=%s", op->config.node);
	int n = 1;

	for (; verb[n - 1] && n < 3; n++)
		argv[n] = (char *)verb[n - 1];
	if (config)
		argv[n++] = config;
	if (node)
		argv[n++] = node;
	start(argv);
}
