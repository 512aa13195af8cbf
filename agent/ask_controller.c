/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/ask_controller.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "protocol/client.h"
#include "protocol/client_tcp.h"
#include "site/slurmctld_hosts.h"

/* This user's requests over one connection each: no other is in it, so any number is its id. */
#define ID 1

#define PAUSE_MS 250

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

/*
 * On a SlurmctldHost its own service first, which may say that it serves elsewhere. A service that
 * runs by mistake on another machine is not asked, unless slurm.conf cannot be read.
 */
static int ask_slurmctlds_hosts(const struct pm_config *config, unsigned timeout_ms,
	struct pm_message *request, struct pm_message *ret, struct pm_err *err)
{
	cleanup_free char *hosts = NULL;
	bool here = true;
	int found = pm_slurmctld_hosts(config->file, &hosts, &here, err), rc = -EREMOTE;

	if ((found || here) && !access(PM_CONTROLLER_SOCKET, F_OK))
		rc = ask_here(timeout_ms, request, ret, err);
	if (rc != -EREMOTE)
		return rc;
	if (found)
		return pm_err_prefix(err, "ControllerAddr=auto in pmem.conf");
	return pm_client_call_tcp(hosts, config->munge_socket, timeout_ms, request, ret, err);
}

/*
 * The service closes connections of a user who asks often (controller/rate.h), as those who read
 * many pages do, and takes them again after a pause.
 */
static bool is_closed_out(int rc)
{
	return rc == -ECONNRESET || rc == -EPIPE;
}

static int ask_once(const struct pm_config *config, unsigned timeout_ms, struct pm_message *request,
	struct pm_message *ret, struct pm_err *err)
{
	if (!strcmp(config->controller_addr, "auto"))
		return ask_slurmctlds_hosts(config, timeout_ms, request, ret, err);
	if (strcmp(config->controller_addr, "none") != 0)
		return pm_client_call_tcp(config->controller_addr, config->munge_socket, timeout_ms,
			request, ret, err);
	if (!access(PM_CONTROLLER_SOCKET, F_OK))
		return ask_here(timeout_ms, request, ret, err);
	return pm_err_set(err, -ENOENT, "pmem.conf has ControllerAddr=none");
}

int pm_ask_controller(const struct pm_config *config, unsigned timeout_ms,
	struct pm_message *request, struct pm_message *ret, struct pm_err *err)
{
	const uint64_t until_ms = pm_now_ms() + timeout_ms;
	int rc;

	while (is_closed_out(rc = ask_once(config, timeout_ms, request, ret, err)) &&
		pm_now_ms() < until_ms)
		pm_pause_ms(PAUSE_MS);
	return rc;
}
