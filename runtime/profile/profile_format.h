/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_RUNTIME_PROFILE_FORMAT_H
#define PM_RUNTIME_PROFILE_FORMAT_H

/*
 * The file format of a profile, DIRECTORY/HOST.RANK.PID.pmprof. pmprof(5) is its page.
 *
 * Records follow each other, in the byte order of the machine (x86-64: little endian). The length
 * of each is a multiple of 8 bytes. The first is a program record. The last is an end record,
 * unless a signal or execve(2) ended the process. All others are in any order: a site may come
 * behind its objects. Readers skip kinds that they do not know.
 *
 * Times are nanoseconds since the start. A text ends with a 0 byte; further 0 bytes fill the
 * record.
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
	PM_RECORD_FURTHER_FRAMES,
	PM_RECORD_SOURCE,
	PM_RECORD_ACCESSES,
};

#define PM_RECORD_FRAMES 3 /* in a site's own record */

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
	uint64_t large_bytes;	/* recorded objects below this size are samples */
	uint64_t every_bytes;	/* mean bytes for which a sample stands */
	uint64_t granule_bytes; /* large objects take a multiple of it */
	uint64_t slab_bytes;	/* slabs at the start, before the first small object */
	uint64_t start_ns;	/* of CLOCK_REALTIME */
	uint32_t pid, rank;	/* rank: UINT32_MAX when unknown */
	char file[];		/* the program */
};

struct pm_record_frame {
	uint64_t build;	 /* first 8 bytes of the file's build ID; without one, a hash of its name */
	uint64_t offset; /* of the return address in the file */
};

/*
 * `number` is the number of frames in this record; the innermost comes first. The key is of all
 * frames.
 */
struct pm_record_site {
	struct pm_record head;
	uint64_t key;
	struct pm_record_frame frames[PM_RECORD_FRAMES];
	char files[]; /* a text for each frame */
};

/*
 * Frames of a site outside of those in its own record, `number` of them. Readers that do not know
 * this kind have the site with three frames. Comes before the site's own record.
 */
struct pm_record_further_frames {
	struct pm_record head;
	uint64_t key;
	struct pm_record_frame frames[]; /* and a text for each */
};

/*
 * `number` is the object's space: 0 metadata, 1 temporary, 2 migration, 3 free, 4 PMem, 5 lent
 * (DRAM that one space has lent to another).
 */
struct pm_record_object {
	struct pm_record head;
	uint64_t site; /* a site's key; 0: unknown */
	uint64_t bytes;
	uint64_t from_ns, to_ns; /* to_ns is 0 if the object was live at the end */
	uint32_t from_iteration, to_iteration;
};

/* `number` counts iterations, or phases in their order, from 1 on. */
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
 * Counters since the start of the process, in the order of runtime/profile/counters.h; UINT64_MAX:
 * this machine has no such counter, or the user may not read it. One record comes with each
 * iteration and phase, and one at the end.
 */
struct pm_record_counters {
	struct pm_record head;
	uint64_t ns;
	uint64_t values[5];
};

/* How accesses were measured. */
enum pm_access_source {
	PM_ACCESSES_BY_BURSTS = 1, /* pages that were accessed in an epoch: bursts.h */
	PM_ACCESSES_BY_SAMPLES,	   /* data addresses that the processor has sampled: samples.h */
	PM_ACCESSES_BY_FAULTS,	   /* page faults */
};

/*
 * `number` is a pm_access_source. Comes at the end. For bursts, a period is the mean length of an
 * epoch in nanoseconds, `count` the number of epochs, and lost are objects that could not be told
 * from their neighbours. For samples, a period is the mean number of events, `count` the number of
 * samples, and lost are those that the kernel had no room for.
 */
struct pm_record_source {
	struct pm_record head;
	uint64_t event; /* of a processor's counter; 0: none */
	uint64_t period;
	uint64_t enabled_ns, running_ns; /* running: while accesses were looked at */
	uint64_t cpu_ns;		 /* processor time that this took */
	uint64_t lost, throttled;
	uint64_t count;
	uint64_t not_samples; /* errno: why the processor does not sample; 0: it does, or was not
				 asked */
	uint64_t elsewhere;   /* samples outside of the heap */
};

/*
 * Accesses to the objects of a site in a burst, or in a window of samples. `number` counts these
 * from 1 on. UINT64_MAX: not measured.
 */
struct pm_record_accesses {
	struct pm_record head;
	uint64_t site; /* a site's key; 0: unknown */
	uint32_t iteration,
		phases; /* when it begins; 0: before the first; phases that have begun */
	uint64_t from_ns, length_ns; /* its begin; the epochs together, or the window */
	uint64_t large; /* 0: of samples of small objects, which stand for more bytes */
	uint64_t read_bytes, written_bytes; /* estimated; read_bytes has written ones in it */
	uint64_t count;			    /* epochs of the burst, or samples of this site */
};

struct pm_record_end {
	struct pm_record head;
	uint64_t ns;
	uint64_t lost_sites; /* lookups that found no slot in the table of sites */
	uint64_t slab_bytes; /* slabs at the end: small objects except samples, and bookkeeping */
};

#endif
