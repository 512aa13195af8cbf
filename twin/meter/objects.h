/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_METER_OBJECTS_H
#define PM_METER_OBJECTS_H

/*
 * The objects of a program and the traffic of each. Memory is mapped to objects in granules of 16
 * bytes, as malloc(3) aligns. Object 0 is all that no object holds: stacks, static data, code,
 * small objects.
 */
#include <stdbool.h>
#include <stdint.h>

#define PM_PAGE_SHIFT 12

struct pm_object {
	uint64_t address, bytes, site;
	uint64_t allocated, freed; /* numbers in the sequence of allocations and frees; 0: never */
	uint64_t allocated_at, freed_at;		/* the same in accesses of the program */
	uint64_t loaded, stored;			/* bytes, by the program's accesses */
	uint64_t load_fills, store_fills, written_back; /* lines, behind the last-level cache */
	uint64_t nontemporal;				/* bytes that passed the caches */
	uint64_t load_misses, store_misses;		/* lines, of the first-level cache */
	uint64_t accessed_pages, written_pages;		/* summed over epochs */
};

/* A page's object by granule, and the last epochs in which it was accessed and written (0: none).
 */
struct pm_object_page {
	uint32_t objects[1 << (PM_PAGE_SHIFT - 4)];
	uint32_t accessed, written;
};

/* Exits, with a message, if there is no memory for the emulator. */
void pm_objects_add(uint64_t address, uint64_t bytes, uint64_t site, uint64_t now);
void pm_objects_remove(uint64_t address, uint64_t now);

/* NULL: no object was ever in the page of the address. */
struct pm_object_page *pm_objects_page(uint64_t address);

static inline uint32_t pm_object_in(const struct pm_object_page *page, uint64_t address)
{
	return page ? page->objects[(address >> 4) & 0xff] : 0;
}

/* Valid until the next pm_objects_add(). */
struct pm_object *pm_object(uint32_t number);
uint32_t pm_objects_count(void);

#endif
