/* SPDX-License-Identifier: Apache-2.0 */
#include "base/suggest.h"

#include "tests/unit/tap.h"

static const char *const modes[] = {"memory", "appdirect", "flat", "mixed", NULL};

static const struct {
	const char *word, *meant;
} words[] = {
	{"Memory", "memory"},
	{"FLAT", "flat"},
	{"memroy", "memory"},
	{"memor", "memory"},
	{"memoryy", "memory"},
	{"app-direct", "appdirect"},
	{"AppDirekt", "appdirect"},
	{"flta", "flat"},
	{"mixd", "mixed"},
	{"bogus", NULL},
	{"fl", NULL},
	{"2lm", NULL},
	{"", NULL},
	{"m", NULL},
	{"memorymemorymemorymemorymemorymemory", NULL},
};

static const struct {
	const char *text, *size;
} sizes[] = {
	{"1GB", "1G"},
	{"1gib", "1G"},
	{"100 GB", "100G"},
	{"3.5G", "3584M"},
	{"0.5T", "512G"},
	{"1.5GiB", "1536M"},
	{"1e3G", "1000G"},
	{"0.5K", "1K"},
	{"5", NULL},
	{"-1G", NULL},
	{"G", NULL},
	{"1GX", NULL},
	{"0G", NULL},
	{"nanG", NULL},
	{"99999999999999999999G", NULL},
	{"much", NULL},
	{"", NULL},
};

int main(void)
{
	FOR_EACH(row, words)
	is_text(pm_suggest_word(row->word, modes), row->meant, row->word);
	FOR_EACH(row, sizes)
	{
		char size[PM_SIZE_TEXT];

		is_text(pm_suggest_size(row->text, size) ? size : NULL, row->size, row->text);
	}
	return tap_done();
}
