/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>

#include "model/words.h"
#include "tests/unit/tap.h"

#define FULL                                                                                       \
	"1 class=optane-100 ranks=4 in=1:2500000000,4:8000000000 out=1:1500000000 "                \
	"peak=39000000000,13000000000"

static void test_both_ways(void)
{
	struct pm_model_words words = {.class = "none"};
	char text[PM_MODEL_TEXT_MAX];

	is_number(pm_model_parse(FULL, &words), 0, "a complete text");
	is_text(words.class, "optane-100", "its class");
	is_number(words.ranks, 4, "its ranks");
	is_number(words.socket.in.n, 2, "its curve from PMem");
	is_number((long long)words.socket.in.points[1].bytes_per_s, 8000000000, "a point of it");
	is_number((long long)words.socket.peak_out, 13000000000, "the second peak");
	is_number((long long)pm_model_format(&words, text), (long long)strlen(FULL), "the length");
	is_text(text, FULL, "the same text again");
}

static void test_a_word_twice(void)
{
	struct pm_model_words words = {0}, once = {0};

	is_number(pm_model_parse("1 class=opt1 class=1 in=1:5 out=1:5 peak=5,5", &words), 0,
		"a word that comes twice");
	is_text(words.class, "1", "the second one counts");
	is_number(pm_model_parse("1 class=1 in=1:5 out=1:5 peak=5,5", &once), 0, "the same once");
	ok(!memcmp(&words, &once, sizeof(words)), "nothing of the first one is left");
}

static void test_the_largest(void)
{
	struct pm_model_words again,
		words = {.ranks = 65536, .socket = {.peak_in = 999e12, .peak_out = 999e12}};
	struct pm_curve *curves[] = {
		&words.socket.in, &words.socket.out, &words.socket.both_in, &words.socket.both_out};
	char text[PM_MODEL_TEXT_MAX];

	memset(words.class, 'x', PM_MODEL_CLASS_MAX - 1);
	for (unsigned i = 0; i < 4 * PM_CURVE_POINTS; i++)
		curves[i % 4]->points[curves[i % 4]->n++] =
			(struct pm_curve_point){100 + i, 999e12 + i};
	ok(pm_model_format(&words, text) > 0, "four curves of 16 points fit");
	is_number(pm_model_parse(text, &again), 0, "and are read");
	ok(!memcmp(&words, &again, sizeof(words)), "as they were");
	for (unsigned i = 0; i < PM_CURVE_POINTS; i++)
		words.socket.in.points[i].bytes_per_s = 1e60 + i;
	is_number((long long)pm_model_format(&words, text), 0, "more does not");
}

static const struct {
	const char *text;
	int rc;
} texts[] = {
	{"1 in=1:5 out=1:5 peak=5,5", 0},
	{"1 peak=5,5 out=1:5  in=1:5 ", 0},
	{"1 in=1:5 out=1:5 peak=5,5 later=anything", 0},
	{"1 in=1:5 out=1:5 peak=5,5 both_in=2:4 both_out=2:3", 0},
	{"1 ranks=0 in=1:5 out=1:5 peak=5,5", -EINVAL},
	{"1 ranks=x in=1:5 out=1:5 peak=5,5", -EINVAL},
	{"2 in=1:5 out=1:5 peak=5,5", -EPROTO},
	{"", -EINVAL},
	{"x", -EINVAL},
	{"1", -EINVAL},
	{"1x in=1:5 out=1:5 peak=5,5", -EINVAL},
	{"-1 in=1:5 out=1:5 peak=5,5", -EINVAL},
	{"1 in=1:5 out=1:5", -EINVAL},
	{"1 in=1:5 peak=5,5", -EINVAL},
	{"1 out=1:5 peak=5,5", -EINVAL},
	{"1 in= out=1:5 peak=5,5", -EINVAL},
	{"1 in=1 out=1:5 peak=5,5", -EINVAL},
	{"1 in=1:5, out=1:5 peak=5,5", -EINVAL},
	{"1 in=1:5;2:6 out=1:5 peak=5,5", -EINVAL},
	{"1 in=1:-5 out=1:5 peak=5,5", -EINVAL},
	{"1 in=1:5.5 out=1:5 peak=5,5", -EINVAL},
	{"1 in=1:0 out=1:5 peak=5,5", -EINVAL},
	{"1 in=1:6,2:5 out=1:5 peak=5,5", -EINVAL},
	{"1 in=2:5,1:6 out=1:5 peak=5,5", -EINVAL},
	{"1 in=1:5 out=1:5 peak=5", -EINVAL},
	{"1 in=1:5 out=1:5 peak=5,", -EINVAL},
	{"1 in=1:5 out=1:5 peak=0,5", -EINVAL},
	{"1 in=1:5 out=1:5 peak=5,5 class=a/b", -EINVAL},
	{"1 in=1:1,2:1,3:1,4:1,5:1,6:1,7:1,8:1,9:1,10:1,11:1,12:1,13:1,14:1,15:1,16:1,17:1 out=1:5 "
	 "peak=5,5",
		-EINVAL},
};

static void test_texts(void)
{
	FOR_EACH(row, texts)
	{
		struct pm_model_words words = {.class = "untouched"};

		is_number(pm_model_parse(row->text, &words), row->rc, row->text);
		ok(!row->rc || !strcmp(words.class, "untouched"), "untouched on failure");
	}
}

int main(void)
{
	test_both_ways();
	test_a_word_twice();
	test_the_largest();
	test_texts();
	return tap_done();
}
