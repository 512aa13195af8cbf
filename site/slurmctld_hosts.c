/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "site/slurmctld_hosts.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/asprintf.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "site/config.h"

#define SERVED	  "/run/slurm/conf/slurm.conf"
#define MAX_BYTES ((size_t)16 << 20)
#define MAX_HOSTS 16
#define MAX_DEPTH 4
#define BLANKS	  " \t\r"

struct found {
	char *hosts; /* with commas */
	unsigned n;
	char *shared; /* SlurmctldAddr, which moves with the active slurmctld */
	bool here;
};

static void free_found(struct found *found)
{
	free(found->hosts);
	free(found->shared);
}

/* --- one line --- */

/* The value of "Key=" on the line, cut out at its end; NULL: the key is not there. */
static char *value_of(char *line, const char *key)
{
	size_t length = strlen(key);

	for (char *at = line; (at = strcasestr(at, key)); at += length) {
		char *value = at + length + strspn(at + length, BLANKS);

		if ((at > line && !strchr(BLANKS, at[-1])) || *value != '=')
			continue;
		value++;
		value += strspn(value, BLANKS);
		value[strcspn(value, BLANKS)] = '\0';
		return value;
	}
	return NULL;
}

/* "head(10.77.0.1)" is reached at 10.77.0.1; an IPv6 address gets brackets. malloc'ed. */
static char *address_of(char *host)
{
	char *inside = strchr(host, '(');
	char *address = inside ? inside + 1 : host;

	address[strcspn(address, ")")] = '\0';
	if (*address != '[' && strchr(address, ':'))
		return pm_asprintf("[%s]", address);
	return strdup(address);
}

/* True for "head" and "head.example.org(10.77.0.1)" on head. */
static bool is_here(const char *host)
{
	char name[HOST_NAME_MAX + 1] = "";
	size_t length;

	(void)gethostname(name, sizeof(name) - 1);
	length = strcspn(name, ".");
	return length && length == strcspn(host, ".(") && !strncmp(host, name, length);
}

static int add_host(struct found *found, char *host, struct pm_err *err)
{
	cleanup_free char *address = address_of(host);

	found->n++;
	return address && !pm_append(&found->hosts, ",", address) ? 0 : pm_err_nomem(err);
}

static int take_host(struct found *found, char *line, struct pm_err *err)
{
	cleanup_free char *copy = strdup(line);
	char *shared = copy ? value_of(copy, "SlurmctldAddr") : NULL;
	char *host = value_of(line, "SlurmctldHost");

	if (!copy)
		return pm_err_nomem(err);
	if (shared && *shared) {
		free(found->shared);
		found->shared = address_of(shared);
		return found->shared ? 0 : pm_err_nomem(err);
	}
	if (!host || !*host || found->n == MAX_HOSTS)
		return 0;
	found->here |= is_here(host);
	return add_host(found, host, err);
}

/* --- files --- */

/* "include FILE": its name; NULL: another line. */
static char *included(char *line)
{
	static const char word[] = "include";
	char *name = line + sizeof(word) - 1;

	if (strncasecmp(line, word, sizeof(word) - 1) != 0 || !*name || !strchr(BLANKS, *name))
		return NULL;
	name += strspn(name, BLANKS);
	name[strcspn(name, BLANKS)] = '\0';
	return name;
}

/* A file's name relative to the directory of another file; malloc'ed. */
static char *beside(const char *file, const char *name)
{
	const char *slash = strrchr(file, '/');

	if (*name == '/' || !slash)
		return strdup(name);
	return pm_asprintf("%.*s/%s", (int)(slash - file), file, name);
}

static int read_conf(struct found *found, const char *path, unsigned depth, struct pm_err *err);

static int read_line(
	struct found *found, const char *path, char *line, unsigned depth, struct pm_err *err)
{
	cleanup_free char *other = NULL;
	char *name;

	line[strcspn(line, "#")] = '\0';
	line += strspn(line, BLANKS);
	name = included(line);
	if (!name)
		return take_host(found, line, err);
	other = beside(path, name);
	if (!other)
		return pm_err_nomem(err);
	/* Slurm ends at an included file that is missing, so another program need not. */
	return depth < MAX_DEPTH && !access(other, R_OK) ? read_conf(found, other, depth + 1, err)
							 : 0;
}

static int read_conf(struct found *found, const char *path, unsigned depth, struct pm_err *err)
{
	cleanup_free char *text = NULL;
	int rc = pm_file_read(AT_FDCWD, path, MAX_BYTES, &text, NULL, err);
	char *rest = text;

	while (!rc && rest)
		rc = read_line(found, path, strsep(&rest, "\n"), depth, err);
	return rc;
}

/* The file to read; malloc'ed, NULL when out of memory. */
static char *conf_path(const char *pmem_conf)
{
	const char *given = getenv("SLURM_CONF");
	char *path;

	if (given && *given)
		return strdup(given);
	path = beside(pmem_conf ? pmem_conf : PM_CONFIG_DEFAULT_PATH, "slurm.conf");
	if (!path || !access(path, F_OK))
		return path;
	if (access(SERVED, F_OK))
		return path;
	free(path);
	return strdup(SERVED);
}

int pm_slurmctld_hosts(const char *pmem_conf, char **ret, bool *ret_here, struct pm_err *err)
{
	cleanup_with(free_found) struct found found = {0};
	cleanup_free char *path = conf_path(pmem_conf);
	int rc = path ? read_conf(&found, path, 0, err) : pm_err_nomem(err);

	if (rc)
		return rc;
	if (!found.n && !found.shared)
		return pm_err_set(err, -ENOENT, "'%s' has no SlurmctldHost", path);
	*ret = found.shared ? pm_steal(found.shared) : pm_steal(found.hosts);
	*ret_here = found.here;
	return 0;
}
