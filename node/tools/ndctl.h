/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_NDCTL_H
#define PM_NDCTL_H

/*
 * Parser of `ndctl list`, which prints an array, a single object or nothing. Idle seeds,
 * namespaces of size 0, are left out.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define PM_UUID_MAX 40

struct pm_namespace {
	char dev[32];  /* "namespace0.0" */
	char mode[16]; /* "fsdax", "devdax", ...; "" if it is not printed */
	char name[64]; /* of create-namespace -n; "" if it has none */
	uint64_t size_bytes;
	/* UUID of its label, which it keeps while it is disabled; needs -v; "" if it has none. */
	char uuid[PM_UUID_MAX];
	char blockdev[32]; /* "pmem0"; "" if disabled, or of mode devdax */
	char chardev[32];  /* "dax0.0"; "" if disabled, or of another mode */
	bool is_disabled;
};

struct pm_namespaces {
	struct pm_namespace *list;
	size_t n;
};

struct pm_nd_region {
	char dev[32]; /* "region0" */
	uint64_t size_bytes, available_bytes;
	uint64_t iset_id;	    /* interleave set, ipmctl's ISetID; 0 if it has none */
	int numa_node, target_node; /* -1 if not printed */
	bool is_disabled;
	struct pm_namespaces namespaces;
};

struct pm_nd_regions {
	struct pm_nd_region *list;
	size_t n;
};

/*
 * Parse `ndctl list -N -i`, and `ndctl list -R -N -i -v`; regions that are not persistent memory
 * are left out. -EBADMSG: it cannot be parsed, the sentence quotes it; -ENOMEM. On failure *ret is
 * untouched.
 */
int pm_ndctl_namespaces(
	const char *text, size_t length, struct pm_namespaces *ret, struct pm_err *err);
int pm_ndctl_regions(
	const char *text, size_t length, struct pm_nd_regions *ret, struct pm_err *err);

void pm_namespaces_done(struct pm_namespaces *namespaces);
void pm_nd_regions_done(struct pm_nd_regions *regions);

#endif
