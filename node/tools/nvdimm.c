/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "node/tools/nvdimm.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/directory.h"
#include "base/file.h"

#define MAX_BYTES 4096
#define DEVICES	  "sys/bus/nd/devices"

void pm_nvdimm_names_done(struct pm_nvdimm_names *names)
{
	free(names->list);
	*names = (struct pm_nvdimm_names){0};
}

bool pm_nvdimm_names_have(const struct pm_nvdimm_names *names, const char *name)
{
	for (size_t i = 0; i < names->n; i++)
		if (!strcmp(names->list[i], name))
			return true;
	return false;
}

int pm_nvdimm_names_add(struct pm_nvdimm_names *names, const char *name)
{
	char(*grown)[PM_NVDIMM_NAME_MAX];

	if (pm_nvdimm_names_have(names, name))
		return 0;
	if (strlen(name) >= PM_NVDIMM_NAME_MAX)
		return -ENAMETOOLONG;
	grown = realloc(names->list, (names->n + 1) * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	names->list = grown;
	strcpy(names->list[names->n++], name);
	return 0;
}

/* The link in sysfs leads through the directory of the region. */
static bool find_region(const char *link, char ret[PM_NVDIMM_NAME_MAX])
{
	const char *at = link;

	while ((at = strstr(at, "/region"))) {
		size_t length = strcspn(++at, "/");

		if (isdigit((unsigned char)at[strlen("region")]) && length < PM_NVDIMM_NAME_MAX) {
			memcpy(ret, at, length);
			ret[length] = '\0';
			return true;
		}
	}
	return false;
}

int pm_nvdimm_region_of(
	int root_fd, const char *device, char ret[PM_NVDIMM_NAME_MAX], struct pm_err *err)
{
	static const char *const classes[] = {"sys/bus/dax/devices", "sys/class/block"};
	const char *slash = strrchr(device, '/'), *name = slash ? slash + 1 : device;

	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++) {
		char path[200], link[PATH_MAX];
		ssize_t length;

		snprintf(path, sizeof(path), "%s/%.100s", classes[i], name);
		length = readlinkat(root_fd, path, link, sizeof(link) - 1);
		if (length < 0)
			continue;
		link[length] = '\0';
		if (find_region(link, ret))
			return 0;
	}
	return pm_err_set(err, -ENODEV, "'%s' is not on a region of persistent memory", device);
}

static int add_entry(int dir_fd, const char *name, void *context, struct pm_err *err)
{
	(void)dir_fd;
	return pm_nvdimm_names_add(context, name) ? pm_err_nomem(err) : 0;
}

int pm_nvdimm_list(int root_fd, const char *prefix, struct pm_nvdimm_names *ret, struct pm_err *err)
{
	cleanup_with(pm_nvdimm_names_done) struct pm_nvdimm_names found = {0};
	int rc = pm_directory_each(root_fd, DEVICES, prefix, add_entry, &found, err);

	if (rc)
		return rc;
	*ret = found;
	found = (struct pm_nvdimm_names){0};
	return 0;
}

int pm_nvdimm_text(int root_fd, const char *name, const char *file, char **ret, struct pm_err *err)
{
	char path[200];
	int rc;

	snprintf(path, sizeof(path), DEVICES "/%.60s/%.60s", name, file);
	rc = pm_file_read(root_fd, path, MAX_BYTES, ret, NULL, err);
	if (!rc)
		(*ret)[strcspn(*ret, "\n")] = '\0';
	return rc;
}

int pm_nvdimm_number(
	int root_fd, const char *name, const char *file, long long *ret, struct pm_err *err)
{
	cleanup_free char *text = NULL;
	char *end;
	long long number;
	int rc = pm_nvdimm_text(root_fd, name, file, &text, err);

	if (rc)
		return rc;
	errno = 0;
	number = strtoll(text, &end, 10);
	if (errno || end == text || *end)
		return pm_err_set(
			err, -EBADMSG, "%s/%s: a number expected, not '%.60s'", name, file, text);
	*ret = number;
	return 0;
}

/* "nmem1,0,4294967296,0" */
static int add_mapping(int root_fd, const char *region, long long i, struct pm_nvdimm_names *found,
	struct pm_err *err)
{
	cleanup_free char *text = NULL;
	char file[40];
	int rc;

	snprintf(file, sizeof(file), "mapping%lld", i);
	rc = pm_nvdimm_text(root_fd, region, file, &text, err);
	if (rc)
		return rc;
	text[strcspn(text, ",")] = '\0';
	rc = pm_nvdimm_names_add(found, text);
	return rc ? pm_err_sys(err, rc, "%s/%s", region, file) : 0;
}

int pm_nvdimm_dimms_of(
	int root_fd, const char *region, struct pm_nvdimm_names *ret, struct pm_err *err)
{
	cleanup_with(pm_nvdimm_names_done) struct pm_nvdimm_names found = {0};
	long long n = 0;
	int rc = pm_nvdimm_number(root_fd, region, "mappings", &n, err);

	for (long long i = 0; !rc && i < n; i++)
		rc = add_mapping(root_fd, region, i, &found, err);
	if (rc)
		return rc;
	*ret = found;
	found = (struct pm_nvdimm_names){0};
	return 0;
}
