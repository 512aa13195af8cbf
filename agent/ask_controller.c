/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/ask_controller.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "protocol/client.h"
#include "protocol/client_tcp.h"

/* This user's requests over one connection each: no other is in it, so any number is its id. */
#define ID 1

static int ask_here(
	unsigned timeout_ms, struct pm_message *request, struct pm_message *ret, struct pm_err *err)
{
	cleanup_close int fd = -1;
	int rc = pm_client_connect(PM_CONTROLLER_SOCKET, timeout_ms, &fd, err);

	request->id = ID;
	if (!rc)
		rc = pm_client_send(fd, request, timeout_ms, err);
	return rc ? rc : pm_client_receive(fd, request, timeout_ms, ret, err);
}

int pm_ask_controller(const struct pm_config *config, unsigned timeout_ms,
	struct pm_message *request, struct pm_message *ret, struct pm_err *err)
{
	if (strcmp(config->controller_addr, "none") != 0)
		return pm_client_call_tcp(config->controller_addr, config->munge_socket, timeout_ms,
			request, ret, err);
	if (!access(PM_CONTROLLER_SOCKET, F_OK))
		return ask_here(timeout_ms, request, ret, err);
	return pm_err_set(err, -ENOENT, "no ControllerAddr in pmem.conf");
}
