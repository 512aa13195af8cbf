/* SPDX-License-Identifier: Apache-2.0 */
#include "protocol/frame.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

static int begin_body(struct pm_frame *frame)
{
	uint32_t length;

	memcpy(&length, frame->head, sizeof(length));
	length = ntohl(length);
	if (!length || length > PM_FRAME_MAX)
		return -EMSGSIZE;
	frame->body = malloc(length + 1);
	if (!frame->body)
		return -ENOMEM;
	frame->length = length;
	return 0;
}

static size_t take_head(struct pm_frame *frame, const char *data, size_t length)
{
	size_t n = MIN(PM_FRAME_HEAD - frame->have, length);

	memcpy(frame->head + frame->have, data, n);
	frame->have += n;
	return n;
}

static size_t take_body(struct pm_frame *frame, const char *data, size_t length)
{
	size_t at = frame->have - PM_FRAME_HEAD;
	size_t n = MIN(frame->length - at, length);

	memcpy(frame->body + at, data, n);
	frame->body[at + n] = '\0';
	frame->have += n;
	return n;
}

int pm_frame_take(struct pm_frame *frame, const void *data, size_t length, size_t *ret_used)
{
	size_t used = 0;
	int rc;

	if (frame->have < PM_FRAME_HEAD)
		used = take_head(frame, data, length);
	if (frame->have < PM_FRAME_HEAD) {
		*ret_used = used;
		return 0;
	}
	rc = frame->body ? 0 : begin_body(frame);
	if (rc)
		return rc;
	*ret_used = used + take_body(frame, (const char *)data + used, length - used);
	return frame->have == PM_FRAME_HEAD + frame->length;
}

char *pm_frame_make(const char *body, size_t length, size_t *ret_length)
{
	uint32_t head = htonl((uint32_t)length);
	char *whole;

	if (!length || length > PM_FRAME_MAX)
		return NULL;
	whole = malloc(PM_FRAME_HEAD + length);
	if (!whole)
		return NULL;
	memcpy(whole, &head, PM_FRAME_HEAD);
	memcpy(whole + PM_FRAME_HEAD, body, length);
	*ret_length = PM_FRAME_HEAD + length;
	return whole;
}

void pm_frame_done(struct pm_frame *frame)
{
	free(frame->body);
	memset(frame, 0, sizeof(*frame));
}
