/* Cutting a byte stream into frames, and making them. */
#include "frames.h"

#include <stdlib.h>
#include <string.h>

void buffer_add(struct buffer *buffer, const void *data, size_t length)
{
	if (buffer->length + length > buffer->size) {
		buffer->size = 2 * (buffer->length + length);
		buffer->data = realloc(buffer->data, buffer->size);
		if (!buffer->data)
			abort();
	}
	if (length)
		memcpy(buffer->data + buffer->length, data, length);
	buffer->length += length;
}

void buffer_drop(struct buffer *buffer, size_t length)
{
	buffer->length -= length;
	if (length && buffer->length)
		memmove(buffer->data, buffer->data + length, buffer->length);
}

uint32_t get_u32(const uint8_t *at)
{
	return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

void put_u32(uint8_t *at, uint32_t value)
{
	for (int i = 0; i < 4; i++)
		at[i] = (uint8_t)(value >> (24 - 8 * i));
}

void frame_add(
	struct buffer *out, enum frame_kind kind, uint32_t session, const void *data, size_t length)
{
	uint8_t header[FRAME_HEADER] = {(uint8_t)kind};

	put_u32(header + 1, session);
	put_u32(header + 5, (uint32_t)length);
	buffer_add(out, header, sizeof(header));
	buffer_add(out, data, length);
}

static int find_magic(struct buffer *in)
{
	size_t whole = MAGIC_BYTES + TOKEN_BYTES;
	uint8_t *at = in->length ? memmem(in->data, in->length, MAGIC, MAGIC_BYTES) : NULL;

	if (!at) {
		if (in->length >= MAGIC_BYTES)
			buffer_drop(in, in->length - MAGIC_BYTES + 1);
		return 0;
	}
	buffer_drop(in, (size_t)(at - in->data));
	if (in->length < whole)
		return 0;
	buffer_drop(in, whole);
	return 1;
}

static int parse(const struct buffer *in, struct frame *frame)
{
	if (in->length < FRAME_HEADER)
		return 0;
	frame->kind = in->data[0];
	frame->session = get_u32(in->data + 1);
	frame->length = get_u32(in->data + 5);
	frame->data = in->data + FRAME_HEADER;
	if (frame->kind < OPEN || frame->kind > NOTE || frame->length > FRAME_MAX)
		return -1;
	return in->length >= FRAME_HEADER + frame->length;
}

int frame_next(struct buffer *in, int *synced, struct frame *ret, size_t *ret_used)
{
	for (;;) {
		if (!*synced && !find_magic(in))
			return 0;
		*synced = 1;
		switch (parse(in, ret)) {
		case 1:
			*ret_used = FRAME_HEADER + ret->length;
			return 1;
		case 0:
			return 0;
		}
		*synced = 0;
	}
}
