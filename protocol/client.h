/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_CLIENT_H
#define PM_CLIENT_H

/*
 * The client's side of pm-controller's unix socket; message.h has the messages. All functions
 * return 0 or a negative errno with a sentence.
 */
#include "protocol/message.h"

#define PM_CONTROLLER_SOCKET "/run/slurm-pmem-controller/socket"

/*
 * Connects; the caller closes *ret_fd. `timeout_ms` bounds connect(), which waits while the
 * service's backlog is full.
 */
int pm_client_connect(const char *path, unsigned timeout_ms, int *ret_fd, struct pm_err *err);

/* Sets the timeout of connect() and send() on this socket (SO_SNDTIMEO). No sentence. */
int pm_client_set_timeout(int fd, unsigned timeout_ms);

/*
 * Sends one frame, and receives one. *ret is malloc'ed, with a NUL after its *ret_length bytes.
 * -ETIMEDOUT; -ECONNRESET: the service has closed the connection.
 */
int pm_client_send_text(int fd, const char *text, unsigned timeout_ms, struct pm_err *err);
int pm_client_receive_text(
	int fd, unsigned timeout_ms, char **ret, size_t *ret_length, struct pm_err *err);

/*
 * The same with messages; release *ret with pm_message_done(). -EREMOTEIO: the reply is an error,
 * and its sentence is the text; -EREMOTE: the same, as the service of another host serves now.
 */
int pm_client_send(
	int fd, const struct pm_message *request, unsigned timeout_ms, struct pm_err *err);
int pm_client_receive(int fd, const struct pm_message *request, unsigned timeout_ms,
	struct pm_message *ret, struct pm_err *err);

/*
 * Parses the text of a reply to this request. Errors and *ret as with pm_client_receive();
 * -EBADMSG: not a reply to it.
 */
int pm_client_parse_reply(const char *text, size_t length, const struct pm_message *request,
	struct pm_message *ret, struct pm_err *err);

#endif
