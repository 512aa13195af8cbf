/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_CLIENT_H
#define PM_CLIENT_H

/* The asking side of pm-controller's unix socket; message.h has what is said. */
#include "protocol/message.h"

#define PM_CONTROLLER_SOCKET "/run/slurm-pmem-controller/socket"

/* Connects; the caller closes *ret_fd. */
int pm_client_connect(const char *path, unsigned timeout_ms, int *ret_fd, struct pm_err *err);

/* Bounds what is sent, and connect(), which waits while the service has no room. */
int pm_client_set_timeout(int fd, unsigned timeout_ms);

/* Sends one frame, receives the next; *ret is malloc'ed, with a NUL behind its *ret_length bytes.
 * -ETIMEDOUT, -ECONNRESET: the service has gone. */
int pm_client_send_text(int fd, const char *text, unsigned timeout_ms, struct pm_err *err);
int pm_client_receive_text(
	int fd, unsigned timeout_ms, char **ret, size_t *ret_length, struct pm_err *err);

/* The same with messages. -EREMOTEIO: the answer is an error; the text is its sentence. */
int pm_client_send(
	int fd, const struct pm_message *request, unsigned timeout_ms, struct pm_err *err);
int pm_client_receive(int fd, const struct pm_message *request, unsigned timeout_ms,
	struct pm_message *ret, struct pm_err *err);

/* Is this text an answer to the request? Else as pm_client_receive(). */
int pm_client_parse_reply(const char *text, size_t length, const struct pm_message *request,
	struct pm_message *ret, struct pm_err *err);

#endif
