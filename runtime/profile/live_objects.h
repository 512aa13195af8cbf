/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_RUNTIME_LIVE_OBJECTS_H
#define PM_RUNTIME_LIVE_OBJECTS_H

/*
 * The profile's table of live objects: an entry for each granule beside the heap, used at an
 * object's first granule. The thread that allocates or frees an object writes its entry. Other
 * threads may read it meanwhile, and then see an object that is gone or not there yet.
 */
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct pm_live_object {
	atomic_uint_least64_t site, bytes; /* of the last object that began here */
	atomic_bool is_live;		   /* false: it is freed, or already written */
	uint64_t from_ns;
	uint32_t from_iteration;
};

/* After pm_heap_start(). False: no addresses for the table. */
bool pm_live_objects_start(void);

/* The entry of the granule of `p`, which is in the heap. */
struct pm_live_object *pm_live_object(const void *p);

/* An object in the table, as another thread than its owner sees it. */
struct pm_live_view {
	uintptr_t start;
	uint64_t bytes, site;
	bool is_live;
};

/* The first object that starts in [from, to), or started there last. False: there is none. */
bool pm_live_objects_next(uintptr_t from, uintptr_t to, struct pm_live_view *ret);

/* For an object that begins there: pm_live_objects_covering() finds it from inside. */
void pm_live_objects_cover(const void *object, uint64_t bytes);

/* The object that covers this address of the heap, or covered it last. False: there is none. */
bool pm_live_objects_covering(uintptr_t address, struct pm_live_view *ret);

/* Calls `fn` for the objects of all spaces that are live now. */
void pm_live_objects_each(void (*fn)(const struct pm_live_view *live));

#endif
