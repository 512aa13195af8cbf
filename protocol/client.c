/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "protocol/client.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "protocol/frame.h"

int pm_client_set_timeout(int fd, unsigned timeout_ms)
{
	struct timeval limit = {timeout_ms / 1000, (timeout_ms % 1000) * 1000};

	return setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)) ? -errno : 0;
}

int pm_client_connect(const char *path, unsigned timeout_ms, int *ret_fd, struct pm_err *err)
{
	cleanup_close int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	if (fd < 0)
		return pm_err_sys(err, -errno, "open a socket");
	if (strlen(path) >= sizeof(address.sun_path))
		return pm_err_set(err, -ENAMETOOLONG, "connect to '%s': name too long", path);
	strcpy(address.sun_path, path);
	if (pm_client_set_timeout(fd, timeout_ms) ||
		connect(fd, (struct sockaddr *)&address, sizeof(address)))
		return pm_err_sys(err, -errno, "connect to '%s'", path);
	*ret_fd = fd;
	fd = -1;
	return 0;
}

int pm_client_send_text(int fd, const char *text, unsigned timeout_ms, struct pm_err *err)
{
	size_t length, at = 0;
	cleanup_free char *frame = pm_frame_make(text, strlen(text), &length);
	int rc = pm_client_set_timeout(fd, timeout_ms);

	if (!frame)
		return pm_err_set(
			err, -EMSGSIZE, "request of %zu bytes is empty or too long", strlen(text));
	while (!rc && at < length) {
		ssize_t put = send(fd, frame + at, length - at, MSG_NOSIGNAL);

		if (put < 0 && errno != EINTR)
			rc = errno == EAGAIN ? -ETIMEDOUT : -errno;
		at += put > 0 ? (size_t)put : 0;
	}
	return rc ? pm_err_sys(err, rc, "send the request to pm-controller") : 0;
}

/*
 * 1: the frame is complete, 0: more is to come. Reads byte by byte, so that the next frame stays in
 * the socket.
 */
static int receive_some(int fd, struct pm_frame *frame, uint64_t until_ms)
{
	struct pollfd polled = {.fd = fd, .events = POLLIN};
	uint64_t now = pm_now_ms();
	char data[1];
	ssize_t got;
	size_t used;

	if (now >= until_ms)
		return -ETIMEDOUT;
	if (poll(&polled, 1, (int)(until_ms - now)) <= 0)
		return 0;
	got = recv(fd, data, sizeof(data), MSG_DONTWAIT);
	if (got < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	return got ? pm_frame_take(frame, data, (size_t)got, &used) : -ECONNRESET;
}

int pm_client_receive_text(
	int fd, unsigned timeout_ms, char **ret, size_t *ret_length, struct pm_err *err)
{
	cleanup_with(pm_frame_done) struct pm_frame frame = {0};
	uint64_t until_ms = pm_now_ms() + timeout_ms;
	int rc;

	do
		rc = receive_some(fd, &frame, until_ms);
	while (!rc);
	if (rc < 0)
		return pm_err_sys(err, rc, "receive the reply of pm-controller");
	*ret_length = frame.length;
	*ret = pm_steal(frame.body);
	return 0;
}

int pm_client_send(
	int fd, const struct pm_message *request, unsigned timeout_ms, struct pm_err *err)
{
	cleanup_free char *text = pm_message_format(request);

	return text ? pm_client_send_text(fd, text, timeout_ms, err) : pm_err_nomem(err);
}

int pm_client_parse_reply(const char *text, size_t length, const struct pm_message *request,
	struct pm_message *ret, struct pm_err *err)
{
	cleanup_with(pm_message_done) struct pm_message reply = {0};
	int rc = pm_message_parse(text, length, &reply, err);

	if (rc)
		return rc;
	if (pm_message_is_request(reply.type))
		return pm_err_set(err, -EBADMSG, "pm-controller sent a request, not a reply");
	if (reply.type == PM_MESSAGE_ERROR)
		return pm_err_set(err, -EREMOTEIO, "%s", reply.text);
	if (reply.type == PM_MESSAGE_ELSEWHERE)
		return pm_err_set(err, -EREMOTE, "%s", reply.text);
	if (reply.id != request->id)
		return pm_err_set(err, -EBADMSG, "pm-controller sent a reply to another request");
	*ret = reply;
	memset(&reply, 0, sizeof(reply));
	return 0;
}

int pm_client_receive(int fd, const struct pm_message *request, unsigned timeout_ms,
	struct pm_message *ret, struct pm_err *err)
{
	cleanup_free char *text = NULL;
	size_t length;
	int rc = pm_client_receive_text(fd, timeout_ms, &text, &length, err);

	return rc ? rc : pm_client_parse_reply(text, length, request, ret, err);
}
