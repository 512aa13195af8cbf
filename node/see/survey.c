/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "node/see/survey.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "node/state/state.h"
#include "node/tools/node_memory.h"
#include "node/tools/tools.h"

static int socket_of(void *context, int numa_node)
{
	const struct pm_config *config = context;

	return pm_node_socket(config->fs_root, numa_node);
}

/* "259:0" from sysfs; "" for a device that has just disappeared. */
static void read_device(const struct pm_config *config, struct pm_inventory_ns *ns)
{
	cleanup_free char *text = NULL;
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/sys/class/block/%s/dev", config->fs_root, ns->nd.blockdev);
	if (!pm_file_read(AT_FDCWD, path, 64, &text, NULL, NULL))
		snprintf(ns->device, sizeof(ns->device), "%.*s", (int)strcspn(text, "\n"), text);
}

static int read_superblock(
	const struct pm_config *config, struct pm_inventory_ns *ns, struct pm_err *err)
{
	unsigned char bytes[PM_SUPERBLOCK_BYTES];
	cleanup_close int fd = -1;
	char path[PATH_MAX];
	ssize_t length;

	snprintf(path, sizeof(path), "%s/dev/%s",
		strcmp(config->fs_root, "/") ? config->fs_root : "", ns->nd.blockdev);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return pm_err_sys(err, -errno, "open '%s'", path);
	length = pread(fd, bytes, sizeof(bytes), 0);
	if (length < 0)
		return pm_err_sys(err, -errno, "read '%s'", path);
	pm_superblock_read(bytes, (size_t)length, &ns->fs);
	return 0;
}

static int look_at_block_devices(
	const struct pm_config *config, struct pm_inventory *inventory, struct pm_err *err)
{
	pm_inventory_foreach(ns, region, inventory)
	{
		int rc = 0;

		if (!*ns->nd.blockdev)
			continue;
		read_device(config, ns);
		if (geteuid() == 0 && ns->is_own)
			rc = read_superblock(config, ns, err);
		if (rc)
			return rc;
	}
	return 0;
}

static int look_at_mounts(
	const struct pm_config *config, struct pm_inventory *inventory, struct pm_err *err)
{
	cleanup_with(pm_mounts_done) struct pm_mounts mounts = {0};
	int rc = pm_mounts_load(config->fs_root, &mounts, err);

	if (!rc)
		pm_inventory_add_mounts(inventory, &mounts);
	return rc;
}

static int look_at_namespaces(
	const struct pm_config *config, struct pm_inventory *ret, struct pm_err *err)
{
	cleanup_with(pm_nd_regions_done) struct pm_nd_regions regions = {0};
	cleanup_with(pm_daxes_done) struct pm_daxes daxes = {0};
	int rc = pm_tool_nd_regions(config, &regions, err);

	if (!rc && regions.n)
		rc = pm_tool_daxes(config, &daxes, err);
	if (!rc)
		rc = pm_inventory_make(
			&regions, &daxes, config->mount_dir, socket_of, (void *)config, ret, err);
	return rc;
}

static void disown(struct pm_inventory *inventory)
{
	pm_inventory_foreach(ns, region, inventory)
	{
		ns->is_own = false;
	}
}

int pm_survey(const struct pm_config *config, struct pm_survey *ret, struct pm_err *err)
{
	cleanup_with(pm_survey_done) struct pm_survey survey = {0};
	struct pm_inventory *inventory = &survey.inventory;
	int rc = pm_state_read_pins(config, &survey.pins, err);

	if (!rc)
		rc = look_at_namespaces(config, inventory, err);
	if (!rc && !config->provision)
		disown(inventory);
	if (!rc)
		rc = look_at_block_devices(config, inventory, err);
	if (!rc && inventory->n)
		rc = look_at_mounts(config, inventory, err);
	if (rc)
		return rc;
	survey.lost = pm_pins_apply(&survey.pins, inventory);
	*ret = survey;
	survey = (struct pm_survey){0};
	return 0;
}

void pm_survey_done(struct pm_survey *survey)
{
	pm_inventory_done(&survey->inventory);
	pm_pins_done(&survey->pins);
	*survey = (struct pm_survey){0};
}
