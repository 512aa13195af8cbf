/* SPDX-License-Identifier: Apache-2.0 */
/* Nothing of a table of jobs is left, whatever slurm_free_job_info_msg() forgets. */
#include "controller/cluster.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/tap.h"

/* --- libslurm, of a release that forgets AdminComment --- */

static unsigned tables_freed, comments_left;

extern void slurm_xfree(void **item);

void slurm_xfree(void **item)
{
	free(*item);
	*item = NULL;
}

void slurm_free_job_info_msg(job_info_msg_t *jobs)
{
	for (uint32_t i = 0; jobs && i < jobs->record_count; i++)
		comments_left += jobs->job_array[i].admin_comment != NULL;
	tables_freed++;
}

int main(void)
{
	slurm_job_info_t rows[] = {{.admin_comment = strdup("pm_hold=60")}, {.job_id = 2},
		{.admin_comment = strdup("pm_same=3953608f3c3e05c8")}};
	job_info_msg_t jobs = {.job_array = rows, .record_count = 3};

	pm_cluster_free_jobs(&jobs);
	ok(tables_freed == 1 && !comments_left, "each job's AdminComment is freed with its table");
	pm_cluster_free_jobs(NULL);
	ok(tables_freed == 2, "there may be no table");
	return tap_done();
}
