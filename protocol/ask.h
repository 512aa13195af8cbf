/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_ASK_H
#define PM_ASK_H

/* The asking side of pm-controller's unix socket; message.h has what is said. */
#include "protocol/message.h"

#define PM_CONTROLLER_SOCKET "/run/slurm-pmem-controller/socket"

/* Connects; the caller closes *ret_fd. */
int pm_ask_open(const char *path, unsigned timeout_ms, int *ret_fd, struct pm_err *err);

/* Bounds what is sent, and connect(), which waits while the service has no room. */
int pm_ask_limit_time(int fd, unsigned timeout_ms);

/* Sends one frame, receives the next; *ret is malloc'ed, with a NUL behind its *ret_length bytes.
 * -ETIMEDOUT, -ECONNRESET: the service has gone. */
int pm_ask_send_text(int fd, const char *text, unsigned timeout_ms, struct pm_err *err);
int pm_ask_receive_text(
	int fd, unsigned timeout_ms, char **ret, size_t *ret_length, struct pm_err *err);

/* The same with messages. -EREMOTEIO: the answer is an error; the text is its sentence. */
int pm_ask_send(int fd, const struct pm_message *question, unsigned timeout_ms, struct pm_err *err);
int pm_ask_receive(int fd, const struct pm_message *question, unsigned timeout_ms,
	struct pm_message *ret, struct pm_err *err);

/* Is this text an answer to the question? Else as pm_ask_receive(). */
int pm_ask_parse(const char *text, size_t length, const struct pm_message *question,
	struct pm_message *ret, struct pm_err *err);

#endif
