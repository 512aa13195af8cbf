/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_NDCTL_H
#define PM_NDCTL_H

/*
 * Reader of `ndctl list -N -i`: an array, a single object or nothing at all. Idle seeds, which
 * have size 0, are left out.
 */
#include <stddef.h>
#include <stdint.h>

#include "lib/err.h"

struct pm_namespace {
	char dev[32];  /* "namespace0.0" */
	char mode[16]; /* "fsdax", "devdax", ...; "" when not printed */
	char name[64]; /* given with create-namespace -n; "" when none */
	uint64_t size_bytes;
};

struct pm_namespaces {
	struct pm_namespace *list;
	size_t n;
};

/* -EBADMSG: cannot be understood, the text quotes it; -ENOMEM. On failure *ret is untouched. */
int pm_ndctl_namespaces(
	const char *text, size_t length, struct pm_namespaces *ret, struct pm_err *err);
void pm_namespaces_done(struct pm_namespaces *namespaces);

#endif
