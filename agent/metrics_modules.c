/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "agent/metrics.h"
#include "base/cleanup.h"
#include "node/state/state.h"
#include "node/tools/bad_memory.h"
#include "node/tools/nvdimm.h"
#include "node/tools/partition.h"
#include "node/tools/tools.h"

/* --- what ipmctl says of the modules --- */

static void add_module(struct pm_metrics *metrics, const struct pm_dimm *dimm)
{
	char socket[24];

	snprintf(socket, sizeof(socket), "%lu", strtoul(dimm->socket, NULL, 16));
	pm_metric(metrics, MODULE_INFO, 1, dimm->id, socket, metrics->agent->op.config.site_profile,
		dimm->part, dimm->firmware);
	pm_metric(metrics, MODULE_CAPACITY, dimm->capacity_bytes, dimm->id);
	pm_metric(metrics, MODULE_SOUND, pm_dimm_is_sound(dimm), dimm->id);
	pm_metric(metrics, MODULE_HEALTH, 1, dimm->id, dimm->health);
}

static void add_missing(struct pm_metrics *metrics, const struct pm_dimms *dimms)
{
	cleanup_with(pm_dimms_done) struct pm_dimms roster = {0};
	struct pm_err err;
	int rc = pm_state_read_roster(&metrics->agent->op.config, &roster, &err);

	pm_metrics_note_part(metrics, "roster", rc, &err);
	if (!rc)
		pm_metric(metrics, MODULES_MISSING, pm_roster_count_missing(&roster, dimms));
}

/* The sensors of ipmctl-show-sensor(1) that are metrics, and their units as a part of ours. */
static const struct {
	const char *type;
	enum pm_metric metric;
	double unit;
} kinds[] = {
	{"PercentageRemaining", PM_METRIC_MODULE_LIFE, 0.01},
	{"MediaTemperature", PM_METRIC_MEDIA_TEMPERATURE, 1},
	{"ControllerTemperature", PM_METRIC_CONTROLLER_TEMPERATURE, 1},
	{"LatchedDirtyShutdownCount", PM_METRIC_UNSAFE_SHUTDOWNS, 1},
	{"PowerCycles", PM_METRIC_POWER_CYCLES, 1},
	{"PowerOnTime", PM_METRIC_POWER_ON_TIME, 1},
	{"FwErrorCount", PM_METRIC_ERROR_LOG, 1},
};

static void add_sensor(struct pm_metrics *metrics, const struct pm_sensor *sensor)
{
	double value;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(sensor->type, kinds[i].type) && pm_sensor_number(sensor, &value))
			pm_metrics_add(metrics, kinds[i].metric, value * kinds[i].unit,
				(const char *const[]){sensor->dimm});
}

static int add_sensors_of(struct pm_metrics *metrics, const char *dimm, struct pm_err *err)
{
	cleanup_with(pm_sensors_done) struct pm_sensors sensors = {0};
	int rc = pm_tool_sensors(&metrics->agent->op.config, dimm, &sensors, err);

	for (size_t i = 0; i < sensors.n; i++)
		add_sensor(metrics, &sensors.list[i]);
	return rc;
}

/* If one module cannot tell its sensors, ipmctl tells none: then each module is asked alone. */
static void add_sensors(struct pm_metrics *metrics, const struct pm_dimms *dimms)
{
	struct pm_err err, one;
	int rc = add_sensors_of(metrics, NULL, &err);

	for (size_t i = 0; rc && i < dimms->n; i++)
		if (add_sensors_of(metrics, dimms->list[i].id, &one))
			err = one;
	pm_metrics_note_part(metrics, "sensors", rc, &err);
}

static void add_dimms(struct pm_metrics *metrics)
{
	cleanup_with(pm_dimms_done) struct pm_dimms dimms = {0};
	struct pm_err err;
	int rc = pm_tool_dimms_report(&metrics->agent->op.config, &dimms, &err);

	pm_metrics_note_part(metrics, "modules", rc, &err);
	if (rc)
		return;
	for (size_t i = 0; i < dimms.n; i++)
		add_module(metrics, &dimms.list[i]);
	add_missing(metrics, &dimms);
	add_sensors(metrics, &dimms);
}

void pm_metrics_add_modules(struct pm_metrics *metrics)
{
	struct pm_err err;

	if (geteuid() == 0) {
		add_dimms(metrics);
		return;
	}
	pm_err_set(&err, -EPERM, "must be root");
	pm_metrics_note_part(metrics, "modules", err.code, &err);
}

/* --- what the kernel says of the regions --- */

/* A region that is not in use, or is not of persistent memory, has no list. */
static int add_region(
	struct pm_metrics *metrics, int root_fd, const char *region, struct pm_err *err)
{
	uint64_t n = 0;
	int rc = pm_bad_blocks_of(root_fd, region, &n, err);

	if (rc == -ENOENT || rc == -ENXIO)
		return 0;
	if (rc)
		return pm_err_prefix(err, "%s", region);
	pm_metric(metrics, BAD_BLOCKS, n, region);
	return 0;
}

void pm_metrics_add_bad_blocks(struct pm_metrics *metrics)
{
	cleanup_with(pm_nvdimm_names_done) struct pm_nvdimm_names regions = {0};
	const char *fs_root = metrics->agent->op.config.fs_root;
	cleanup_close int root_fd = open(fs_root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct pm_err err;
	int rc = root_fd < 0 ? pm_err_sys(&err, -errno, "open '%s'", fs_root)
			     : pm_nvdimm_list(root_fd, "region", &regions, &err);

	for (size_t i = 0; !rc && i < regions.n; i++)
		rc = add_region(metrics, root_fd, regions.list[i], &err);
	pm_metrics_note_part(metrics, "bad_blocks", rc, &err);
}
