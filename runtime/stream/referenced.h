/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_RUNTIME_REFERENCED_H
#define PM_RUNTIME_REFERENCED_H

/*
 * True: the program, or a library that is loaded by now, has a relocation for that function: it may
 * call it. Reads the dynamic sections of the loaded objects (elf(5), dl_iterate_phdr(3)).
 */
#include <stdbool.h>

bool pm_is_referenced(const char *function);

#endif
