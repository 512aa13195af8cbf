/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "base/address.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/units.h"

static const char host_characters[] = "abcdefghijklmnopqrstuvwxyz"
				      "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789-_.:%";

static bool is_port(const char *text)
{
	uint64_t port;

	return !pm_parse_u64(text, &port) && port >= 1 && port <= 65535;
}

/* The text after the host: "" or ":PORT"; NULL: the host is missing. */
static const char *behind_host(const char *text, const char **ret_host, size_t *ret_length)
{
	bool bracket = *text == '[';

	*ret_host = text + bracket;
	*ret_length = strcspn(*ret_host, bracket ? "]" : ":");
	if (!*ret_length || (bracket && (*ret_host)[*ret_length] != ']'))
		return NULL;
	return *ret_host + *ret_length + bracket;
}

int pm_address_parse(const char *text, char **ret_host, char **ret_port, struct pm_err *err)
{
	cleanup_free char *host = NULL, *port = NULL;
	const char *start, *rest;
	size_t length;

	rest = behind_host(text, &start, &length);
	if (!rest || strspn(start, host_characters) < length ||
		(*rest && (*rest != ':' || !is_port(rest + 1))))
		return pm_err_set(err, -EINVAL, "auto, none, HOST or HOST:PORT expected");
	host = strndup(start, length);
	port = strdup(*rest ? rest + 1 : PM_ADDRESS_PORT);
	if (!host || !port)
		return pm_err_nomem(err);
	*ret_host = pm_steal(host);
	*ret_port = pm_steal(port);
	return 0;
}

int pm_addresses_check(const char *text, struct pm_err *err)
{
	cleanup_free char *list = strdup(text);
	char *rest = list, *one;
	int rc = list ? 0 : pm_err_nomem(err);

	while (!rc && (one = strsep(&rest, ","))) {
		cleanup_free char *host = NULL, *port = NULL;

		rc = pm_address_parse(one, &host, &port, err);
	}
	return rc;
}
