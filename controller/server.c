/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "controller/server.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"

#define BACKLOG 4096

/* Open files besides peers: sockets to slurmctld and munged, files that are written. */
#define OTHER_FILES 64

void pm_server_init(struct pm_server *server)
{
	struct rlimit files;

	server->unix_fd = server->tcp_fd = -1;
	server->max_peers = PM_PEERS_MAX;
	if (getrlimit(RLIMIT_NOFILE, &files))
		return;
	files.rlim_cur = files.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &files);
	if (files.rlim_max < PM_PEERS_MAX + OTHER_FILES)
		server->max_peers = MAX(files.rlim_max, OTHER_FILES + 1) - OTHER_FILES;
}

int pm_server_open_unix(struct pm_server *server, const char *path, struct pm_err *err)
{
	cleanup_close int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	if (fd < 0)
		return pm_err_sys(err, -errno, "open a socket");
	if (strlen(path) >= sizeof(address.sun_path))
		return pm_err_set(err, -ENAMETOOLONG, "listen on '%s': name too long", path);
	strcpy(address.sun_path, path);
	(void)unlink(path);
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) || chmod(path, 0666) ||
		listen(fd, BACKLOG))
		return pm_err_sys(err, -errno, "listen on '%s'", path);
	server->unix_fd = fd;
	fd = -1;
	return 0;
}

int pm_server_open_tcp(struct pm_server *server, const char *port, struct pm_err *err)
{
	cleanup_close int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct sockaddr_in6 address = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_ANY_INIT};
	const int yes = 1, no = 0;

	if (fd < 0)
		return pm_err_sys(err, -errno, "open a socket");
	address.sin6_port = htons((uint16_t)atoi(port));
	(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	(void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof(no));
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) || listen(fd, BACKLOG))
		return pm_err_sys(err, -errno, "listen on port %s", port);
	server->tcp_fd = fd;
	fd = -1;
	return 0;
}

static uint32_t address_of(const struct sockaddr_in6 *address)
{
	uint32_t part[4], all = 0;

	memcpy(part, &address->sin6_addr, sizeof(part));
	if (IN6_IS_ADDR_V4MAPPED(&address->sin6_addr))
		return part[3];
	/* an IPv6 /64 counts as one address */
	for (int i = 0; i < 2; i++)
		all = all * 31 + part[i];
	return all;
}

static bool is_alike(const struct pm_peer *a, const struct pm_peer *b)
{
	return a->remote == b->remote && (a->remote ? a->address == b->address : a->uid == b->uid);
}

/* True if the limits allow another peer. Other peers cannot take up the room of trusted ones. */
static bool has_place(const struct pm_server *server, const struct pm_peer *peer)
{
	size_t strangers = 0, alike = 0;

	if (peer->trusted)
		return server->n_peers < server->max_peers;
	for (size_t i = 0; i < server->n_peers; i++) {
		strangers += !server->peers[i]->trusted;
		alike += !server->peers[i]->trusted && is_alike(server->peers[i], peer);
	}
	return server->n_peers < server->max_peers && strangers < PM_STRANGERS_MAX &&
	       alike < PM_STRANGERS_EACH;
}

static uint64_t rate_key(const struct pm_peer *peer)
{
	return peer->remote ? pm_rate_address(peer->address) : pm_rate_user(peer->uid);
}

/* Owns candidate.fd. A peer beyond the limits is closed at once, and does without the service. */
static void add_peer(struct pm_server *server, struct pm_peer candidate)
{
	struct pm_peer *peer = malloc(sizeof(*peer));
	uint64_t now_ms = pm_now_ms();

	candidate.until_ms = now_ms + PM_PEER_DEADLINE_MS;
	if (!peer || !has_place(server, &candidate) ||
		(!candidate.trusted &&
			!pm_rate_allows(&server->rate, rate_key(&candidate), now_ms))) {
		pm_peer_done(&candidate);
		free(peer);
		return;
	}
	*peer = candidate;
	server->peers[server->n_peers++] = peer;
}

static bool is_trusted(const struct pm_server *server, uid_t uid)
{
	return uid == 0 || uid == server->slurm_uid;
}

static bool accept_unix(struct pm_server *server)
{
	struct pm_peer peer = {.fd = accept4(server->unix_fd, NULL, NULL, SOCK_CLOEXEC)};
	struct ucred who;
	socklen_t size = sizeof(who);

	if (peer.fd < 0)
		return false;
	if (getsockopt(peer.fd, SOL_SOCKET, SO_PEERCRED, &who, &size)) {
		pm_peer_done(&peer);
		return true;
	}
	peer.uid = who.uid;
	peer.trusted = is_trusted(server, peer.uid);
	add_peer(server, peer);
	return true;
}

static bool accept_tcp(struct pm_server *server)
{
	struct sockaddr_in6 from = {0};
	socklen_t size = sizeof(from);
	struct pm_peer peer = {.remote = true, .uid = (uid_t)-1};

	peer.fd = accept4(server->tcp_fd, (struct sockaddr *)&from, &size, SOCK_CLOEXEC);
	if (peer.fd < 0)
		return false;
	peer.address = address_of(&from);
	add_peer(server, peer);
	return true;
}

void pm_server_reply(
	struct pm_server *server, struct pm_peer *peer, struct pm_message *reply, bool last)
{
	struct pm_err err = {0};

	if (!pm_peer_reply(peer, server->munge_socket, reply, last, &err))
		return;
	fprintf(stderr, "reply to user %u: %s\n", (unsigned)peer->uid, err.text);
	peer->until_ms = 1; /* long past, so pm_server_turn() closes the peer */
}

void pm_server_refuse(struct pm_server *server, struct pm_peer *peer, const char *sentence)
{
	struct pm_message reply = {.type = PM_MESSAGE_ERROR, .text = (char *)sentence};

	pm_server_reply(server, peer, &reply, /* last= */ true);
}

static void serve_request(struct pm_peer *peer, const struct pm_server_calls *calls)
{
	peer->is_asked = !calls->serve(calls->context, peer);
	if (!peer->is_asked)
		pm_message_done(&peer->request);
}

/* The deadline of the request ends here; a reply that is not read has its own. */
static void read_request(
	struct pm_server *server, struct pm_peer *peer, const struct pm_server_calls *calls)
{
	struct pm_err err = {0};

	peer->until_ms = 0;
	if (pm_peer_read_request(peer, server->munge_socket, &err)) {
		pm_server_refuse(server, peer, err.text);
		return;
	}
	peer->trusted = is_trusted(server, peer->uid);
	serve_request(peer, calls);
}

/* True if the peer is to be closed. */
static bool serve(struct pm_server *server, struct pm_peer *peer, short events,
	const struct pm_server_calls *calls)
{
	int rc = 0;

	if (events & (POLLIN | POLLHUP | POLLERR)) {
		rc = pm_peer_read(peer);
		if (rc == 1)
			read_request(server, peer, calls);
	}
	if (!rc && peer->is_asked)
		serve_request(peer, calls);
	if (rc >= 0 && peer->out)
		rc = pm_peer_write(peer) == 0 ? 0 : -1;
	else if (rc == 1)
		rc = 0;
	return rc < 0 || (peer->until_ms && pm_now_ms() > peer->until_ms);
}

static void remove_peer(struct pm_server *server, size_t at, const struct pm_server_calls *calls)
{
	struct pm_peer *peer = server->peers[at];

	calls->gone(calls->context, peer);
	pm_peer_done(peer);
	free(peer);
	server->peers[at] = server->peers[--server->n_peers];
}

static void prepare_poll(struct pm_server *server)
{
	server->polled[0] = (struct pollfd){.fd = server->unix_fd, .events = POLLIN};
	server->polled[1] = (struct pollfd){.fd = server->tcp_fd, .events = POLLIN};
	for (size_t i = 0; i < server->n_peers; i++)
		server->polled[i + 2] = (struct pollfd){.fd = server->peers[i]->fd,
			.events = (short)(POLLIN | (server->peers[i]->out ? POLLOUT : 0))};
}

/* From the last to the first: remove_peer() fills the gap with a peer that has been served. */
static void serve_peers(struct pm_server *server, const struct pm_server_calls *calls)
{
	for (size_t i = server->n_peers; i-- > 0;)
		if (serve(server, server->peers[i], server->polled[i + 2].revents, calls))
			remove_peer(server, i, calls);
}

/* A limited number in a turn, so that a flood of connections does not delay the other peers. */
static void accept_some(
	struct pm_server *server, size_t listener, bool (*accept_one)(struct pm_server *))
{
	if (!server->polled[listener].revents)
		return;
	for (int n = 0; n < BACKLOG && accept_one(server); n++)
		;
}

void pm_server_turn(
	struct pm_server *server, unsigned timeout_ms, const struct pm_server_calls *calls)
{
	prepare_poll(server);
	if (poll(server->polled, server->n_peers + 2, (int)timeout_ms) < 0)
		return;
	serve_peers(server, calls);
	accept_some(server, 0, accept_unix);
	accept_some(server, 1, accept_tcp);
}

void pm_server_done(struct pm_server *server)
{
	while (server->n_peers) {
		struct pm_peer *peer = server->peers[--server->n_peers];

		pm_peer_done(peer);
		free(peer);
	}
	if (server->unix_fd >= 0)
		(void)close(server->unix_fd);
	if (server->tcp_fd >= 0)
		(void)close(server->tcp_fd);
}
