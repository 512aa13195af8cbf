/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_FRAME_H
#define PM_FRAME_H

/*
 * Frames between pm-controller and who asks it: four bytes of length, most significant first, and
 * then so many bytes, at least one and at most PM_FRAME_MAX. See docs/dev/controller.md.
 */
#include <stddef.h>

#define PM_FRAME_HEAD 4
#define PM_FRAME_MAX  65536

/* One frame as it comes in, in whatever pieces; all zero at its start. */
struct pm_frame {
	unsigned char head[PM_FRAME_HEAD];
	size_t have;   /* bytes so far, the head's included */
	size_t length; /* of the body, once the head is there */
	char *body;    /* with a NUL behind it */
};

/*
 * Takes in what belongs to this frame; *ret_used says how much of `data` that was. 1: the frame is
 * whole, 0: more is to come. -EMSGSIZE: its length is 0 or above PM_FRAME_MAX. -ENOMEM.
 */
int pm_frame_take(struct pm_frame *frame, const void *data, size_t length, size_t *ret_used);

/* A body as a frame; malloc'ed, NULL when it is too long or out of memory. */
char *pm_frame_make(const char *body, size_t length, size_t *ret_length);

/* Releases the body; the frame can take the next one. An all-zero frame is fine. */
void pm_frame_done(struct pm_frame *frame);

#endif
