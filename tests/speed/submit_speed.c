/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Submits COUNT held one-node batch jobs to slurmctld, one after the other, with the FEATURES that
 * sbatch -C would send ("" for none), and prints the seconds that this took. A program of its own,
 * since sbatch spends more time on its start than slurmctld on the job.
 */
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static int submit(char *features)
{
	char *environment[] = {"PATH=/usr/bin:/bin", NULL};
	submit_response_msg_t *response = NULL;
	job_desc_msg_t job;

	slurm_init_job_desc_msg(&job);
	job.name = "speed";
	job.script = "#!/bin/sh\ntrue\n";
	job.environment = environment;
	job.env_size = 1;
	job.work_dir = "/";
	job.std_out = "/dev/null";
	job.user_id = getuid();
	job.group_id = getgid();
	job.min_nodes = 1;
	job.priority = 0;
	job.features = *features ? features : NULL;
	if (slurm_submit_batch_job(&job, &response)) {
		slurm_perror("submit_speed: slurm_submit_batch_job");
		return -1;
	}
	slurm_free_submit_response_response_msg(response);
	return 0;
}

int main(int argc, char **argv)
{
	double start_s;

	if (argc != 3) {
		fprintf(stderr, "usage: submit_speed COUNT FEATURES\n");
		return 2;
	}
	slurm_init(NULL);
	start_s = now_s();
	for (int i = 0; i < atoi(argv[1]); i++)
		if (submit(argv[2]))
			return 1;
	printf("%.6f\n", now_s() - start_s);
	return 0;
}
