/* One command that the host runs in this guest, with its three streams. */
#ifndef PMTWIN_SESSION_H
#define PMTWIN_SESSION_H

#include "frames.h"

#include <poll.h>
#include <stdbool.h>
#include <sys/types.h>

#define SESSION_FDS 3

struct session {
	struct session *next;
	uint32_t number;
	pid_t pid;
	int in, out[2];	     /* pipes; -1 when closed; out[0] is stdout, out[1] stderr */
	uint32_t credit[2];  /* bytes that the host still takes of each */
	struct buffer input; /* not yet written to the command */
	bool input_ends;
	bool died;
	int status; /* exit status, or minus the signal's number */
	int64_t died_ms;
};

/*
 * Starts the command of an OPEN frame: NUL-terminated words USER, "login" or "", then argv.
 * If the frame is malformed or the command cannot be started, the reply is STDERR and EXIT 125, 126
 * or 127, as from env(1), and NULL is returned.
 */
struct session *session_start(
	uint32_t number, const uint8_t *words, size_t length, struct buffer *port);

/* A frame for this session. */
void session_frame(struct session *session, const struct frame *frame);

/* Fills SESSION_FDS entries; session_ready() takes them back after poll(). */
void session_poll(const struct session *session, struct pollfd *fds, bool port_has_room);
void session_ready(struct session *session, const struct pollfd *fds, struct buffer *port);

/*
 * True once the command has ended and all of its output is read; if its children keep the pipes
 * open, half a second later. EXIT is sent then.
 */
bool session_finished(struct session *session, int64_t now_ms, struct buffer *port);
void session_free(struct session *session);

#endif
