/* SPDX-License-Identifier: Apache-2.0 */
#include "site/profile_merge.h"

static int move_curve(
	struct pm_site_socket *socket, struct pm_site_curve *curve, struct pm_err *err)
{
	struct pm_site_curve *row;

	if (pm_site_socket_curve(socket, curve->curve))
		return 0;
	row = pm_site_socket_add_curve(socket, curve->curve);
	if (!row)
		return pm_err_nomem(err);
	*row = *curve;
	curve->points = NULL;
	curve->n_points = 0;
	return 0;
}

static int copy_value(
	struct pm_site_socket *socket, const struct pm_site_value *value, struct pm_err *err)
{
	return pm_site_socket_value(socket, value->name)
		       ? 0
		       : pm_site_socket_set_value(socket, value->name, &value->measure, err);
}

static int move_loop(
	struct pm_site_loop **loops, size_t *n, struct pm_site_loop *loop, struct pm_err *err)
{
	struct pm_site_loop *row;

	if (pm_site_loop(*loops, *n, loop->loop, loop->place))
		return 0;
	row = pm_site_add_loop(loops, n, loop->loop, loop->place);
	if (!row)
		return pm_err_nomem(err);
	*row = *loop;
	loop->points = NULL;
	loop->n_points = 0;
	return 0;
}

static int move_loops(struct pm_site_loop **loops, size_t *n, struct pm_site_loop *older,
	size_t n_older, struct pm_err *err)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < n_older; i++)
		rc = move_loop(loops, n, &older[i], err);
	return rc;
}

static int move_rows(
	struct pm_site_socket *socket, struct pm_site_socket *older, struct pm_err *err)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < older->n_curves; i++)
		rc = move_curve(socket, &older->curves[i], err);
	for (size_t i = 0; !rc && i < older->n_values; i++)
		rc = copy_value(socket, &older->values[i], err);
	return rc ? rc
		  : move_loops(&socket->loops, &socket->n_loops, older->loops, older->n_loops, err);
}

int pm_site_profile_add_missing(
	struct pm_site_profile *profile, struct pm_site_profile *older, struct pm_err *err)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < older->n_sockets; i++) {
		struct pm_site_socket *socket =
			pm_site_profile_add_socket(profile, older->sockets[i].socket);

		rc = socket ? move_rows(socket, &older->sockets[i], err) : pm_err_nomem(err);
	}
	return rc ? rc
		  : move_loops(
			    &profile->loops, &profile->n_loops, older->loops, older->n_loops, err);
}
