/* SPDX-License-Identifier: Apache-2.0 */
/* What peers of pm-controller send: a frame, in two pieces, and the message in it. */
#include "protocol/frame.h"
#include "protocol/message.h"
#include "tests/fuzz/fuzz.h"

static void check_again(const struct pm_message *message)
{
	cleanup_with(pm_message_done) struct pm_message back = {0};
	cleanup_free char *text = pm_message_format(message);

	CHECK(text && !pm_message_parse(text, strlen(text), &back, NULL));
	CHECK(back.type == message->type && back.id == message->id);
	CHECK(back.job_id == message->job_id && !back.text == !message->text);
	CHECK(!back.text || !strcmp(back.text, message->text));
	CHECK(!back.nodes || !strpbrk(back.nodes, " \n\033/"));
}

static void check_message(const char *body, size_t length)
{
	cleanup_with(pm_message_done) struct pm_message message = {0};
	struct pm_err err = {0};
	int rc = pm_message_parse(body, length, &message, &err);

	CHECK_RESULT(rc, err);
	CHECK(!rc == !!message.type);
	if (!rc)
		check_again(&message);
}

/* The first byte says where the pieces part. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_with(pm_frame_done) struct pm_frame frame = {0};
	size_t part, used = 0, more = 0;
	int rc;

	if (!size)
		return 0;
	part = data[0] < size - 1 ? data[0] : size - 1;
	check_message((const char *)data + 1, size - 1);
	rc = pm_frame_take(&frame, data + 1, part, &used);
	if (!rc && used == part)
		rc = pm_frame_take(&frame, data + 1 + part, size - 1 - part, &more);
	CHECK(rc < 0 || used + more <= size - 1);
	CHECK(frame.length <= PM_FRAME_MAX);
	if (rc == 1)
		check_message(frame.body, frame.length);
	return 0;
}
