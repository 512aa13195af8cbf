/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <errno.h>
#include <slurm/spank.h>
#include <stdarg.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "spank_plugin/job_output.h"
#include "tests/unit/tap.h"

#define UID 65534
#define GID 65533

static gid_t groups[] = {GID, 65532};

/* Slurm's, of a job of another user. */
spank_err_t spank_get_item(spank_t sp, spank_item_t item, ...)
{
	va_list args;

	(void)sp;
	va_start(args, item);
	if (item == S_JOB_UID)
		*va_arg(args, uid_t *) = UID;
	else if (item == S_JOB_GID)
		*va_arg(args, gid_t *) = GID;
	else {
		*va_arg(args, gid_t **) = groups;
		*va_arg(args, int *) = 2;
	}
	va_end(args);
	return ESPANK_SUCCESS;
}

/* A task with this stdout hands it over, and has become another program since. */
static void run_task(int fd)
{
	pid_t child = fork();

	if (child == 0) {
		(void)dup2(fd, STDOUT_FILENO);
		pm_job_output_give();
		execl("/bin/true", "true", NULL);
		_exit(1);
	}
	(void)waitpid(child, NULL, 0);
}

/* The words on the socket, and who wrote them. */
static const char *received(int fd, struct ucred *ret)
{
	static char words[100];
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(struct ucred))];
	} control;
	struct iovec room = {.iov_base = words, .iov_len = sizeof(words) - 1};
	struct msghdr message = {.msg_iov = &room,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control)};
	ssize_t n = recvmsg(fd, &message, MSG_DONTWAIT);

	words[n > 0 ? n : 0] = '\0';
	if (n > 0)
		memcpy(ret, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(*ret));
	return words;
}

int main(void)
{
	int one = 1, output[2], fd;
	struct ucred writer = {0};

	pm_job_output_give();
	is_number(pm_job_output_take(), -1, "nothing is prepared");
	pm_job_output_prepare();
	is_number(pm_job_output_take(), -1, "the task has not begun");
	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, output) ||
		setsockopt(output[0], SOL_SOCKET, SO_PASSCRED, &one, sizeof(one)))
		return 1;
	run_task(output[1]);
	fd = pm_job_output_take();
	ok(fd >= 0, "the task's stdout outlives its program");
	pm_job_output_write(NULL, fd, "a report\n");
	is_text(received(output[0], &writer), "a report\n", "it is written to");
	is_number(writer.uid, UID, "by the job's user");
	is_number(writer.gid, GID, "and group");
	is_number(pm_job_output_take(), -1, "it is taken once");
	close(output[0]);
	pm_job_output_write(NULL, fd, "for nobody\n");
	is_number(waitpid(-1, NULL, WNOHANG), -1, "no process is left when nobody reads");
	is_number(errno, ECHILD, "none at all");
	return tap_done();
}
