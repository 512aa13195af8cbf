/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_FUZZ_H
#define PM_FUZZ_H

/*
 * What the fuzz targets share. A target is a file target_NAME.c with libFuzzer's one function. What
 * it checks besides memory errors it states by CHECK.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/err.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The bytes with a NUL behind them, as pm_run() hands over a tool's output; malloc'ed. */
char *pm_fuzz_text(const uint8_t *data, size_t size);

/*
 * A path for readers of files. While the input is set, whatever they open, they read these bytes:
 * pm_file_read(), pm_file_read_fd() and pm_secure_open() are wrapped by the linker, so that a run
 * costs no file. The path itself is that of a regular file of root's.
 */
#define PM_FUZZ_FILE "/etc/passwd"
void pm_fuzz_set_file(const uint8_t *data, size_t size);

#define CHECK(cond_)                                                                               \
	do {                                                                                       \
		if (!(cond_)) {                                                                    \
			fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #cond_);  \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

/* Each reader's contract: 0, or a negative errno that err repeats with a sentence. */
#define CHECK_RESULT(rc_, err_) CHECK((rc_) == 0 || ((rc_) < 0 && *(err_).text))

/* An array of char in a struct holds its own end: the sanitizer does not see one that overflows
 * into its neighbour. */
#define CHECK_FITS(array_) CHECK(strnlen(array_, sizeof(array_)) < sizeof(array_))

#endif
