/* SPDX-License-Identifier: Apache-2.0 */
/* A site profile: what is read can be written and read again, and its model too. */
#include "site/site_profile.h"
#include "tests/fuzz/fuzz.h"

static void check_model(const struct pm_site_profile *profile)
{
	struct pm_model_words words, again;
	char text[PM_MODEL_TEXT_MAX];
	struct pm_err err = {0};
	int rc = pm_site_profile_model(profile, 0, &words, &err);

	CHECK_RESULT(rc, err);
	if (!rc && pm_model_format(&words, text))
		CHECK(!pm_model_parse(text, &again) && again.socket.in.n == words.socket.in.n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_with(pm_site_profile_done) struct pm_site_profile profile = {0}, again = {0};
	cleanup_free char *text = NULL;
	struct pm_err err = {0};
	int rc;

	pm_fuzz_set_file(data, size);
	rc = pm_site_profile_load(PM_FUZZ_FILE, &profile, &err);
	CHECK_RESULT(rc, err);
	CHECK(!rc || !profile.n_sockets);
	if (rc)
		return 0;
	CHECK_FITS(profile.class);
	check_model(&profile);
	text = pm_site_profile_format(&profile);
	pm_fuzz_set_file((const uint8_t *)text, strlen(text));
	CHECK(!pm_site_profile_load(PM_FUZZ_FILE, &again, &err));
	CHECK(again.n_sockets == profile.n_sockets);
	pm_site_profile_done(&again);
	return 0;
}
