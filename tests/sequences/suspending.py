"""Actions of sites that suspend jobs: an operator's suspension, which frees a job's processors, and its end.

Slurm may then take the job's nodes for idle. They change no mode before the job has ended, and are not given to others that
need one; jobs of the same mode may come to be beside the one that stands still. A run has them with --with.
"""

import time

from actions import OfJob
from world import Submission, World


# slurmstepd takes two seconds to stop a step. Orders that come to a node meanwhile wait there, and not in order: of a
# suspension, a resumption and another suspension the last two change places, also without slurm-pmem, and the step stands for
# ever in a job that Slurm shows as running.
IN_ORDER_S = 5


class Suspend(OfJob):
    name, weight = "suspend", 4.0

    def fits(self, job: Submission) -> bool:
        return (any(record["JobState"] == "RUNNING" for record in job.records)
                and time.time() > job.resumed_at + IN_ORDER_S)

    def change(self, world: World, job: Submission, step: dict) -> None:
        job.stood = True
        world.admin("scontrol", "suspend", job.job_id())


class ResumeJob(OfJob):
    name, weight = "resume job", 2.0

    def fits(self, job: Submission) -> bool:
        return job.is_suspended()

    def change(self, world: World, job: Submission, step: dict) -> None:
        resume_job(world, job)


def resume_job(world: World, job: Submission) -> None:
    job.resumed_at = time.time()
    world.admin("scontrol", "resume", job.job_id())


def resume_all(world: World) -> None:
    for job in world.live():
        if job.is_suspended():
            resume_job(world, job)


SUSPENDING = (Suspend(), ResumeJob())
