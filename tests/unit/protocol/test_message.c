/* SPDX-License-Identifier: Apache-2.0 */
/* Frames and messages between pm-controller and its peers. */
#include <errno.h>

#include "protocol/frame.h"
#include "protocol/message.h"
#include "tests/unit/tap.h"

static void test_pieces(void)
{
	size_t length, used = 0, at = 0;
	char *whole = pm_frame_make("hello", 5, &length);
	struct pm_frame frame = {0};
	int rc = 0;

	for (; at < length && !rc; at += used)
		rc = pm_frame_take(&frame, whole + at, 1, &used);
	is_number(rc, 1, "a frame that comes byte by byte is whole at its last one");
	is_number((long long)at, (long long)length, "and not before");
	is_text(frame.body, "hello", "body");
	pm_frame_done(&frame);
	is_number(
		pm_frame_take(&frame, "\0\0\0\3abcdef", 10, &used), 1, "a frame with more behind");
	is_number((long long)used, 7, "leaves what is not its own");
	pm_frame_done(&frame);
	free(whole);
}

static void test_lengths(void)
{
	static const struct {
		const char *head;
		int rc;
	} rows[] = {{"\0\0\0\0", -EMSGSIZE}, {"\0\1\0\0", 0}, {"\0\1\0\1", -EMSGSIZE},
		{"\377\377\377\377", -EMSGSIZE}, {"\0\0\0\1", 0}};
	size_t used;

	FOR_EACH(row, rows)
	{
		struct pm_frame frame = {0};

		is_number(pm_frame_take(&frame, row->head, PM_FRAME_HEAD, &used), row->rc,
			"a frame's length");
		pm_frame_done(&frame);
	}
	ok(!pm_frame_make("", 0, &used), "no empty frame is made");
	ok(!pm_frame_make("x", PM_FRAME_MAX + 1, &used), "no oversized one");
}

static const struct {
	const char *text;
	int rc;
} rows[] = {
	{"{\"version\":1,\"type\":\"modes\",\"id\":1}", 0},
	{"{\"version\":1,\"type\":\"modes\",\"id\":1,\"job\":\"x\"}", 0},
	{"{\"version\":2,\"type\":\"modes\",\"id\":1}", -EPROTONOSUPPORT},
	{"{\"version\":\"1\",\"type\":\"modes\",\"id\":1}", -EBADMSG},
	{"{\"type\":\"modes\",\"id\":1}", -EBADMSG},
	{"{\"version\":1,\"type\":\"modes\"}", -EBADMSG},
	{"{\"version\":1,\"type\":\"modes\",\"id\":-1}", -EBADMSG},
	{"{\"version\":1,\"type\":\"tea\",\"id\":1}", -EBADMSG},
	{"{\"version\":1,\"type\":7,\"id\":1}", -EBADMSG},
	{"{\"version\":1,\"id\":1}", -EBADMSG},
	{"[1]", -EBADMSG},
	{"1", -EBADMSG},
	{"", -EBADMSG},
	{"{\"version\":1,\"type\":\"modes\",\"id\":1} x", -EBADMSG},
	{"{\"version\":1,\"type\":\"cluster\",\"id\":1}", 0},
	{"{\"version\":1,\"type\":\"nodes\",\"id\":1}", 0},
	{"{\"version\":1,\"type\":\"nodes\",\"id\":1,\"after\":\"n1\"}", 0},
	{"{\"version\":1,\"type\":\"nodes\",\"id\":1,\"after\":\"n1 n2\"}", 0},
	{"{\"version\":1,\"type\":\"nodes\",\"id\":1,\"after\":\"n1\\n\"}", -EBADMSG},
	{"{\"version\":1,\"type\":\"nodes\",\"id\":1,\"after\":\"\"}", -EBADMSG},
	{"{\"version\":1,\"type\":\"nodes\",\"id\":1,\"after\":7}", -EBADMSG},
	{"{\"version\":1,\"type\":\"explain\",\"id\":1,\"job\":7}", 0},
	{"{\"version\":1,\"type\":\"explain\",\"id\":1}", -EBADMSG},
	{"{\"version\":1,\"type\":\"reboots\",\"id\":1,\"by\":\"user\",\"since\":0}", 0},
	{"{\"version\":1,\"type\":\"reboots\",\"id\":1,\"by\":\"account\",\"since\":7,"
	 "\"after\":\"a+b\"}",
		0},
	{"{\"version\":1,\"type\":\"reboots\",\"id\":1,\"by\":\"node\",\"since\":0}", -EBADMSG},
	{"{\"version\":1,\"type\":\"reboots\",\"id\":1,\"by\":1,\"since\":0}", -EBADMSG},
	{"{\"version\":1,\"type\":\"reboots\",\"id\":1,\"since\":0}", -EBADMSG},
	{"{\"version\":1,\"type\":\"reboots\",\"id\":1,\"by\":\"user\",\"since\":-1}", -EBADMSG},
	{"{\"version\":1,\"type\":\"reboots\",\"id\":1,\"by\":\"user\"}", -EBADMSG},
	{"{\"version\":1,\"type\":\"wait\",\"id\":1,\"job\":7,\"uid\":0,\"nodes\":\"n[1-3],m\"}",
		0},
	{"{\"version\":1,\"type\":\"wait\",\"id\":1,\"job\":0,\"uid\":0,\"nodes\":\"n1\"}",
		-EBADMSG},
	{"{\"version\":1,\"type\":\"wait\",\"id\":1,\"job\":67108865,\"uid\":0,\"nodes\":\"n1\"}",
		0},
	{"{\"version\":1,\"type\":\"wait\",\"id\":1,\"job\":4294967293,\"uid\":0,\"nodes\":\"n1\"}",
		0},
	{"{\"version\":1,\"type\":\"wait\",\"id\":1,\"job\":4294967294,\"uid\":0,\"nodes\":\"n1\"}",
		-EBADMSG},
	{"{\"version\":1,\"type\":\"wait\",\"id\":1,\"job\":7,\"uid\":4294967295,\"nodes\":\"n1\"}",
		-EBADMSG},
	{"{\"version\":1,\"type\":\"wait\",\"id\":1,\"job\":7,\"uid\":0,\"nodes\":\"\"}", -EBADMSG},
	{"{\"version\":1,\"type\":\"wait\",\"id\":1,\"job\":7,\"uid\":0,\"nodes\":\"a b\"}",
		-EBADMSG},
	{"{\"version\":1,\"type\":\"wait\",\"id\":1,\"job\":7,\"uid\":0,\"nodes\":\"n\\u0000m\"}",
		-EBADMSG},
	{"{\"version\":1,\"type\":\"wait\",\"id\":1,\"job\":7,\"uid\":0}", -EBADMSG},
	{"{\"version\":1,\"type\":\"turned-away\",\"id\":1,\"job\":7,\"node\":\"n1\",\"text\":"
	 "\"no\"}",
		0},
	{"{\"version\":1,\"type\":\"turned-away\",\"id\":1,\"job\":7,\"node\":\"n1\",\"text\":"
	 "\"a\\nb\"}",
		-EBADMSG},
	{"{\"version\":1,\"type\":\"turned-away\",\"id\":1,\"job\":7,\"node\":\"n1\",\"text\":"
	 "\"\\u001b[2J\"}",
		-EBADMSG},
	{"{\"version\":1,\"type\":\"list\",\"id\":1,\"list\":[]}", 0},
	{"{\"version\":1,\"type\":\"list\",\"id\":1,\"list\":{}}", -EBADMSG},
};

static void test_parse(void)
{
	FOR_EACH(row, rows)
	{
		struct pm_message message = {0};
		struct pm_err err = {0};
		int rc = pm_message_parse(row->text, strlen(row->text), &message, &err);

		ok(rc == row->rc, "%s: %d %s", row->text, rc, err.text);
		ok(!rc || !message.type, "nothing is returned on failure");
		pm_message_done(&message);
	}
}

static void test_round_trip(void)
{
	struct pm_message message = {.type = PM_MESSAGE_TURNED_AWAY,
		.id = 12,
		.job_id = 34,
		.node = (char *)"n1",
		.text = (char *)"you ask for \"too\" much"};
	struct pm_message back = {0};
	char *text = pm_message_format(&message);

	ok(!strchr(text, '\n'), "one line");
	is_number(pm_message_parse(text, strlen(text), &back, NULL), 0, "read again");
	is_number(back.type, PM_MESSAGE_TURNED_AWAY, "type");
	is_number((long long)back.id, 12, "id");
	is_number(back.job_id, 34, "job");
	is_text(back.node, "n1", "node");
	is_text(back.text, message.text, "text");
	ok(pm_message_is_request(back.type) && !pm_message_is_request(PM_MESSAGE_READY),
		"a question");
	pm_message_done(&back);
	free(text);
}

int main(void)
{
	test_pieces();
	test_lengths();
	test_parse();
	test_round_trip();
	return tap_done();
}
