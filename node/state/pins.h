/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_PINS_H
#define PM_PINS_H

/*
 * Pins: namespaces that an administrator wants kept, by the UUID of their label, in one JSON file
 * that is replaced as a whole. A file that cannot be parsed is an error and is never overwritten:
 * it may protect something.
 */
#include "base/err.h"
#include "base/store.h"
#include "node/tools/ndctl.h"

struct pm_pin {
	char uuid[PM_UUID_MAX];
	char name[64], dev[32]; /* at the time of the pin; the name may be "" */
	char time[32];		/* UTC */
};

struct pm_pins {
	struct pm_pin *list;
	size_t n;
};

/* The file, a struct pm_pins; a missing one is an empty list. Release with pm_pins_done(). */
extern const struct pm_store pm_pins_store;

/* Pins a namespace. -EEXIST: it is pinned already; -EINVAL: it has no UUID. */
int pm_pins_add(struct pm_pins *pins, const struct pm_namespace *nd, struct pm_err *err);

/*
 * Removes a pin by UUID, device or name, also of a missing namespace. -ENOENT; -EINVAL: several
 * match.
 */
int pm_pins_remove(struct pm_pins *pins, const char *name, struct pm_err *err);

/* The pin of a namespace; NULL: it has none. */
const struct pm_pin *pm_pins_find(const struct pm_pins *pins, const char *uuid);

void pm_pins_done(struct pm_pins *pins);

#endif
