/* SPDX-License-Identifier: Apache-2.0 */
/* PM_MODEL, which a rank reads: curves are sound, and what is read is written the same. */
#include "model/words.h"
#include "tests/fuzz/fuzz.h"

static void check_curve(const struct pm_curve *curve)
{
	unsigned at;

	CHECK(pm_curve_check(curve, &at) == PM_CURVE_SOUND);
	for (double threads = 0; threads < 4; threads += 0.5)
		CHECK(pm_curve_at(curve, threads) <= pm_curve_at(curve, threads + 0.5));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_free char *text = pm_fuzz_text(data, size);
	char written[PM_MODEL_TEXT_MAX];
	struct pm_model_words words, again;

	if (pm_model_parse(text, &words))
		return 0;
	CHECK_FITS(words.class);
	check_curve(&words.socket.in);
	check_curve(&words.socket.out);
	check_curve(&words.socket.both_in);
	check_curve(&words.socket.both_out);
	if (pm_model_format(&words, written))
		CHECK(!pm_model_parse(written, &again) && !memcmp(&words, &again, sizeof(words)));
	return 0;
}
