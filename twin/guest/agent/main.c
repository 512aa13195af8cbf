/* pmtwin-agent: runs commands in the guest for the host, over one virtio-serial port. */
#include "clock.h"
#include "session.h"
#include "sysfs.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PORT_NAME      "pmtwin\n"
#define NOTES	       "/run/pmtwin.notes"
#define HELLO_MS       300
#define LINGER_TICK_MS 100
#define PORT_ROOM      (1 << 20) /* bytes for the host beyond which no command's output is read */
#define SESSIONS_MAX   256
#define FIXED_FDS      3

struct agent {
	int port, notes, signals;
	struct buffer in, out;
	int synced;
	uint8_t token[TOKEN_BYTES];
	struct session *sessions;
	int64_t clock_check_ms;
};

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

static bool is_our_port(const char *name_file)
{
	char name[32];

	return sysfs_read(name_file, name, sizeof(name)) && !strcmp(name, PORT_NAME);
}

/* Through sysfs, because udev's link comes late or never. */
static int open_port(void)
{
	glob_t found;
	int fd = -1;

	if (glob("/sys/class/virtio-ports/*/name", 0, NULL, &found))
		return -1;
	for (size_t i = 0; i < found.gl_pathc && fd < 0; i++) {
		char device[64], *base;

		if (!is_our_port(found.gl_pathv[i]))
			continue;
		*strrchr(found.gl_pathv[i], '/') = 0;
		base = strrchr(found.gl_pathv[i], '/') + 1;
		snprintf(device, sizeof(device), "/dev/%s", base);
		fd = open(device, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	}
	globfree(&found);
	return fd;
}

static int open_signals(void)
{
	sigset_t set;

	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

/* A FIFO; its lines become events on the host. */
static int open_notes(void)
{
	if (mkfifo(NOTES, 0622) && errno != EEXIST)
		return -1;
	return open(NOTES, O_RDWR | O_NONBLOCK | O_CLOEXEC);
}

static void flush(struct agent *agent)
{
	while (agent->out.length) {
		ssize_t n = write(agent->port, agent->out.data, agent->out.length);

		if (n <= 0)
			return;
		buffer_drop(&agent->out, (size_t)n);
	}
}

static void say_hello(struct agent *agent)
{
	if (agent->out.length)
		return;
	buffer_add(&agent->out, MAGIC, MAGIC_BYTES);
	buffer_add(&agent->out, agent->token, TOKEN_BYTES);
}

static void handle(struct agent *agent, const struct frame *frame)
{
	struct session *session = agent->sessions;

	if (frame->kind == OPEN) {
		session = session_start(frame->session, frame->data, frame->length, &agent->out);
		if (session) {
			session->next = agent->sessions;
			agent->sessions = session;
		}
		return;
	}
	while (session && session->number != frame->session)
		session = session->next;
	if (session)
		session_frame(session, frame);
}

static void read_port(struct agent *agent)
{
	uint8_t data[65536];
	ssize_t n = read(agent->port, data, sizeof(data));
	struct frame frame;
	size_t used;

	if (!n)
		usleep(50000); /* the host's end is closed */
	if (n <= 0)
		return;
	buffer_add(&agent->in, data, (size_t)n);
	while (frame_next(&agent->in, &agent->synced, &frame, &used)) {
		handle(agent, &frame);
		buffer_drop(&agent->in, used);
	}
}

static void read_notes(struct agent *agent)
{
	char text[4096], *line, *rest = text;
	ssize_t n = read(agent->notes, text, sizeof(text) - 1);

	if (n <= 0)
		return;
	text[n] = 0;
	while ((line = strsep(&rest, "\n")))
		if (*line)
			frame_add(&agent->out, NOTE, 0, line, strlen(line));
}

static void reap(struct agent *agent)
{
	struct signalfd_siginfo info;
	int status;
	pid_t pid;

	while (read(agent->signals, &info, sizeof(info)) > 0)
		;
	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		for (struct session *s = agent->sessions; s; s = s->next)
			if (s->pid == pid) {
				s->died = true;
				s->died_ms = now_ms();
				s->status = WIFSIGNALED(status) ? -WTERMSIG(status)
								: WEXITSTATUS(status);
			}
}

static void remove_finished(struct agent *agent)
{
	for (struct session **at = &agent->sessions; *at;) {
		struct session *session = *at;

		if (!session_finished(session, now_ms(), &agent->out)) {
			at = &session->next;
			continue;
		}
		*at = session->next;
		session_free(session);
	}
}

static int timeout_ms(const struct agent *agent)
{
	if (!agent->synced)
		return HELLO_MS;
	for (const struct session *s = agent->sessions; s; s = s->next)
		if (s->died)
			return LINGER_TICK_MS;
	return CLOCK_CHECK_MS;
}

static void check_clock(struct agent *agent)
{
	if (now_ms() < agent->clock_check_ms)
		return;
	clock_follow();
	agent->clock_check_ms = now_ms() + CLOCK_CHECK_MS;
}

static int fill(struct agent *agent, struct pollfd *fds)
{
	int n = FIXED_FDS;

	fds[0] = (struct pollfd){
		.fd = agent->port, .events = (short)(POLLIN | (agent->out.length ? POLLOUT : 0))};
	fds[1] = (struct pollfd){.fd = agent->notes, .events = POLLIN};
	fds[2] = (struct pollfd){.fd = agent->signals, .events = POLLIN};
	for (struct session *s = agent->sessions; s && n < FIXED_FDS + SESSION_FDS * SESSIONS_MAX;
		s = s->next, n += SESSION_FDS)
		session_poll(s, fds + n, agent->out.length < PORT_ROOM);
	return n;
}

static void turn(struct agent *agent)
{
	static struct pollfd fds[FIXED_FDS + SESSION_FDS * SESSIONS_MAX];
	int n = fill(agent, fds), at = FIXED_FDS;
	struct session *session = agent->sessions;

	if (poll(fds, (nfds_t)n, timeout_ms(agent)) < 0)
		return;
	for (; session && at < n; session = session->next, at += SESSION_FDS)
		session_ready(session, fds + at, &agent->out);
	if (fds[1].revents)
		read_notes(agent);
	if (fds[2].revents)
		reap(agent);
	if (fds[0].revents & (POLLIN | POLLHUP))
		read_port(agent);
	if (!agent->synced)
		say_hello(agent);
	remove_finished(agent);
	check_clock(agent);
	flush(agent);
}

int main(void)
{
	struct agent agent = {.signals = open_signals(), .notes = open_notes()};

	if (getrandom(agent.token, sizeof(agent.token), 0) < 0)
		return 1;
	while ((agent.port = open_port()) < 0)
		usleep(50000);
	say_hello(&agent);
	flush(&agent);
	for (;;)
		turn(&agent);
}
