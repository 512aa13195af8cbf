/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_MODEL_WORDS_H
#define PM_MODEL_WORDS_H

/*
 * PM_MODEL, the variable in which a launcher hands a rank the model's parameters of its socket, so
 * that the runtime reads no file:
 *
 *	1 class=optane-100 ranks=4 in=1:2900000000,4:9100000000 out=1:1700000000
 *peak=39000000000,13000000000
 *
 * First the version; then words in any order: curves "in", "out", "both_in" and "both_out" as
 * THREADS:BYTES_PER_SECOND with whole numbers, "peak" for in and out, and "ranks", the number of
 * ranks on the socket. A word that a reader does not know is skipped; another version is refused.
 */
#include <stdbool.h>
#include <stddef.h>

#include "model/model.h"

#define PM_MODEL_VARIABLE  "PM_MODEL"
#define PM_MODEL_VERSION   1
#define PM_MODEL_TEXT_MAX  2048 /* with the NUL */
#define PM_MODEL_CLASS_MAX 64	/* with the NUL */

struct pm_model_words {
	char class[PM_MODEL_CLASS_MAX]; /* of the site profile; letters, digits, '.', '_' and '-' */
	unsigned ranks;			/* on the socket; 0: not said */
	struct pm_model_socket socket;
};

/* Length of the text; 0: it does not fit. Numbers are rounded. */
size_t pm_model_format(const struct pm_model_words *words, char text[PM_MODEL_TEXT_MAX]);

/*
 * 0, or -EINVAL: malformed, a curve has a defect, or "in", "out" or "peak" is missing; -EPROTO:
 * another version. On failure *ret is untouched.
 */
int pm_model_parse(const char *text, struct pm_model_words *ret);

/* True: it has only characters of a class's name, at least one, and fits in PM_MODEL_CLASS_MAX. */
bool pm_model_is_class(const char *text);

#endif
