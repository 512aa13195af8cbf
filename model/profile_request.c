/* SPDX-License-Identifier: Apache-2.0 */
#include "model/profile_request.h"

#include <string.h>

const char *const pm_profile_source_names[PM_PROFILE_SOURCES] = {
	"auto", "samples", "bursts", "faults", "none"};

static bool find_source(const char *word, enum pm_profile_source *ret)
{
	for (int i = 0; i < PM_PROFILE_SOURCES; i++) {
		if (!strcmp(word, pm_profile_source_names[i])) {
			*ret = (enum pm_profile_source)i;
			return true;
		}
	}
	return false;
}

size_t pm_profile_request_parse(const char *text, enum pm_profile_source *ret_source)
{
	const char *colon = strrchr(text, ':');

	*ret_source = PM_PROFILE_AUTO;
	return colon && find_source(colon + 1, ret_source) ? (size_t)(colon - text) : strlen(text);
}

bool pm_profile_request_is_odd(const char *text)
{
	const char *colon = strrchr(text, ':');
	enum pm_profile_source source;

	return colon && colon[1] && !find_source(colon + 1, &source) &&
	       !colon[1 + strspn(colon + 1, "abcdefghijklmnopqrstuvwxyz")];
}
