/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_MODEL_PROFILE_REQUEST_H
#define PM_MODEL_PROFILE_REQUEST_H

/*
 * PM_PROFILE, the variable by which a rank is asked for a profile: DIRECTORY[:SOURCE]. The source
 * is how accesses are measured.
 */
#include <stdbool.h>
#include <stddef.h>

enum pm_profile_source {
	PM_PROFILE_AUTO,    /* the first of the next two that works here */
	PM_PROFILE_SAMPLES, /* samples with data addresses, by the processor */
	PM_PROFILE_BURSTS,  /* accessed pages, in bursts of epochs */
	PM_PROFILE_FAULTS,  /* page faults: first touches alone */
	PM_PROFILE_NONE,
	PM_PROFILE_SOURCES,
};

/* "auto", ..., "none" */
extern const char *const pm_profile_source_names[PM_PROFILE_SOURCES];

/*
 * Length of the directory's name. If no source's name follows the last colon, all of the text is
 * the directory, and *ret_source is PM_PROFILE_AUTO.
 */
size_t pm_profile_request_parse(const char *text, enum pm_profile_source *ret_source);

/* True: a word in lower case follows the last colon, and it is not a source's name. */
bool pm_profile_request_is_odd(const char *text);

#endif
