/* Commands: starting them as a user, and moving their bytes. */
#include "session.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATH	  "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
#define LINGER_MS 500 /* wait for output of children that outlive a command */
#define ARGS_MAX  4096

static void refuse(
	struct buffer *port, uint32_t number, int status, const char *what, const char *why)
{
	uint8_t code[4];
	char text[4352];
	int length = snprintf(text, sizeof(text), "pmtwin: %s: %s\n", what, why);

	frame_add(port, STDERR, number, text, (size_t)length);
	put_u32(code, (uint32_t)status);
	frame_add(port, EXIT, number, code, sizeof(code));
}

/* The environment of a login; runs in the child. */
static void set_environment(const struct passwd *user)
{
	clearenv();
	setenv("HOME", user->pw_dir, 1);
	setenv("USER", user->pw_name, 1);
	setenv("LOGNAME", user->pw_name, 1);
	setenv("SHELL", *user->pw_shell ? user->pw_shell : "/bin/sh", 1);
	setenv("PATH", PATH, 1);
	setenv("LANG", "C.UTF-8", 1);
}

static int become(const struct passwd *user)
{
	if (!user->pw_uid)
		return 0;
	if (initgroups(user->pw_name, user->pw_gid) || setgid(user->pw_gid) || setuid(user->pw_uid))
		return -1;
	return 0;
}

/* Never returns; the errno of a failure goes into the pipe `report`. */
static void child(
	const struct passwd *user, bool login, char *const *argv, const int streams[3], int report)
{
	sigset_t none;
	int code;

	setsid();
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	for (int i = 0; i < 3; i++)
		dup2(streams[i], i);
	set_environment(user);
	if (!become(user) && !chdir(login ? user->pw_dir : "/"))
		execvp(argv[0], argv);
	code = errno;
	while (write(report, &code, sizeof(code)) < 0 && errno == EINTR)
		;
	_exit(127);
}

/* Both ends of three pipes: the command's in `theirs`, ours in the session. */
static int make_pipes(struct session *session, int theirs[3])
{
	int pipes[3][2];

	for (int i = 0; i < 3; i++)
		if (pipe2(pipes[i], O_CLOEXEC))
			return -1;
	theirs[0] = pipes[0][0];
	theirs[1] = pipes[1][1];
	theirs[2] = pipes[2][1];
	session->in = pipes[0][1];
	session->out[0] = pipes[1][0];
	session->out[1] = pipes[2][0];
	fcntl(session->in, F_SETFL, O_NONBLOCK);
	return 0;
}

/* Forks; returns 0 or the errno with which the command did not start. */
static int start(struct session *session, const struct passwd *user, bool login, char *const *argv)
{
	int theirs[3], report[2], code = 0;

	if (make_pipes(session, theirs) || pipe2(report, O_CLOEXEC))
		return errno;
	session->pid = fork();
	if (!session->pid)
		child(user, login, argv, theirs, report[1]);
	for (int i = 0; i < 3; i++)
		close(theirs[i]);
	close(report[1]);
	if (session->pid < 0)
		code = EAGAIN;
	else if (read(report[0], &code, sizeof(code)) < 0)
		code = errno;
	close(report[0]);
	return code;
}

/* Splits the words of an OPEN frame; returns how many there are, -1 if they are malformed. */
static int split(const uint8_t *words, size_t length, const char **ret, int max)
{
	int n = 0;

	if (!length || words[length - 1])
		return -1;
	for (size_t at = 0; at < length && n < max; at += strlen((const char *)words + at) + 1)
		ret[n++] = (const char *)words + at;
	return n < 3 || n == max ? -1 : n;
}

struct session *session_start(
	uint32_t number, const uint8_t *words, size_t length, struct buffer *port)
{
	const char *word[ARGS_MAX];
	int code, n = split(words, length, word, ARGS_MAX);
	const struct passwd *user = n < 0 ? NULL : getpwnam(word[0]);
	struct session *session;

	if (!user) {
		refuse(port, number, 125, n < 0 ? "command" : word[0],
			n < 0 ? "cannot be understood, or has too many words"
			      : "no such user on this node");
		return NULL;
	}
	word[n] = NULL;
	session = calloc(1, sizeof(*session));
	if (!session)
		abort();
	*session = (struct session){
		.number = number, .in = -1, .out = {-1, -1}, .credit = {WINDOW, WINDOW}};
	code = start(session, user, !strcmp(word[1], "login"), (char *const *)(word + 2));
	if (code) {
		refuse(port, number, code == ENOENT ? 127 : 126, word[2], strerror(code));
		session_free(session);
		return NULL;
	}
	return session;
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void session_frame(struct session *session, const struct frame *frame)
{
	switch (frame->kind) {
	case STDIN:
		if (frame->length)
			buffer_add(&session->input, frame->data, frame->length);
		else
			session->input_ends = true;
		break;
	case SIGNAL:
		if (!session->died && frame->length)
			kill(-session->pid, frame->data[0]);
		break;
	case CLOSE:
		kill(-session->pid, SIGHUP);
		kill(-session->pid, SIGCONT);
		close_fd(&session->in);
		close_fd(&session->out[0]);
		close_fd(&session->out[1]);
		break;
	case CREDIT:
		if (frame->length == 5)
			session->credit[frame->data[0] & 1] += get_u32(frame->data + 1);
		break;
	default:
		break;
	}
	if (session->input_ends && !session->input.length)
		close_fd(&session->in);
}

void session_poll(const struct session *session, struct pollfd *fds, bool port_has_room)
{
	fds[0] = (struct pollfd){.fd = session->input.length ? session->in : -1, .events = POLLOUT};
	for (int i = 0; i < 2; i++) {
		bool wanted = port_has_room && session->credit[i];

		fds[1 + i] = (struct pollfd){.fd = wanted ? session->out[i] : -1, .events = POLLIN};
	}
}

static void feed(struct session *session, struct buffer *port)
{
	uint8_t credit[5] = {0};
	ssize_t n = write(session->in, session->input.data, session->input.length);

	if (n < 0 && errno == EAGAIN)
		return;
	if (n < 0) {
		close_fd(&session->in);
		n = (ssize_t)session->input.length;
	}
	put_u32(credit + 1, (uint32_t)n);
	frame_add(port, CREDIT, session->number, credit, sizeof(credit));
	buffer_drop(&session->input, (size_t)n);
	if (session->input_ends && !session->input.length)
		close_fd(&session->in);
}

static void drain(struct session *session, int which, struct buffer *port)
{
	uint8_t data[CHUNK];
	size_t size = session->credit[which] < sizeof(data) ? session->credit[which] : sizeof(data);
	ssize_t n = read(session->out[which], data, size);

	if (n < 0)
		return;
	frame_add(port, which ? STDERR : STDOUT, session->number, data, (size_t)n);
	session->credit[which] -= (uint32_t)n;
	if (!n)
		close_fd(&session->out[which]);
}

void session_ready(struct session *session, const struct pollfd *fds, struct buffer *port)
{
	if (fds[0].fd >= 0 && fds[0].revents)
		feed(session, port);
	for (int i = 0; i < 2; i++)
		if (fds[1 + i].fd >= 0 && fds[1 + i].revents)
			drain(session, i, port);
}

bool session_finished(struct session *session, int64_t now_ms, struct buffer *port)
{
	uint8_t code[4];
	bool open = session->out[0] >= 0 || session->out[1] >= 0;
	bool behind = !session->credit[0] || !session->credit[1];

	if (!session->died || (open && (behind || now_ms < session->died_ms + LINGER_MS)))
		return false;
	put_u32(code, (uint32_t)session->status);
	frame_add(port, EXIT, session->number, code, sizeof(code));
	return true;
}

void session_free(struct session *session)
{
	close_fd(&session->in);
	close_fd(&session->out[0]);
	close_fd(&session->out[1]);
	free(session->input.data);
	free(session);
}
