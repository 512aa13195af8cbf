/* SPDX-License-Identifier: Apache-2.0 */
#include "site/site_profile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/fields.h"
#include "base/file.h"
#include "base/list.h"
#include "site/site_file.h"

#define PROFILE_FORMAT "slurm-pmem site profile"

/* --- names --- */

static const char *const curve_names[] = {
#define PM_CURVE(NAME, name, text) name,
#include "site/measures.def"
};

static const char *const value_names[] = {
#define PM_VALUE(NAME, name, unit, text) name,
#include "site/measures.def"
};

static const char *const loop_names[] = {
#define PM_LOOP(NAME, name, text) name,
#include "site/measures.def"
};

static const char *const place_names[] = {
#define PM_PLACE(NAME, name, text) name,
#include "site/measures.def"
};

const char *pm_measured_curve_name(unsigned curve)
{
	return curve < PM_CURVES ? curve_names[curve] : NULL;
}

const char *pm_measured_value_name(unsigned value)
{
	return value < PM_VALUES ? value_names[value] : NULL;
}

const char *pm_measured_loop_name(unsigned loop)
{
	return loop < PM_LOOPS ? loop_names[loop] : NULL;
}

const char *pm_measured_place_name(unsigned place)
{
	return place < PM_PLACES ? place_names[place] : NULL;
}

/* --- the file's members --- */

/* Those of a struct pm_measure in `struct_`, which are members of its own object. */
#define MEASURE(struct_, key_)                                                                     \
	{key_, PM_FIELD_U64, PM_FIELD(struct_, measure.value)},                                    \
		{"low", PM_FIELD_U64, PM_FIELD(struct_, measure.low), .optional = true},           \
		{"high", PM_FIELD_U64, PM_FIELD(struct_, measure.high), .optional = true},         \
		{"samples", PM_FIELD_U32, PM_FIELD(struct_, measure.samples), .optional = true},   \
		{"from", PM_FIELD_TEXT, PM_FIELD(struct_, measure.from), .optional = true},        \
	{                                                                                          \
		"origin", PM_FIELD_FLAG, PM_FIELD(struct_, measure.is_assumed), .flag = "assumed"  \
	}

static const struct pm_field point_fields[] = {
	{"threads", PM_FIELD_U32, PM_FIELD(struct pm_site_curve_point, threads), .optional = true},
	MEASURE(struct pm_site_curve_point, "bytes_per_s"),
	{0},
};

static const struct pm_field curve_fields[] = {
	{"name", PM_FIELD_NAME, PM_FIELD(struct pm_site_curve, curve),
		.name = pm_measured_curve_name, .last = PM_CURVES - 1},
	{"points", PM_FIELD_LIST, PM_FIELD_ENTRIES(struct pm_site_curve, points, n_points),
		.entry = point_fields},
	{0},
};

static const struct pm_field value_fields[] = {
	{"name", PM_FIELD_NAME, PM_FIELD(struct pm_site_value, name),
		.name = pm_measured_value_name, .last = PM_VALUES - 1},
	MEASURE(struct pm_site_value, "value"),
	{0},
};

static const struct pm_field loop_fields[] = {
	{"loop", PM_FIELD_NAME, PM_FIELD(struct pm_site_loop, loop), .name = pm_measured_loop_name,
		.last = PM_LOOPS - 1},
	{"place", PM_FIELD_NAME, PM_FIELD(struct pm_site_loop, place),
		.name = pm_measured_place_name, .last = PM_PLACES - 1},
	{"points", PM_FIELD_LIST, PM_FIELD_ENTRIES(struct pm_site_loop, points, n_points),
		.entry = point_fields},
	{0},
};

static const struct pm_field socket_fields[] = {
	{"socket", PM_FIELD_U32, PM_FIELD(struct pm_site_socket, socket)},
	{"curves", PM_FIELD_LIST, PM_FIELD_ENTRIES(struct pm_site_socket, curves, n_curves),
		.entry = curve_fields},
	{"values", PM_FIELD_LIST, PM_FIELD_ENTRIES(struct pm_site_socket, values, n_values),
		.entry = value_fields},
	{"loops", PM_FIELD_LIST, PM_FIELD_ENTRIES(struct pm_site_socket, loops, n_loops),
		.entry = loop_fields, .may_lack = true},
	{0},
};

static const struct pm_field fields[] = {
	{"class", PM_FIELD_TEXT, PM_FIELD(struct pm_site_profile, class), .filled = true},
	{"reference", PM_FIELD_TEXT, PM_FIELD(struct pm_site_profile, reference), .optional = true},
	{"machine", PM_FIELD_FLAG, PM_FIELD(struct pm_site_profile, is_virtual), .flag = "virtual"},
	{"date", PM_FIELD_TEXT, PM_FIELD(struct pm_site_profile, date), .optional = true},
	{"host", PM_FIELD_TEXT, PM_FIELD(struct pm_site_profile, host), .optional = true},
	{"cpu", PM_FIELD_TEXT, PM_FIELD(struct pm_site_profile, cpu), .optional = true},
	{"kernel", PM_FIELD_TEXT, PM_FIELD(struct pm_site_profile, kernel), .optional = true},
	{"modules", PM_FIELD_TEXT, PM_FIELD(struct pm_site_profile, modules), .optional = true},
	{"sockets", PM_FIELD_LIST, PM_FIELD_ENTRIES(struct pm_site_profile, sockets, n_sockets),
		.entry = socket_fields},
	{"loops", PM_FIELD_LIST, PM_FIELD_ENTRIES(struct pm_site_profile, loops, n_loops),
		.entry = loop_fields, .may_lack = true},
	{0},
};

/* --- checks --- */

static int as_model_curve(
	const struct pm_site_curve *curve, struct pm_curve *ret, struct pm_err *err)
{
	if (curve->n_points > PM_CURVE_POINTS)
		return pm_err_set(err, -EBADMSG, "%zu points; a curve has at most %d",
			curve->n_points, PM_CURVE_POINTS);
	ret->n = (unsigned)curve->n_points;
	for (size_t i = 0; i < curve->n_points; i++)
		ret->points[i] = (struct pm_curve_point){
			curve->points[i].threads, (double)curve->points[i].measure.value};
	return 0;
}

static int complain(
	enum pm_curve_defect defect, unsigned at, const struct pm_curve *curve, struct pm_err *err)
{
	const struct pm_curve_point *point = &curve->points[at];

	if (defect == PM_CURVE_THREADS)
		return pm_err_set(err, -EBADMSG,
			"%.0f threads at point %u; each point has more threads than the one before",
			point->threads, at + 1);
	if (defect == PM_CURVE_FALLS)
		return pm_err_set(err, -EBADMSG,
			"falls to %.0f B/s at %.0f threads; end the curve at its peak, with %.0f "
			"threads",
			point->bytes_per_s, point->threads, point[-1].threads);
	return pm_err_set(err, -EBADMSG, "%.0f B/s at %.0f threads; bandwidth is above 0",
		point->bytes_per_s, point->threads);
}

static int check_curve(const struct pm_site_curve *curve, struct pm_err *err)
{
	struct pm_curve converted;
	unsigned at = 0;
	int rc = as_model_curve(curve, &converted, err);
	enum pm_curve_defect defect = rc ? PM_CURVE_SOUND : pm_curve_check(&converted, &at);

	if (!rc && !converted.n)
		rc = pm_err_set(err, -EBADMSG, "no points; remove it, or measure it again");
	if (!rc && defect)
		rc = complain(defect, at, &converted, err);
	return rc ? pm_err_prefix(err, "curve '%s'", pm_measured_curve_name(curve->curve)) : 0;
}

/* Each curve and each value once. */
static int check_names(const struct pm_site_socket *socket, struct pm_err *err)
{
	for (size_t i = 0; i < socket->n_curves; i++)
		if (pm_site_socket_curve(socket, socket->curves[i].curve) != &socket->curves[i])
			return pm_err_set(err, -EBADMSG, "curve '%s' is there twice",
				pm_measured_curve_name(socket->curves[i].curve));
	for (size_t i = 0; i < socket->n_values; i++)
		if (pm_site_socket_value(socket, socket->values[i].name) != &socket->values[i])
			return pm_err_set(err, -EBADMSG, "value '%s' is there twice",
				pm_measured_value_name(socket->values[i].name));
	return 0;
}

static int check_values(const struct pm_site_socket *socket, struct pm_err *err)
{
	for (size_t i = 0; i < socket->n_values; i++)
		if (!socket->values[i].measure.value)
			return pm_err_set(err, -EBADMSG,
				"value '%s' is 0; remove it, or measure it again",
				pm_measured_value_name(socket->values[i].name));
	return 0;
}

/* Threads grow; a single point may be of all cores, however many. */
static int check_loop_points(const struct pm_site_loop *loop, struct pm_err *err)
{
	const struct pm_site_curve_point *points = loop->points;

	if (!loop->n_points)
		return pm_err_set(err, -EBADMSG, "no points; remove it, or measure it again");
	for (size_t i = 0; i < loop->n_points; i++) {
		if (i && points[i].threads <= points[i - 1].threads)
			return pm_err_set(err, -EBADMSG,
				"%u threads at point %zu; each point has more threads than the one "
				"before",
				points[i].threads, i + 1);
		if (!points[i].measure.value)
			return pm_err_set(err, -EBADMSG,
				"0 B/s at %u threads; bandwidth is above 0", points[i].threads);
	}
	return 0;
}

static int check_loop(const struct pm_site_loop *loops, size_t n, const struct pm_site_loop *loop,
	struct pm_err *err)
{
	if (pm_site_loop(loops, n, loop->loop, loop->place) != loop)
		return pm_err_set(err, -EBADMSG, "is there twice");
	return check_loop_points(loop, err);
}

/* Each loop at a place once. */
static int check_loops(const struct pm_site_loop *loops, size_t n, struct pm_err *err)
{
	for (size_t i = 0; i < n; i++)
		if (check_loop(loops, n, &loops[i], err))
			return pm_err_prefix(err, "loop '%s' at '%s'",
				pm_measured_loop_name(loops[i].loop),
				pm_measured_place_name(loops[i].place));
	return 0;
}

static int check_socket(const struct pm_site_socket *socket, struct pm_err *err)
{
	int rc = check_names(socket, err);

	for (size_t i = 0; !rc && i < socket->n_curves; i++)
		rc = check_curve(&socket->curves[i], err);
	if (!rc)
		rc = check_values(socket, err);
	if (!rc)
		rc = check_loops(socket->loops, socket->n_loops, err);
	return rc ? pm_err_prefix(err, "socket %u", socket->socket) : 0;
}

static int check(const struct pm_site_profile *profile, struct pm_err *err)
{
	int rc = 0;

	if (!pm_model_is_class(profile->class))
		return pm_err_set(err, -EBADMSG,
			"class '%s': use letters, digits, '.', '_' and '-' only", profile->class);
	for (size_t i = 0; !rc && i < profile->n_sockets; i++) {
		if (pm_site_profile_socket(profile, profile->sockets[i].socket) !=
			&profile->sockets[i])
			return pm_err_set(err, -EBADMSG, "socket %u is there twice",
				profile->sockets[i].socket);
		rc = check_socket(&profile->sockets[i], err);
	}
	return rc ? rc : check_loops(profile->loops, profile->n_loops, err);
}

/* --- reading and writing --- */

static int parse(const char *text, size_t length, struct pm_site_profile *into, struct pm_err *err)
{
	cleanup_with(pm_json_cleanup) json_object *root = pm_json_parse(text, length);
	const char *format = root ? pm_json_string(root, "format") : NULL;
	uint64_t version;

	if (!format || strcmp(format, PROFILE_FORMAT) != 0)
		return pm_err_set(err, -EBADMSG,
			"not JSON with \"format\": \"" PROFILE_FORMAT
			"\"; 'pmctl calibrate' writes such files");
	if (pm_json_u64(root, "version", &version) || version != PM_SITE_PROFILE_VERSION)
		return pm_err_set(err, -EBADMSG, "another version of the format; this one reads %d",
			PM_SITE_PROFILE_VERSION);
	if (!pm_fields_read(fields, PM_SITE_PROFILE_VERSION, root, into, err))
		return -EBADMSG;
	return check(into, err);
}

static int load(const char *path, const char *text, size_t length, struct pm_site_profile *ret,
	struct pm_err *err)
{
	struct pm_site_profile profile = {0};
	int rc = parse(text, length, &profile, err);

	if (rc) {
		pm_err_prefix(err, "site profile '%s'", path);
		pm_site_profile_done(&profile);
		return rc;
	}
	*ret = profile;
	return 0;
}

int pm_site_profile_load(const char *path, struct pm_site_profile *ret, struct pm_err *err)
{
	cleanup_free char *text = NULL;
	size_t length;
	int rc = pm_file_read(AT_FDCWD, path, PM_SITE_PROFILE_BYTES, &text, &length, err);

	return rc ? rc : load(path, text, length, ret, err);
}

int pm_site_profile_load_site(const char *path, struct pm_site_profile *ret, struct pm_err *err)
{
	cleanup_free char *text = NULL;
	size_t length;
	int rc = pm_site_file_read(path, PM_SITE_PROFILE_BYTES, &text, &length, err);

	return rc ? rc : load(path, text, length, ret, err);
}

char *pm_site_profile_format(const struct pm_site_profile *profile)
{
	cleanup_with(pm_json_cleanup) json_object *root = json_object_new_object();

	if (!root)
		return NULL;
	pm_json_add_string(root, "format", PROFILE_FORMAT);
	pm_json_add_u64(root, "version", PM_SITE_PROFILE_VERSION);
	pm_fields_format(fields, profile, root);
	return pm_json_format(root);
}

void pm_site_profile_done(struct pm_site_profile *profile)
{
	pm_fields_done(fields, profile);
}

void pm_site_socket_done(struct pm_site_socket *socket)
{
	pm_fields_done(socket_fields, socket);
}

/* --- access --- */

const struct pm_site_socket *pm_site_profile_socket(
	const struct pm_site_profile *profile, unsigned socket)
{
	for (size_t i = 0; i < profile->n_sockets; i++)
		if (*profile->reference || profile->sockets[i].socket == socket)
			return &profile->sockets[i];
	return NULL;
}

struct pm_site_socket *pm_site_profile_add_socket(struct pm_site_profile *profile, unsigned number)
{
	struct pm_site_socket *socket;

	for (size_t i = 0; i < profile->n_sockets; i++)
		if (profile->sockets[i].socket == number)
			return &profile->sockets[i];
	socket = pm_list_next(&profile->sockets, profile->n_sockets, sizeof(*socket));
	if (!socket)
		return NULL;
	profile->n_sockets++;
	socket->socket = number;
	return socket;
}

struct pm_site_curve *pm_site_socket_add_curve(
	struct pm_site_socket *socket, enum pm_measured_curve name)
{
	struct pm_site_curve *curve;

	for (size_t i = 0; i < socket->n_curves; i++)
		if (socket->curves[i].curve == name)
			return &socket->curves[i];
	curve = pm_list_next(&socket->curves, socket->n_curves, sizeof(*curve));
	if (!curve)
		return NULL;
	socket->n_curves++;
	curve->curve = name;
	return curve;
}

struct pm_site_loop *pm_site_add_loop(struct pm_site_loop **loops, size_t *n,
	enum pm_measured_loop name, enum pm_measured_place place)
{
	struct pm_site_loop *loop;

	for (size_t i = 0; i < *n; i++)
		if ((*loops)[i].loop == name && (*loops)[i].place == place)
			return &(*loops)[i];
	loop = pm_list_next(loops, *n, sizeof(*loop));
	if (!loop)
		return NULL;
	++*n;
	loop->loop = name;
	loop->place = place;
	return loop;
}

int pm_site_socket_set_value(struct pm_site_socket *socket, enum pm_measured_value name,
	const struct pm_measure *measure, struct pm_err *err)
{
	struct pm_site_value *value = NULL;

	for (size_t i = 0; !value && i < socket->n_values; i++)
		if (socket->values[i].name == name)
			value = &socket->values[i];
	if (!value) {
		value = pm_list_next(&socket->values, socket->n_values, sizeof(*value));
		if (!value)
			return pm_err_nomem(err);
		socket->n_values++;
	}
	*value = (struct pm_site_value){name, *measure};
	return 0;
}

const struct pm_site_curve *pm_site_socket_curve(
	const struct pm_site_socket *socket, enum pm_measured_curve curve)
{
	for (size_t i = 0; i < socket->n_curves; i++)
		if (socket->curves[i].curve == curve)
			return &socket->curves[i];
	return NULL;
}

const struct pm_site_value *pm_site_socket_value(
	const struct pm_site_socket *socket, enum pm_measured_value name)
{
	for (size_t i = 0; i < socket->n_values; i++)
		if (socket->values[i].name == name)
			return &socket->values[i];
	return NULL;
}

const struct pm_site_loop *pm_site_loop(const struct pm_site_loop *loops, size_t n,
	enum pm_measured_loop loop, enum pm_measured_place place)
{
	for (size_t i = 0; i < n; i++)
		if (loops[i].loop == loop && loops[i].place == place)
			return &loops[i];
	return NULL;
}

static int take_curve(const struct pm_site_socket *socket, enum pm_measured_curve name,
	bool is_needed, struct pm_curve *ret, struct pm_err *err)
{
	const struct pm_site_curve *curve = pm_site_socket_curve(socket, name);

	if (curve)
		return as_model_curve(curve, ret, err);
	*ret = (struct pm_curve){0};
	return is_needed ? pm_err_set(err, -ENODATA, "no curve '%s'", pm_measured_curve_name(name))
			 : 0;
}

static int take_peak(const struct pm_site_socket *socket, enum pm_measured_value name, double *ret,
	struct pm_err *err)
{
	const struct pm_site_value *value = pm_site_socket_value(socket, name);

	if (!value)
		return pm_err_set(err, -ENODATA, "no value '%s'", pm_measured_value_name(name));
	*ret = (double)value->measure.value;
	return 0;
}

static int take_socket(
	const struct pm_site_socket *socket, struct pm_model_socket *model, struct pm_err *err)
{
	int rc = take_curve(socket, PM_CURVE_COPY_IN, true, &model->in, err);

	if (!rc)
		rc = take_curve(socket, PM_CURVE_COPY_OUT, true, &model->out, err);
	if (!rc)
		rc = take_curve(socket, PM_CURVE_BOTH_IN, false, &model->both_in, err);
	if (!rc)
		rc = take_curve(socket, PM_CURVE_BOTH_OUT, false, &model->both_out, err);
	if (!rc)
		rc = take_peak(socket, PM_VALUE_PEAK_IN, &model->peak_in, err);
	return rc ? rc : take_peak(socket, PM_VALUE_PEAK_OUT, &model->peak_out, err);
}

int pm_site_profile_model(const struct pm_site_profile *profile, unsigned socket,
	struct pm_model_words *ret, struct pm_err *err)
{
	const struct pm_site_socket *row = pm_site_profile_socket(profile, socket);
	struct pm_model_words words = {0};
	int rc;

	if (!row)
		return pm_err_set(err, -ENODATA, "site profile '%s' has no socket %u",
			profile->class, socket);
	rc = take_socket(row, &words.socket, err);
	if (rc)
		return pm_err_prefix(err, "site profile '%s', socket %u", profile->class, socket);
	strcpy(words.class, profile->class);
	*ret = words;
	return 0;
}

int pm_site_profile_refuse_virtual(const struct pm_site_profile *profile, struct pm_err *err)
{
	return pm_err_set(err, -EPERM,
		"site profile '%s' was measured under a hypervisor, so its numbers are not a "
		"machine's; --allow-virtual takes them",
		profile->class);
}
