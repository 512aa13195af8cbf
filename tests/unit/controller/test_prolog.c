/* SPDX-License-Identifier: Apache-2.0 */
/* prolog_slurmctld and a service that stands by; a second of its sleep takes no time here. */
#define _GNU_SOURCE
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "tests/unit/scratch.h"
#include "tests/unit/tap.h"

int prolog_main(void);
#define main prolog_main
#include "controller/prolog_slurmctld.c"
#undef main

unsigned __wrap_sleep(unsigned seconds);
unsigned __wrap_sleep(unsigned seconds)
{
	(void)seconds;
	return 0;
}

/* --- the service --- */

static int listener;

static void open_service(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	strcpy(address.sun_path, scratch_path("socket"));
	listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ok(!bind(listener, (struct sockaddr *)&address, sizeof(address)) && !listen(listener, 8),
		"a service listens");
	(void)setenv("PM_CONTROLLER_SOCKET", address.sun_path, 1);
}

/* Accepts a request and answers it, when `slurmctld` is gone if that is a process. */
static void answer(enum pm_message_type type, pid_t slurmctld)
{
	cleanup_close int fd = accept(listener, NULL, NULL);
	cleanup_with(pm_message_done) struct pm_message request = {0};
	struct pm_message reply = {.type = type, .text = (char *)"it stands by"};
	cleanup_free char *text = NULL;
	struct pm_err err;
	size_t length;

	if (pm_client_receive_text(fd, 10000, &text, &length, &err) ||
		pm_message_parse(text, length, &request, &err) || request.type != PM_MESSAGE_WAIT)
		ok(false, "a request to wait");
	if (slurmctld) {
		(void)kill(slurmctld, SIGKILL);
		(void)waitpid(slurmctld, NULL, 0);
	}
	reply.id = request.id;
	(void)pm_client_send(fd, &reply, 10000, &err);
}

/* --- slurmctld --- */

static pid_t start_prolog(void)
{
	pid_t child = fork();

	if (child == 0) {
		int status = freopen(scratch_path("stderr"), "w", stderr) ? prolog_main() : -1;

		(void)fflush(stderr);
		_exit(status);
	}
	return child;
}

/* The prolog's parent, which this process inherits the prolog from. */
static pid_t start_slurmctld(void)
{
	pid_t child = fork();

	if (child == 0) {
		(void)start_prolog();
		(void)pause();
		_exit(0);
	}
	return child;
}

/* Serves until the prolog ends, and returns the number of its requests. */
static int serve(int n_elsewhere, pid_t slurmctld)
{
	struct pollfd polled = {.fd = listener, .events = POLLIN};
	int n = 0, status = -1;

	for (pid_t ended = 0; !ended;) {
		ended = waitpid(-1, &status, WNOHANG);
		if (poll(&polled, 1, ended ? 0 : 20) <= 0)
			continue;
		answer(n < n_elsewhere ? PM_MESSAGE_ELSEWHERE : PM_MESSAGE_READY,
			n ? 0 : slurmctld);
		n++;
	}
	is_number(status, 0, "the prolog's exit status");
	return n;
}

static bool asks_slurm(void)
{
	char line[400] = "";
	FILE *file = fopen(scratch_path("stderr"), "r");

	if (file) {
		(void)!fgets(line, sizeof(line), file);
		(void)fclose(file);
	}
	return strstr(line, "it stands by, asking Slurm instead");
}

int main(void)
{
	(void)setenv("SLURM_JOB_ID", "7", 1);
	(void)setenv("SLURM_JOB_UID", "1000", 1);
	(void)setenv("SLURM_JOB_NODELIST", "n1", 1);
	(void)setenv("SLURM_JOB_CONSTRAINTS", "pm_memory", 1);
	(void)prctl(PR_SET_CHILD_SUBREAPER, 1);
	open_service();

	(void)start_prolog();
	is_number(serve(0, 0), 1, "a service that serves is asked once");
	ok(!asks_slurm(), "and not Slurm");
	(void)start_prolog();
	is_number(serve(3, 0), 4, "one that stands by is asked until it serves");
	ok(!asks_slurm(), "and not Slurm");
	(void)start_prolog();
	is_number(serve(1000, 0), 1 + CONTROL_S, "but for so long");
	ok(asks_slurm(), "then Slurm is asked");
	is_number(serve(1000, start_slurmctld()), 1, "without its slurmctld it asks no more");
	ok(!asks_slurm(), "nor Slurm");
	return tap_done();
}
