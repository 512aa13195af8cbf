/* SPDX-License-Identifier: Apache-2.0 */
#include "twin/meter/objects.h"

#include <stdio.h>
#include <stdlib.h>

#define ADDRESS_BITS 47
#define LEAF_BITS    18
#define LEAVES	     (1u << (ADDRESS_BITS - PM_PAGE_SHIFT - LEAF_BITS))
#define GRANULE	     16

static struct pm_object *objects;
static uint32_t count, room;
static uint64_t sequence;
static struct pm_object_page **leaves[LEAVES];

static void *memory(void *found)
{
	if (!found) {
		fprintf(stderr,
			"pmmeter: no memory for what the program's objects are counted in\n");
		exit(1);
	}
	return found;
}

static struct pm_object_page **slot_of(uint64_t address, bool make)
{
	uint64_t page = address >> PM_PAGE_SHIFT, leaf = page >> LEAF_BITS;

	if (leaf >= LEAVES)
		return NULL;
	if (!leaves[leaf] && make)
		leaves[leaf] = memory(calloc(1u << LEAF_BITS, sizeof(*leaves[leaf])));
	return leaves[leaf] ? leaves[leaf] + (page & ((1u << LEAF_BITS) - 1)) : NULL;
}

struct pm_object_page *pm_objects_page(uint64_t address)
{
	struct pm_object_page **slot = slot_of(address, false);

	return slot ? *slot : NULL;
}

/* Granules of the object get another one; those that have been given to a later object stay. */
static void map(const struct pm_object *object, uint32_t from, uint32_t to)
{
	uint64_t end = object->address + object->bytes;

	for (uint64_t at = object->address; at < end; at += GRANULE) {
		struct pm_object_page **slot = slot_of(at, to);
		uint32_t *granule;

		if (!slot)
			return;
		if (!*slot)
			*slot = memory(calloc(1, sizeof(**slot)));
		granule = &(*slot)->objects[(at >> 4) & 0xff];
		if (to || *granule == from)
			*granule = to;
	}
}

static void make_room(void)
{
	if (count < room)
		return;
	room = room ? 2 * room : 4096;
	objects = memory(realloc(objects, room * sizeof(*objects)));
}

struct pm_object *pm_object(uint32_t number)
{
	if (!count) {
		make_room();
		objects[count++] = (struct pm_object){0};
	}
	return objects + number;
}

uint32_t pm_objects_count(void)
{
	pm_object(0);
	return count;
}

void pm_objects_add(uint64_t address, uint64_t bytes, uint64_t site, uint64_t now)
{
	uint32_t number = pm_objects_count();

	make_room();
	objects[count++] = (struct pm_object){.address = address,
		.bytes = bytes,
		.site = site,
		.allocated = ++sequence,
		.allocated_at = now};
	map(objects + number, 0, number);
}

void pm_objects_remove(uint64_t address, uint64_t now)
{
	uint32_t number = pm_object_in(pm_objects_page(address), address);

	if (!number || objects[number].address != address)
		return;
	objects[number].freed = ++sequence;
	objects[number].freed_at = now;
	map(objects + number, number, 0);
}
