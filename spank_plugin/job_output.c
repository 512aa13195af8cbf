/* SPDX-License-Identifier: Apache-2.0 */
#include "spank_plugin/job_output.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"

#define WRITE_S 10

/* The first end is slurmstepd's, the second the task's. */
static int ends[2] = {-1, -1};

union control {
	struct cmsghdr header;
	char bytes[CMSG_SPACE(sizeof(int))];
};

void pm_job_output_prepare(void)
{
	if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, ends))
		ends[0] = ends[1] = -1;
}

void pm_job_output_give(void)
{
	union control control = {.header = {
					 .cmsg_len = CMSG_LEN(sizeof(int)),
					 .cmsg_level = SOL_SOCKET,
					 .cmsg_type = SCM_RIGHTS,
				 }};
	struct iovec byte = {.iov_base = "1", .iov_len = 1};
	const struct msghdr message = {.msg_iov = &byte,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control)};
	int fd = STDOUT_FILENO;

	if (ends[1] < 0)
		return;
	memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
	(void)sendmsg(ends[1], &message, MSG_DONTWAIT | MSG_NOSIGNAL);
}

int pm_job_output_take(void)
{
	union control control;
	char byte;
	struct iovec room = {.iov_base = &byte, .iov_len = 1};
	struct msghdr message = {.msg_iov = &room,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control)};
	const struct cmsghdr *found;
	int fd = -1;

	if (ends[0] < 0 || recvmsg(ends[0], &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) != 1)
		return -1;
	found = CMSG_FIRSTHDR(&message);
	if (found && found->cmsg_type == SCM_RIGHTS && found->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(&fd, CMSG_DATA(found), sizeof(fd));
	return fd;
}

struct owner {
	uid_t uid;
	gid_t gid, *groups;
	int n_groups;
};

/*
 * By system calls, as the C library's functions would change the threads that this process does not
 * have. For good, as it was root.
 */
static int become(const struct owner *owner)
{
	return syscall(SYS_setgroups, owner->n_groups, owner->groups) ||
	       syscall(SYS_setresgid, owner->gid, owner->gid, owner->gid) ||
	       syscall(SYS_setresuid, owner->uid, owner->uid, owner->uid);
}

static int write_all(int fd, const char *text)
{
	size_t length = strlen(text);

	while (length) {
		ssize_t n = write(fd, text, length);

		if (n <= 0)
			return 1;
		text += n;
		length -= (size_t)n;
	}
	return 0;
}

/* Ended by the signal if it takes too long; slurmstepd has blocked signals. */
static void limit_time(void)
{
	sigset_t none;

	(void)sigemptyset(&none);
	(void)signal(SIGALRM, SIG_DFL);
	(void)signal(SIGPIPE, SIG_DFL);
	(void)signal(SIGXFSZ, SIG_DFL);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	(void)alarm(WRITE_S);
}

void pm_job_output_write(spank_t sp, int fd, const char *text)
{
	struct owner owner = {0};
	pid_t child;

	if (spank_get_item(sp, S_JOB_UID, &owner.uid) != ESPANK_SUCCESS ||
		spank_get_item(sp, S_JOB_GID, &owner.gid) != ESPANK_SUCCESS ||
		spank_get_item(sp, S_JOB_SUPPLEMENTARY_GIDS, &owner.groups, &owner.n_groups) !=
			ESPANK_SUCCESS)
		return;
	child = fork();
	if (child == 0) {
		limit_time();
		_exit(become(&owner) || write_all(fd, text));
	}
	while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
}
