/*
 * Frames on the wire between host and guest agent: many sessions, each a command with its streams,
 * over one serial port. cluster/frames.py is the host's end and describes them.
 */
#ifndef PMTWIN_FRAMES_H
#define PMTWIN_FRAMES_H

#include <stddef.h>
#include <stdint.h>

enum frame_kind { OPEN = 1, STDIN, SIGNAL, CLOSE, STDOUT, STDERR, CREDIT, EXIT, NOTE };

#define FRAME_HEADER 9
#define FRAME_MAX    (1 << 20)
#define CHUNK	     32768
#define WINDOW	     (8 * CHUNK)
#define MAGIC	     "\xff\xfepmtwin agent\r\n"
#define MAGIC_BYTES  (sizeof(MAGIC) - 1)
#define TOKEN_BYTES  8

struct frame {
	enum frame_kind kind;
	uint32_t session;
	const uint8_t *data;
	uint32_t length;
};

/* A growing byte buffer; out of memory ends the program. */
struct buffer {
	uint8_t *data;
	size_t length, size;
};

void buffer_add(struct buffer *buffer, const void *data, size_t length);

/* Removes the first `length` bytes. */
void buffer_drop(struct buffer *buffer, size_t length);

void frame_add(struct buffer *out, enum frame_kind kind, uint32_t session, const void *data,
	size_t length);

/* 32-bit big endian. */
uint32_t get_u32(const uint8_t *at);
void put_u32(uint8_t *at, uint32_t value);

/*
 * Next frame of what was received, or false when it holds no whole one. Until *synced, and after
 * garbage, everything up to MAGIC and its token is dropped. The frame's data stays valid until
 * buffer_drop(in, *ret_used).
 */
int frame_next(struct buffer *in, int *synced, struct frame *ret, size_t *ret_used);

#endif
