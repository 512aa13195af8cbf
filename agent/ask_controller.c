/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/ask_controller.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/strv.h"
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

/* True: no service has had the request, so that another host may have it. */
static bool is_unreachable(int rc)
{
	return rc == -ECONNREFUSED || rc == -EHOSTUNREACH || rc == -ENETUNREACH || rc == -ETIMEDOUT;
}

/*
 * A service that runs by mistake on a machine without slurmctld is not asked, unless slurm.conf
 * cannot be read.
 */
static int ask_slurmctlds_host(const struct pm_config *config, unsigned timeout_ms,
	struct pm_message *request, struct pm_message *ret, struct pm_err *err)
{
	cleanup_with(pm_strv_cleanup) char **hosts = NULL;
	bool here;
	int rc = pm_slurmctld_hosts(config->file, &hosts, &here, err);

	if ((rc || here) && !access(PM_CONTROLLER_SOCKET, F_OK))
		return ask_here(timeout_ms, request, ret, err);
	if (rc)
		return pm_err_prefix(err, "ControllerAddr=auto in pmem.conf");
	rc = -ECONNREFUSED;
	for (char **host = hosts; *host && is_unreachable(rc); host++)
		rc = pm_client_call_tcp(*host, config->munge_socket, timeout_ms, request, ret, err);
	return rc;
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
		return ask_slurmctlds_host(config, timeout_ms, request, ret, err);
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
