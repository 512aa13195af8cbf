/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "controller/own_host.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/address.h"
#include "base/asprintf.h"
#include "base/cleanup.h"
#include "base/strv.h"

/*
 * Slurm's library reads slurm.conf into this, and takes from it at each request where slurmctld is.
 * slurm.h has the type, and libslurm.so the object (22.05 to 24.11), but no header of it.
 */
extern slurm_conf_t slurm_conf;

static void free_resolved(struct addrinfo **list)
{
	if (*list)
		freeaddrinfo(*list);
}

/* --- which one is it --- */

static bool is_same_name(const char *a, const char *b)
{
	size_t short_a = strcspn(a, "."), short_b = strcspn(b, ".");

	if (a[short_a] && b[short_b])
		return !strcasecmp(a, b);
	return short_a == short_b && !strncasecmp(a, b, short_a);
}

static struct addrinfo *resolve(const char *address, const char *port)
{
	const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
	struct addrinfo *list = NULL;

	return getaddrinfo(address, port, &hints, &list) ? NULL : list;
}

/*
 * 0: the address is one of this host's, and nothing listens there; else a positive errno. With
 * SO_REUSEADDR only a listener is in the way, and slurmctld, which has it too, may start meanwhile.
 */
static int try_bind(const struct addrinfo *one)
{
	cleanup_close int fd = socket(one->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	const int yes = 1;

	if (fd < 0)
		return errno;
	(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	return bind(fd, one->ai_addr, one->ai_addrlen) ? errno : 0;
}

static bool is_local(const char *address)
{
	cleanup_with(free_resolved) struct addrinfo *list = resolve(address, "0");
	bool found = false;

	for (const struct addrinfo *one = list; one && !found; one = one->ai_next)
		found = !try_bind(one);
	return found;
}

int pm_own_host_index(char *const *names, char *const *addresses, uint32_t n, const char *hostname)
{
	for (uint32_t i = 0; i < n; i++)
		if (is_same_name(names[i], hostname))
			return (int)i;
	for (uint32_t i = 0; i < n; i++)
		if (is_local(addresses[i]))
			return (int)i;
	return -1;
}

/* --- the library's view --- */

/*
 * Names of all SlurmctldHosts but `own` (-1: all), with commas; NULL when out of memory. There are
 * several.
 */
static char *names_but(int own)
{
	char *list = NULL;

	for (uint32_t i = 0; i < slurm_conf.control_cnt; i++)
		if ((int)i != own && pm_append(&list, ", ", slurm_conf.control_machine[i])) {
			free(pm_steal(list));
			break;
		}
	return list;
}

/* SlurmctldAddr is an address that moves to the host in control. */
static void forget_others(int own)
{
	slurm_conf.control_machine[0] = slurm_conf.control_machine[own];
	slurm_conf.control_addr[0] = slurm_conf.control_addr[own];
	slurm_conf.control_cnt = 1;
	slurm_conf.slurmctld_addr = NULL;
}

static int take(struct pm_own_host *own, int index, struct pm_err *err)
{
	char port[16];

	own->name = strdup(slurm_conf.control_machine[index]);
	own->address = strdup(slurm_conf.control_addr[index]);
	own->others = names_but(index);
	if (!own->name || !own->address || !own->others)
		return pm_err_nomem(err);
	snprintf(port, sizeof(port), "%u", (unsigned)slurm_conf.slurmctld_port);
	own->resolved = resolve(own->address, port);
	own->has_others = true;
	return 0;
}

int pm_own_host_adopt(struct pm_own_host *own, struct pm_cluster *cluster, struct pm_err *err)
{
	cleanup_free char *all = NULL;
	char hostname[256] = "";
	int index, rc;

	if (slurm_conf.control_cnt < 2)
		return 0;
	(void)gethostname(hostname, sizeof(hostname) - 1);
	index = pm_own_host_index(slurm_conf.control_machine, slurm_conf.control_addr,
		slurm_conf.control_cnt, hostname);
	if (index < 0) {
		all = names_but(-1);
		return pm_err_set(err, -ENODEV,
			"this host, '%s', is not one of the SlurmctldHosts in slurm.conf: %s",
			hostname, all ? all : "");
	}
	rc = take(own, index, err);
	if (rc)
		return rc;
	forget_others(index);
	pm_cluster_take_config(cluster, &slurm_conf);
	return 0;
}

bool pm_own_host_listens(const struct pm_own_host *own)
{
	/* Without an address Slurm's library may know better. */
	bool listens = !own->resolved;

	for (const struct addrinfo *one = own->resolved; one && !listens; one = one->ai_next)
		listens = try_bind(one) == EADDRINUSE;
	return listens;
}

char *pm_own_host_choose(const struct pm_own_host *own, const char *list)
{
	cleanup_with(pm_strv_cleanup) char **addresses = pm_strv_split(list, ",");

	for (char **one = addresses; own->has_others && one && *one; one++) {
		cleanup_free char *host = NULL, *port = NULL;

		if (!pm_address_parse(*one, &host, &port, NULL) &&
			(is_same_name(host, own->name) || !strcmp(host, own->address)))
			return strdup(*one);
	}
	return addresses && *addresses ? strdup(*addresses) : NULL;
}

void pm_own_host_done(struct pm_own_host *own)
{
	free_resolved(&own->resolved);
	free(own->name);
	free(own->address);
	free(own->others);
	*own = (struct pm_own_host){0};
}
