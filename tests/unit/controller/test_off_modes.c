/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "controller/off_modes.h"
#include "tests/unit/scratch.h"
#include "tests/unit/tap.h"

#define ALL_FEATURES "pm_memory,pm_appdirect,pm_mixed"
#define OFF	     (NODE_STATE_IDLE | NODE_STATE_POWERED_DOWN)

static node_info_t records[3];
static const node_info_t *by_name[3] = {&records[0], &records[1], &records[2]};
static node_info_msg_t table = {.record_count = 3, .node_array = records};
static struct pm_cluster cluster = {.nodes = &table, .by_name = by_name, .n_by_name = 3};

/* --- slurmctld, in place of the library --- */

static node_info_t now[3];
static char told[200];
static int refusal;

int slurm_load_node(time_t since, node_info_msg_t **ret, uint16_t flags)
{
	(void)since;
	(void)flags;
	*ret = calloc(1, sizeof(**ret));
	(*ret)->record_count = 3;
	(*ret)->node_array = now;
	return 0;
}

void slurm_free_node_info_msg(node_info_msg_t *nodes)
{
	free(nodes);
}

void slurm_init_update_node_msg(update_node_msg_t *request)
{
	*request = (update_node_msg_t){0};
}

int slurm_update_node(update_node_msg_t *request)
{
	snprintf(told + strlen(told), sizeof(told) - strlen(told), "%s=%s;", request->node_names,
		request->features_act);
	errno = EINVAL;
	return refusal;
}

/* --- */

/* n1 and n2 have modes, n3 has none. */
static void set(int i, uint32_t state, char *active)
{
	static char *const names[] = {"n1", "n2", "n3"};

	records[i] = (node_info_t){.name = names[i],
		.node_state = state,
		.features = i < 2 ? ALL_FEATURES : "",
		.features_act = active};
	table.last_update++;
	now[i] = records[i];
}

static void look(struct pm_off_modes *off, struct pm_reboots *reboots)
{
	static struct pm_waiters none;

	told[0] = '\0';
	pm_reboots_look(reboots, &cluster, &none, 1000);
	pm_off_modes_tell(off, &cluster, reboots);
}

static void is_told(const char *text, const char *label)
{
	is_text(told, text, label);
}

static void test_forgotten(struct pm_off_modes *off, struct pm_reboots *reboots)
{
	set(2, OFF, "");
	set(1, NODE_STATE_IDLE, "pm_memory,rack1");
	set(0, NODE_STATE_IDLE, "pm_memory,rack1");
	look(off, reboots);
	is_told("", "nodes that are on");
	set(0, NODE_STATE_IDLE | NODE_STATE_POWERING_DOWN, "rack1");
	look(off, reboots);
	is_told("", "one that is being turned off: not yet");
	set(0, OFF, "rack1");
	look(off, reboots);
	is_told("n1=rack1,pm_memory;",
		"it is off: slurmctld is told its mode, beside what it knows");
	set(0, OFF, NULL);
	look(off, reboots);
	is_told("n1=pm_memory;", "and again until it knows it");
	set(1, OFF, "");
	look(off, reboots);
	is_told("n1,n2=pm_memory;", "nodes of the same features at once");
	set(1, OFF, "rack1");
	look(off, reboots);
	is_told("n1=pm_memory;n2=rack1,pm_memory;", "of others one after the other");
	set(0, OFF, "rack1,pm_memory");
	set(1, OFF, "pm_memory");
	look(off, reboots);
	is_told("", "not where slurmctld forgets nothing");
}

static void test_woken(struct pm_off_modes *off, struct pm_reboots *reboots)
{
	set(0, OFF, "rack1");
	now[0].node_state = NODE_STATE_ALLOCATED | NODE_STATE_POWERING_UP;
	look(off, reboots);
	is_told("", "woken since the table was loaded");
	set(0, OFF, "rack1");
	now[0].features_act = "rack1,pm_mixed";
	look(off, reboots);
	is_told("", "another mode since then");
	set(0, NODE_STATE_ALLOCATED | NODE_STATE_POWERING_UP, "pm_mixed");
	look(off, reboots);
	set(0, OFF, "");
	look(off, reboots);
	is_told("n1=pm_mixed;", "the mode that it had last");
}

static void write_reboots(const char *name, const char *rest)
{
	FILE *file = fopen(scratch_path(name), "w");

	fprintf(file,
		"{\"version\": 1, \"reboots\": [{\"node\": \"n1\", \"from\": \"pm_memory\", "
		"\"to\": \"pm_mixed\", \"start\": 500%s}]}",
		rest);
	fclose(file);
}

static void is_told_after(const char *rest, const char *text, const char *label)
{
	cleanup_with(pm_reboots_done) struct pm_reboots reboots = {0};
	struct pm_off_modes off = {0};
	struct pm_err err;

	write_reboots("before.json", rest);
	(void)pm_reboots_open(&reboots, scratch_path("before.json"), &err);
	set(0, OFF, "rack1");
	look(&off, &reboots);
	is_told(text, label);
}

/* n1 has been turned off while no service ran. */
static void test_begun_anew(void)
{
	is_told_after(", \"end\": 600", "n1=rack1,pm_mixed;", "the mode of its last reboot");
	is_told_after(", \"end\": 600, \"failure\": \"did not come back: down\"", "",
		"from which it did not come back");
	is_told_after("", "", "which has not ended");
}

int main(void)
{
	cleanup_with(pm_reboots_done) struct pm_reboots reboots = {0}, begun = {0};
	struct pm_off_modes off = {0};
	struct pm_err err;

	(void)pm_reboots_open(&reboots, scratch_path("reboots.json"), &err);
	test_forgotten(&off, &reboots);
	test_woken(&off, &reboots);
	(void)pm_reboots_open(&begun, scratch_path("others.json"), &err);
	set(0, OFF, "rack1");
	look(&off, &begun);
	is_told("", "a service that has never seen the node on");
	test_begun_anew();
	set(0, OFF, "");
	refusal = -1;
	look(&off, &reboots);
	ok(off.failing, "a refusal is noted");
	refusal = 0;
	look(&off, &reboots);
	ok(!off.failing, "and its end");
	return tap_done();
}
