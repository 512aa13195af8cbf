/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_NVDIMM_H
#define PM_NVDIMM_H

/*
 * What the kernel has in sys/bus/nd of regions, modules and namespaces, below the descriptor of a
 * root directory. Names are the kernel's: "region0", "nmem1", "namespace0.0".
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

/* Adds a name unless it is there. -ENOMEM, -ENAMETOOLONG. */
int pm_nvdimm_names_add(struct pm_nvdimm_names *names, const char *name);

/* The region below "/dev/dax0.0" or "/dev/pmem1"; -ENODEV when it is on none. */
int pm_nvdimm_region_of(
	int root_fd, const char *device, char ret[PM_NVDIMM_NAME_MAX], struct pm_err *err);

/* Everything in sys/bus/nd/devices that starts with `prefix`, in no order; none when there is no
 * such bus. Release with pm_nvdimm_names_done(). */
int pm_nvdimm_list(
	int root_fd, const char *prefix, struct pm_nvdimm_names *ret, struct pm_err *err);

/* The modules that a region lies on. Release as above. */
int pm_nvdimm_dimms_of(
	int root_fd, const char *region, struct pm_nvdimm_names *ret, struct pm_err *err);

/* sys/bus/nd/devices/NAME/FILE up to its newline; malloc'ed. -ENOENT when there is none. */
int pm_nvdimm_text(int root_fd, const char *name, const char *file, char **ret, struct pm_err *err);

/* The same as a number; -1 is one ("no node"). -EBADMSG. */
int pm_nvdimm_number(
	int root_fd, const char *name, const char *file, long long *ret, struct pm_err *err);

#endif
