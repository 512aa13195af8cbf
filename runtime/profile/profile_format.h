/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_RUNTIME_PROFILE_FORMAT_H
#define PM_RUNTIME_PROFILE_FORMAT_H

/*
 * A profile, DIRECTORY/HOST.RANK.PID.pmprof: records one after the other, in the byte order of the
 * machine (x86-64: little), each a multiple of 8 bytes. The first is a program record, and only one
 * that a process ended without, by a signal or execve(2), has no end record. All others are in any
 * order: a site may come behind its objects. Readers skip kinds that they do not know.
 *
 * Times are nanoseconds since the start. Texts end with a 0 byte, and further ones up to the
 * record's end.
 */
#include <stdint.h>

#define PM_PROFILE_MAGIC   "pmprofile"
#define PM_PROFILE_VERSION 1

enum pm_record_kind {
	PM_RECORD_PROGRAM = 1,
	PM_RECORD_SITE,
	PM_RECORD_OBJECT,
	PM_RECORD_ITERATION,
	PM_RECORD_PHASE,
	PM_RECORD_END,
	PM_RECORD_COUNTERS,
};

struct pm_record {
	uint16_t kind;	/* pm_record_kind */
	uint16_t bytes; /* of the whole record */
	uint32_t number;
};

/* `number` is PM_PROFILE_VERSION. */
struct pm_record_program {
	struct pm_record head;
	char magic[16]; /* PM_PROFILE_MAGIC */
	uint64_t build; /* as in a site's frame */
	uint64_t budget_bytes;
	uint64_t large_bytes;	/* smaller objects are samples */
	uint64_t every_bytes;	/* a sample stands for so many */
	uint64_t granule_bytes; /* other objects take whole ones */
	uint64_t slab_bytes;	/* what jemalloc has for small objects before there are any */
	uint64_t start_ns;	/* of the clock of the day */
	uint32_t pid, rank;	/* rank: UINT32_MAX when unknown */
	char file[];		/* the program's */
};

struct pm_record_frame {
	uint64_t build;	 /* the first 8 bytes of its file's build ID; without one, of its name,
			    hashed */
	uint64_t offset; /* of the return address in the file */
};

/* `number` of frames, innermost first. */
struct pm_record_site {
	struct pm_record head;
	uint64_t key;
	struct pm_record_frame frames[3];
	char files[]; /* as many texts as there are frames */
};

/*
 * `number` is the space it was put into: 0 metadata, 1 temporary, 2 migration, 3 free, 4 PMem, 5
 * DRAM that one of these has lent another.
 */
struct pm_record_object {
	struct pm_record head;
	uint64_t site; /* a site's key; 0: unknown */
	uint64_t bytes;
	uint64_t from_ns, to_ns; /* to_ns is 0 when it was still there at the end */
	uint32_t from_iteration, to_iteration;
};

/* `number` is the iteration's, from 1 on, or the phase's, from 1 on as they come. */
struct pm_record_iteration {
	struct pm_record head;
	uint64_t ns;
};

struct pm_record_phase {
	struct pm_record head;
	uint64_t ns;
	char name[64];
};

/*
 * Since the process began, in the order of runtime/profile/counters.h; UINT64_MAX: not counted
 * there. One comes with each iteration and phase, and at the end.
 */
struct pm_record_counters {
	struct pm_record head;
	uint64_t ns;
	uint64_t values[5];
};

struct pm_record_end {
	struct pm_record head;
	uint64_t ns;
	uint64_t lost_sites; /* that found no room in the table */
	uint64_t slab_bytes; /* what small objects, but samples, and their bookkeeping took */
};

#endif
