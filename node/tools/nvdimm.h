/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_NVDIMM_H
#define PM_NVDIMM_H

/*
 * Regions, modules and namespaces in sys/bus/nd, below the descriptor of a root directory. Names
 * are the kernel's: "region0", "nmem1", "namespace0.0".
 */
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

#define PM_NVDIMM_NAME_MAX 32

struct pm_nvdimm_names {
	char (*list)[PM_NVDIMM_NAME_MAX];
	size_t n;
};

void pm_nvdimm_names_done(struct pm_nvdimm_names *names);
bool pm_nvdimm_names_have(const struct pm_nvdimm_names *names, const char *name);

/* Adds a name unless it is in the list. -ENOMEM, -ENAMETOOLONG. */
int pm_nvdimm_names_add(struct pm_nvdimm_names *names, const char *name);

/* The region of "/dev/dax0.0" or "/dev/pmem1"; -ENODEV: it is not on a region. */
int pm_nvdimm_region_of(
	int root_fd, const char *device, char ret[PM_NVDIMM_NAME_MAX], struct pm_err *err);

/*
 * All entries of sys/bus/nd/devices that start with `prefix`, unordered; none if the bus does not
 * exist. Release with pm_nvdimm_names_done().
 */
int pm_nvdimm_list(
	int root_fd, const char *prefix, struct pm_nvdimm_names *ret, struct pm_err *err);

/* The modules of a region. Release as above. */
int pm_nvdimm_dimms_of(
	int root_fd, const char *region, struct pm_nvdimm_names *ret, struct pm_err *err);

/* sys/bus/nd/devices/NAME/FILE up to its newline; malloc'ed. -ENOENT: it does not exist. */
int pm_nvdimm_text(int root_fd, const char *name, const char *file, char **ret, struct pm_err *err);

/* The same as a number, which may be -1 ("no node"). -EBADMSG. */
int pm_nvdimm_number(
	int root_fd, const char *name, const char *file, long long *ret, struct pm_err *err);

#endif
