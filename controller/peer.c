/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "controller/peer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "protocol/credential.h"

/*
 * After its request a peer sends nothing more: any byte, or the end of the stream, closes the peer.
 */
int pm_peer_read(struct pm_peer *peer)
{
	char data[4096];
	ssize_t got = recv(peer->fd, data, sizeof(data), MSG_DONTWAIT);
	size_t used;
	int rc;

	if (got < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	if (got == 0 || peer->has_request)
		return -ECONNRESET;
	rc = pm_frame_take(&peer->in, data, (size_t)got, &used);
	if (!rc)
		return 0;
	return rc < 0 ? rc : used == (size_t)got ? 1 : -EMSGSIZE;
}

int pm_peer_read_request(struct pm_peer *peer, const char *munge_socket, struct pm_err *err)
{
	cleanup_free char *opened = NULL;
	const char *text = peer->in.body;
	size_t length = peer->in.length;
	int rc = 0;

	peer->has_request = true;
	peer->asked_ms = pm_now_ms();
	if (peer->remote) {
		rc = pm_credential_open(munge_socket, text, &opened, &peer->uid, err);
		text = opened;
		length = rc ? 0 : strlen(opened);
	}
	if (!rc)
		rc = pm_message_parse(text, length, &peer->request, err);
	if (rc)
		return rc;
	peer->id = peer->request.id;
	if (pm_message_is_request(peer->request.type))
		return 0;
	return pm_err_set(err, -EBADMSG, "message is not a request");
}

static int as_body(
	const struct pm_peer *peer, const char *munge_socket, char **text, struct pm_err *err)
{
	char *sealed = NULL;
	int rc;

	if (!peer->remote)
		return 0;
	rc = pm_credential_make(munge_socket, peer->uid, *text, &sealed, err);
	if (rc)
		return rc;
	free(*text);
	*text = sealed;
	return 0;
}

int pm_peer_reply(struct pm_peer *peer, const char *munge_socket, struct pm_message *reply,
	bool last, struct pm_err *err)
{
	cleanup_free char *text = NULL;
	char *out;
	size_t length;
	int rc;

	peer->last |= last;
	if (peer->out && (!last || peer->out_at))
		return 0;
	reply->id = peer->id;
	text = pm_message_format(reply);
	if (!text)
		return pm_err_nomem(err);
	rc = as_body(peer, munge_socket, &text, err);
	if (rc)
		return rc;
	out = pm_frame_make(text, strlen(text), &length);
	if (!out)
		return pm_err_set(err, -EMSGSIZE, "reply of %zu bytes is too long", strlen(text));
	free(peer->out);
	peer->out = out;
	peer->out_length = length;
	peer->out_at = 0;
	peer->until_ms = pm_now_ms() + PM_PEER_DEADLINE_MS;
	return 0;
}

int pm_peer_write(struct pm_peer *peer)
{
	ssize_t put = send(peer->fd, peer->out + peer->out_at, peer->out_length - peer->out_at,
		MSG_DONTWAIT | MSG_NOSIGNAL);

	if (put < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	peer->out_at += (size_t)put;
	if (peer->out_at < peer->out_length)
		return 0;
	free(pm_steal(peer->out));
	peer->out_length = peer->out_at = 0;
	peer->until_ms = 0;
	return peer->last;
}

void pm_peer_done(struct pm_peer *peer)
{
	if (peer->fd >= 0)
		(void)close(peer->fd);
	pm_message_done(&peer->request);
	pm_frame_done(&peer->in);
	free(peer->out);
}
