/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "protocol/client_tcp.h"

#include <errno.h>
#include <netdb.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/address.h"
#include "base/asprintf.h"
#include "base/cleanup.h"
#include "base/strv.h"
#include "protocol/client.h"
#include "protocol/credential.h"

/* Limit of connect(2), if another address follows. */
#define NEXT_MS 3000

/* With SO_SNDTIMEO, connect(2) that times out fails with EINPROGRESS (socket(7)). */
static int connect_to(const struct addrinfo *one, unsigned timeout_ms)
{
	int fd = socket(one->ai_family, one->ai_socktype | SOCK_CLOEXEC, one->ai_protocol), rc;

	if (fd < 0)
		return -errno;
	rc = pm_client_set_timeout(fd, timeout_ms);
	if (!rc && connect(fd, one->ai_addr, one->ai_addrlen))
		rc = errno == EINPROGRESS ? -ETIMEDOUT : -errno;
	if (!rc)
		return fd;
	(void)close(fd);
	return rc;
}

static int open_address(const char *address, unsigned timeout_ms, int *ret_fd, struct pm_err *err)
{
	const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
	cleanup_free char *host = NULL, *port = NULL;
	struct addrinfo *list = NULL;
	int fd = -ECONNREFUSED;
	int rc = pm_address_parse(address, &host, &port, err);

	if (rc)
		return rc;
	rc = getaddrinfo(host, port, &hints, &list);
	if (rc)
		return pm_err_set(err, -EHOSTUNREACH, "look up '%s': %s", host, gai_strerror(rc));
	for (const struct addrinfo *one = list; one && fd < 0; one = one->ai_next)
		fd = connect_to(one, timeout_ms);
	freeaddrinfo(list);
	if (fd < 0)
		return pm_err_sys(err, fd, "connect to '%s'", address);
	*ret_fd = fd;
	return 0;
}

/* Only the two sides know the random id, so a recorded reply does not match this request. */
static int call(int fd, const char *munge_socket, unsigned timeout_ms, struct pm_message *request,
	char **ret_sealed, struct pm_err *err)
{
	cleanup_free char *text = NULL, *sealed = NULL;
	size_t length;
	int rc;

	if (getrandom(&request->id, sizeof(request->id), 0) < 0)
		return pm_err_sys(err, -errno, "random number");
	request->id >>= 1; /* json-c has signed numbers */
	text = pm_message_format(request);
	if (!text)
		return pm_err_nomem(err);
	rc = pm_credential_make(munge_socket, PM_ANYBODY, text, &sealed, err);
	if (!rc)
		rc = pm_client_send_text(fd, sealed, timeout_ms, err);
	return rc ? rc : pm_client_receive_text(fd, timeout_ms, ret_sealed, &length, err);
}

static int call_one(const char *address, const char *munge_socket, unsigned connect_ms,
	unsigned timeout_ms, struct pm_message *request, struct pm_message *ret, struct pm_err *err)
{
	cleanup_free char *sealed = NULL, *text = NULL;
	cleanup_close int fd = -1;
	uid_t uid;
	int rc = open_address(address, connect_ms, &fd, err);

	if (!rc)
		rc = call(fd, munge_socket, timeout_ms, request, &sealed, err);
	if (!rc)
		rc = pm_credential_open(munge_socket, sealed, &text, &uid, err);
	if (rc)
		return rc;
	if (uid != 0)
		return pm_err_set(
			err, -EACCES, "the reply is signed by user %u, not by root", (unsigned)uid);
	return pm_client_parse_reply(text, strlen(text), request, ret, err);
}

/* A host that has lost its power does not refuse, and the next address is to be reached in time. */
static unsigned connect_limit_ms(char *const *address, unsigned timeout_ms)
{
	return address[1] && timeout_ms > NEXT_MS ? NEXT_MS : timeout_ms;
}

/* True if the service that serves has answered, or none would. */
static bool is_final(int rc)
{
	return !rc || rc == -EREMOTEIO || rc == -ENOMEM;
}

int pm_client_call_tcp(const char *addresses, const char *munge_socket, unsigned timeout_ms,
	struct pm_message *request, struct pm_message *ret, struct pm_err *err)
{
	cleanup_with(pm_strv_cleanup) char **list = pm_strv_split(addresses, ",");
	cleanup_free char *sentences = NULL;
	int rc = pm_err_nomem(err); /* unless there is a list */

	for (char **address = list; address && *address; address++) {
		struct pm_err one = {0};

		rc = call_one(*address, munge_socket, connect_limit_ms(address, timeout_ms),
			timeout_ms, request, ret, &one);
		if (is_final(rc))
			return rc ? pm_err_set(err, rc, "%s", one.text) : 0;
		(void)pm_append(&sentences, "; ", one.text);
		(void)pm_err_set(err, rc, "%s", sentences ? sentences : one.text);
	}
	return rc;
}
