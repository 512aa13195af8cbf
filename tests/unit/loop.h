/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_TESTS_LOOP_H
#define PM_TESTS_LOOP_H

/* File systems of their own, on loop devices: for root, where the kernel has these. */
#include <stdbool.h>
#include <stddef.h>

/* Runs a program; false when it fails. Its first line goes to `line` unless that is NULL. */
bool loop_run(const char *const *argv, char *line, size_t size);

#define LOOP_RUN(line_, size_, ...) loop_run((const char *const[]){__VA_ARGS__, NULL}, line_, size_)

/* A loop device on a new file of `bytes`. False where there is none. */
bool loop_make(size_t bytes, char device[64]);
void loop_drop(const char *device);

/* Mounts it at `place`, which is made, in a mount namespace that is this process's own. */
bool loop_mount(const char *device, const char *place, const char *type, const char *options);

#endif
