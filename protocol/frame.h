/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_FRAME_H
#define PM_FRAME_H

/*
 * Frames between pm-controller and its peers: four bytes of length, most significant first, and
 * that many bytes, 1 to PM_FRAME_MAX. See docs/dev/controller.md.
 */
#include <stddef.h>

#define PM_FRAME_HEAD 4
#define PM_FRAME_MAX  65536

/* One frame while it is received, in pieces of any size; zero it before the first. */
struct pm_frame {
	unsigned char head[PM_FRAME_HEAD];
	size_t have;   /* bytes so far, with the head */
	size_t length; /* of the body, when the head is complete */
	char *body;    /* with a NUL at its end */
};

/*
 * Appends the part of `data` that belongs to this frame; *ret_used is its length. 1: the frame is
 * complete, 0: more is to come. -EMSGSIZE: its length is 0 or above PM_FRAME_MAX; -ENOMEM.
 * *ret_used is untouched on errors.
 */
int pm_frame_take(struct pm_frame *frame, const void *data, size_t length, size_t *ret_used);

/* The body as a frame, malloc'ed; NULL if it is empty, too long, or out of memory. */
char *pm_frame_make(const char *body, size_t length, size_t *ret_length);

/* Frees the body; the frame can then receive the next one. A zeroed frame is fine. */
void pm_frame_done(struct pm_frame *frame);

#endif
