/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_IPMCTL_H
#define PM_IPMCTL_H

/*
 * Parsers of the output of ipmctl with "-u B -o nvmxml". ipmctl prints the list, or <Results> with
 * a sentence if the list is empty, or <Error Type = "1">. Any other output, a missing element and a
 * value that cannot be parsed are errors that quote the output.
 *
 * All return 0, -EBADMSG (cannot be parsed), -EREMOTEIO (ipmctl reports a failure) or -ENOMEM. On
 * failure *ret is untouched.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define PM_DIMM_ID_MAX 16

/* show -memoryresources: the cells that are used, by row and column */
struct pm_resources {
	uint64_t volatile_ddr_bytes;
	uint64_t volatile_pmem_bytes;
	uint64_t appdirect_pmem_bytes;
	uint64_t inaccessible_pmem_bytes;
	uint64_t physical_pmem_bytes;
};

int pm_ipmctl_resources(
	const char *text, size_t length, struct pm_resources *ret, struct pm_err *err);

/* show -d PM_DIMM_ATTRIBUTES -dimm */
#define PM_DIMM_ATTRIBUTES                                                                         \
	"SocketID,Capacity,HealthState,LockState,ManageabilityState,PopulationViolation,"          \
	"ConfigurationStatus,MemoryCapacity,AppDirectCapacity,ReservedCapacity"

/* The same for reports: no decision needs these two. */
#define PM_DIMM_REPORT_ATTRIBUTES PM_DIMM_ATTRIBUTES ",FWVersion,PartNumber"

struct pm_dimm {
	char id[PM_DIMM_ID_MAX];     /* "0x0011" */
	char socket[PM_DIMM_ID_MAX]; /* "0x0000" */
	uint64_t capacity_bytes;
	char health[48];	      /* "Healthy" */
	char lock[48];		      /* "Disabled", "Unlocked", "Locked", ... */
	char manageability[32];	      /* "Manageable" */
	char population_violation[8]; /* "No" */
	char config_status[64];	      /* "Valid", "Not configured", "Failed - Reverted", ... */
	/*
	 * Its use in this boot; 0 if not printed. -memoryresources counts memory that a goal
	 * reserves as inaccessible.
	 */
	uint64_t memory_bytes, appdirect_bytes, reserved_bytes;
	char firmware[24], part[32]; /* "02.02.00.1352", "NMB1XXD128GPS"; "": not known */
};

struct pm_dimms {
	struct pm_dimm *list;
	size_t n;
};

int pm_ipmctl_dimms(const char *text, size_t length, struct pm_dimms *ret, struct pm_err *err);
void pm_dimms_done(struct pm_dimms *dimms);

/*
 * show -sensor: a row for each sensor of each module. A sensor that the module does not have, or
 * does not tell, has no number.
 */
struct pm_sensor {
	char dimm[PM_DIMM_ID_MAX];
	char type[48]; /* "MediaTemperature", "PercentageRemaining", "LatchedDirtyShutdownCount" */
	char text[48]; /* "38C", "100%", "0", "Healthy" */
};

struct pm_sensors {
	struct pm_sensor *list;
	size_t n;
};

int pm_ipmctl_sensors(const char *text, size_t length, struct pm_sensors *ret, struct pm_err *err);
void pm_sensors_done(struct pm_sensors *sensors);

/*
 * The number of "38C", "-2C", "100%", "3600s", "7": in degrees Celsius, percent, seconds, or
 * without a unit. False: it is a word like "Unknown", or has another unit.
 */
bool pm_sensor_number(const struct pm_sensor *sensor, double *ret);

/* show -goal: none pending is an empty list */
struct pm_goal {
	char dimm[PM_DIMM_ID_MAX];
	char socket[PM_DIMM_ID_MAX];
	uint64_t memory_bytes;
	uint64_t appdirect1_bytes;
	uint64_t appdirect2_bytes; /* 0 when ipmctl does not print it */
};

struct pm_goals {
	struct pm_goal *list;
	size_t n;
};

int pm_ipmctl_goals(const char *text, size_t length, struct pm_goals *ret, struct pm_err *err);
void pm_goals_done(struct pm_goals *goals);

/* show -region */
struct pm_region {
	char id[PM_DIMM_ID_MAX];
	char socket[PM_DIMM_ID_MAX];
	char type[48];	 /* "AppDirect", "AppDirectNotInterleaved" */
	char health[32]; /* "Healthy", "Pending", ... */
	uint64_t capacity_bytes;
	uint64_t free_bytes;
};

struct pm_regions {
	struct pm_region *list;
	size_t n;
};

int pm_ipmctl_regions(const char *text, size_t length, struct pm_regions *ret, struct pm_err *err);
void pm_regions_done(struct pm_regions *regions);

/* show -system -capabilities */
struct pm_capabilities {
	uint64_t alignment_bytes;	/* of App Direct: 1 GiB, on early firmware 32 GiB */
	char allowed_volatile_mode[48]; /* "1LM or 2LM" */
	char current_volatile_mode[16]; /* "1LM", "2LM" */
};

int pm_ipmctl_capabilities(
	const char *text, size_t length, struct pm_capabilities *ret, struct pm_err *err);

/* show -a -topology: every slot that has a module, of DRAM or of persistent memory */
struct pm_slot {
	char dimm[PM_DIMM_ID_MAX];   /* "0x0011", of DRAM "N/A" */
	char socket[PM_DIMM_ID_MAX]; /* "0x0000" */
	char type[48];		     /* "DDR4", "Logical Non-Volatile Device" */
	uint64_t capacity_bytes;
};

struct pm_slots {
	struct pm_slot *list;
	size_t n;
};

int pm_ipmctl_slots(const char *text, size_t length, struct pm_slots *ret, struct pm_err *err);
void pm_slots_done(struct pm_slots *slots);

/* version: digits and dots only, "03.00.00.0468" of "... Version 03.00.00.0468-1" */
struct pm_ipmctl_version {
	char text[32];
};

int pm_ipmctl_version(
	const char *text, size_t length, struct pm_ipmctl_version *ret, struct pm_err *err);

/*
 * `create -goal` without -f on an empty stdin. 0: the output ends in the question whether to
 * continue, so the goal would be accepted. Else -EREMOTEIO with the output.
 */
struct pm_dry_run {
	char warnings[512]; /* lines beside the table and the question, joined by "; " */
	char limited[128];  /* "0x0000 0x0001": sockets with a CPU that cannot map all ("Error 127")
			     */
};

int pm_ipmctl_dry_run(const char *text, size_t length, struct pm_dry_run *ret, struct pm_err *err);

#endif
