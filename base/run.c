/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "base/run.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>

#include "base/asprintf.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/spawn.h"

#define DEFAULT_MAX_OUTPUT (1024 * 1024)
#define STEP_MS		   20 /* how soon the end of a program that left its pipes open is seen */
#define KILL_WAIT_MS	   5000
#define QUOTE_BYTES	   400

struct stream {
	int fd; /* our end of the pipe, -1 after its end */
	char *data;
	size_t length;
};

struct child {
	struct pm_spawned process;
	struct stream streams[2]; /* stdout, stderr */
	uint64_t started_ms;
};

static void stream_close(struct stream *stream)
{
	if (stream->fd >= 0)
		close(stream->fd);
	stream->fd = -1;
}

static void child_done(struct child *child)
{
	for (int i = 0; i < 2; i++) {
		stream_close(&child->streams[i]);
		free(child->streams[i].data);
	}
}

/* Both ends are above 2, so that the child's dup2(2) to 0, 1 and 2 overwrites none of them. */
static int make_pipe(int ends[2])
{
	int raw[2];

	if (pipe2(raw, O_CLOEXEC))
		return -errno;
	for (int i = 0; i < 2; i++) {
		ends[i] = fcntl(raw[i], F_DUPFD_CLOEXEC, 3);
		close(raw[i]);
	}
	if (ends[0] >= 0 && ends[1] >= 0 && !fcntl(ends[0], F_SETFL, O_NONBLOCK))
		return 0;
	return -EMFILE;
}

static int start(const struct pm_program *run, struct child *child)
{
	int pipes[2][2] = {{-1, -1}, {-1, -1}};
	int rc = make_pipe(pipes[0]);

	if (!rc)
		rc = make_pipe(pipes[1]);
	if (!rc)
		rc = pm_spawn(run, pipes[0][1], pipes[1][1], &child->process);
	for (int i = 0; i < 2; i++) {
		child->streams[i].fd = pipes[i][0];
		if (pipes[i][1] >= 0)
			close(pipes[i][1]);
	}
	return rc;
}

static int stream_append(struct stream *stream, const char *data, size_t length, size_t max_bytes)
{
	char *grown;

	if (length > max_bytes - stream->length)
		return -EFBIG;
	grown = realloc(stream->data, stream->length + length + 1);
	if (!grown)
		return -ENOMEM;
	memcpy(grown + stream->length, data, length);
	stream->data = grown;
	stream->length += length;
	stream->data[stream->length] = '\0';
	return 0;
}

/* Reads without waiting; closes the stream at its end. */
static int stream_drain(struct stream *stream, size_t max_bytes)
{
	char buffer[16384];

	while (stream->fd >= 0) {
		ssize_t got = read(stream->fd, buffer, sizeof(buffer));
		int rc;

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return errno == EAGAIN ? 0 : -errno;
		if (got == 0)
			stream_close(stream);
		rc = got ? stream_append(stream, buffer, (size_t)got, max_bytes) : 0;
		if (rc)
			return rc;
	}
	return 0;
}

static int drain(struct child *child, size_t max_bytes)
{
	int rc = stream_drain(&child->streams[0], max_bytes);

	return rc ? rc : stream_drain(&child->streams[1], max_bytes);
}

static void wait_for_output(const struct child *child)
{
	struct pollfd fds[2];
	bool open = child->streams[0].fd >= 0 || child->streams[1].fd >= 0;

	for (int i = 0; i < 2; i++)
		fds[i] = (struct pollfd){.fd = child->streams[i].fd, .events = POLLIN};
	(void)poll(fds, 2, open ? STEP_MS : 1);
}

static bool has_ended(const struct child *child, int *ret_status)
{
	int status;

	if (waitpid(child->process.pid, &status, WNOHANG) != child->process.pid)
		return false;
	*ret_status = pm_spawn_status(status);
	return true;
}

static size_t max_bytes_of(const struct pm_program *run)
{
	return run->max_output_bytes ? run->max_output_bytes : DEFAULT_MAX_OUTPUT;
}

static int supervise(const struct pm_program *run, struct child *child, int *ret_status)
{
	size_t max_bytes = max_bytes_of(run);

	for (;;) {
		bool ended;
		int rc;

		wait_for_output(child);
		ended = has_ended(child, ret_status);
		rc = drain(child, max_bytes);
		if (ended) /* reaped: its pid may be another process now, so it is not killed */
			return rc;
		if (rc)
			return rc;
		if (run->timeout_ms && pm_now_ms() - child->started_ms >= run->timeout_ms)
			return -ETIMEDOUT;
	}
}

/* SIGKILL does not end a program that waits in the kernel for a hanging device, hence the bound. */
static void kill_group(const struct child *child)
{
	int status;

	(void)kill(-child->process.group, SIGKILL);
	for (unsigned ms = 0; ms < KILL_WAIT_MS && !has_ended(child, &status); ms += STEP_MS)
		(void)poll(NULL, 0, STEP_MS);
}

char *pm_run_line(const char *const *argv)
{
	char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);

	if (!stream)
		return NULL;
	for (size_t i = 0; argv[i]; i++)
		fprintf(stream, "%s%s", i ? " " : "", argv[i]);
	fclose(stream);
	return text;
}

static int explain(const struct pm_program *run, int code, struct pm_err *err)
{
	cleanup_free char *line = pm_run_line(run->argv);

	if (code == -ETIMEDOUT)
		return pm_err_set(err, code, "run '%s': it did not end within %u ms and was killed",
			line ? line : run->argv[0], run->timeout_ms);
	if (code == -EFBIG)
		return pm_err_set(err, code,
			"run '%s': it printed more than %zu bytes and was killed",
			line ? line : run->argv[0], max_bytes_of(run));
	return pm_err_sys(err, code, "run '%s'", line ? line : run->argv[0]);
}

static int hand_over(struct stream *stream, char **ret, size_t *ret_length)
{
	if (!stream->data)
		stream->data = calloc(1, 1);
	if (!stream->data)
		return -ENOMEM;
	*ret = pm_steal(stream->data);
	*ret_length = stream->length;
	return 0;
}

static int collect(struct child *child, int status, struct pm_output *ret)
{
	struct pm_output output = {.status = status};
	int rc = hand_over(&child->streams[0], &output.out, &output.out_len);

	if (!rc)
		rc = hand_over(&child->streams[1], &output.err, &output.err_len);
	if (rc) {
		pm_output_done(&output);
		return rc;
	}
	output.elapsed_ms = (unsigned)(pm_now_ms() - child->started_ms);
	*ret = output;
	return 0;
}

int pm_run(const struct pm_program *run, struct pm_output *ret, struct pm_err *err)
{
	cleanup_with(child_done) struct child child = {
		.streams = {{.fd = -1}, {.fd = -1}}, .started_ms = pm_now_ms()};
	int status = -1;
	int rc;

	if (!run->argv || !run->argv[0] || run->argv[0][0] != '/')
		return pm_err_set(err, -EINVAL, "run '%s': the path must be absolute",
			run->argv && run->argv[0] ? run->argv[0] : "");
	rc = start(run, &child);
	if (rc)
		return explain(run, rc, err);
	rc = supervise(run, &child, &status);
	if (rc && status < 0)
		kill_group(&child);
	if (!rc)
		rc = collect(&child, status, ret);
	return rc ? explain(run, rc, err) : 0;
}

void pm_output_done(struct pm_output *output)
{
	free(output->out);
	free(output->err);
	*output = (struct pm_output){0};
}

static void put_byte(FILE *stream, char byte)
{
	if (byte == '\n')
		fputs(" | ", stream);
	else if (byte != '\r')
		fputc(isprint((unsigned char)byte) ? byte : '?', stream);
}

char *pm_quote(const char *text, size_t length, size_t max_bytes)
{
	char *quoted = NULL;
	size_t size;
	FILE *stream = open_memstream(&quoted, &size);

	if (!stream)
		return NULL;
	while (length && isspace((unsigned char)text[length - 1]))
		length--;
	for (size_t i = 0; i < length && i < max_bytes; i++)
		put_byte(stream, text[i]);
	if (length > max_bytes)
		fputs("...", stream);
	fclose(stream);
	return quoted;
}

char *pm_run_describe(const struct pm_program *run, const struct pm_output *output)
{
	cleanup_free char *line = pm_run_line(run->argv);
	cleanup_free char *out = pm_quote(output->out, output->out_len, QUOTE_BYTES);
	cleanup_free char *err = pm_quote(output->err, output->err_len, QUOTE_BYTES);

	if (!line || !out || !err)
		return NULL;
	return pm_asprintf("'%s' ended with status %d, printed: '%s%s%s'", line, output->status,
		out, *out && *err ? " | " : "", err);
}
