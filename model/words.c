/* SPDX-License-Identifier: Apache-2.0 */
#include "model/words.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_RANKS 65536

/* The words with curves: name and member of struct pm_model_socket. */
static const struct row {
	const char *name;
	size_t offset;
} rows[] = {
	{"in", offsetof(struct pm_model_socket, in)},
	{"out", offsetof(struct pm_model_socket, out)},
	{"both_in", offsetof(struct pm_model_socket, both_in)},
	{"both_out", offsetof(struct pm_model_socket, both_out)},
};

#define N_ROWS (sizeof(rows) / sizeof(rows[0]))

/* --- writing --- */

struct output {
	char *text;
	size_t used;
	bool is_full;
};

__attribute__((format(printf, 2, 3))) static void add(struct output *out, const char *format, ...)
{
	size_t room = PM_MODEL_TEXT_MAX - out->used;
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(out->text + out->used, room, format, args);
	va_end(args);
	out->is_full |= n < 0 || (size_t)n >= room;
	if (!out->is_full)
		out->used += (size_t)n;
}

static void add_curve(struct output *out, const char *name, const struct pm_curve *curve)
{
	for (unsigned i = 0; i < curve->n; i++)
		add(out, "%s%s%c%.0f:%.0f", i ? "" : " ", i ? "" : name, i ? ',' : '=',
			curve->points[i].threads, curve->points[i].bytes_per_s);
}

size_t pm_model_format(const struct pm_model_words *words, char text[PM_MODEL_TEXT_MAX])
{
	struct output out = {.text = text};
	const struct pm_model_socket *socket = &words->socket;

	add(&out, "%d", PM_MODEL_VERSION);
	if (*words->class)
		add(&out, " class=%s", words->class);
	if (words->ranks)
		add(&out, " ranks=%u", words->ranks);
	for (size_t i = 0; i < N_ROWS; i++)
		add_curve(&out, rows[i].name,
			(const struct pm_curve *)((const char *)socket + rows[i].offset));
	add(&out, " peak=%.0f,%.0f", socket->peak_in, socket->peak_out);
	return out.is_full ? 0 : out.used;
}

/* --- reading --- */

bool pm_model_is_class(const char *text)
{
	size_t length = strlen(text);

	return length && length < PM_MODEL_CLASS_MAX &&
	       strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-") ==
		       length;
}

/* Digits up to `end`, a space or the end of the text. *at is behind `end`, else where it stopped.
 */
static bool read_number(const char **at, char end, double *ret)
{
	char *stop;

	if (**at < '0' || **at > '9')
		return false;
	*ret = (double)strtoull(*at, &stop, 10);
	if (*stop && *stop != end && *stop != ' ')
		return false;
	*at = stop + (*stop == end);
	return true;
}

static bool read_curve(const char *at, struct pm_curve *curve)
{
	unsigned defect_at;

	*curve = (struct pm_curve){0};
	do {
		struct pm_curve_point *point = &curve->points[curve->n];

		if (curve->n++ == PM_CURVE_POINTS || !read_number(&at, ':', &point->threads) ||
			at[-1] != ':' || !read_number(&at, ',', &point->bytes_per_s))
			return false;
	} while (at[-1] == ',');
	return pm_curve_check(curve, &defect_at) == PM_CURVE_SOUND;
}

static bool read_peaks(const char *at, struct pm_model_socket *socket)
{
	return read_number(&at, ',', &socket->peak_in) && at[-1] == ',' &&
	       read_number(&at, ' ', &socket->peak_out) && socket->peak_in > 0 &&
	       socket->peak_out > 0;
}

static bool read_class(const char *at, char class[PM_MODEL_CLASS_MAX])
{
	size_t length = strcspn(at, " ");

	if (length >= PM_MODEL_CLASS_MAX)
		return false;
	memset(class, 0,
		PM_MODEL_CLASS_MAX); /* a word that comes twice leaves nothing of the first */
	memcpy(class, at, length);
	return pm_model_is_class(class);
}

static bool read_ranks(const char *at, unsigned *ret)
{
	double ranks;

	if (!read_number(&at, ' ', &ranks) || ranks < 1 || ranks > MAX_RANKS)
		return false;
	*ret = (unsigned)ranks;
	return true;
}

/* The value of "NAME=" at the beginning of a word; NULL: the word has another name. */
static const char *value_of(const char *word, const char *name)
{
	size_t length = strlen(name);

	return !strncmp(word, name, length) && word[length] == '=' ? word + length + 1 : NULL;
}

static bool read_word(const char *word, struct pm_model_words *words)
{
	const char *value;

	for (size_t i = 0; i < N_ROWS; i++) {
		value = value_of(word, rows[i].name);
		if (value)
			return read_curve(value,
				(struct pm_curve *)((char *)&words->socket + rows[i].offset));
	}
	value = value_of(word, "peak");
	if (value)
		return read_peaks(value, &words->socket);
	value = value_of(word, "ranks");
	if (value)
		return read_ranks(value, &words->ranks);
	value = value_of(word, "class");
	return !value || read_class(value, words->class);
}

int pm_model_parse(const char *text, struct pm_model_words *ret)
{
	struct pm_model_words words = {0};
	double version;

	if (!read_number(&text, ' ', &version))
		return -EINVAL;
	if (version != PM_MODEL_VERSION)
		return -EPROTO;
	for (; *text; text += strcspn(text, " "), text += strspn(text, " "))
		if (!read_word(text, &words))
			return -EINVAL;
	if (!words.socket.in.n || !words.socket.out.n || words.socket.peak_in <= 0)
		return -EINVAL;
	*ret = words;
	return 0;
}
