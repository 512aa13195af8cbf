"""How a submission is done; which ones there are is in actions.py."""

import time

from request import read
from world import Submission, Version, World

MAX_LIVE = 6
BESIDE = 2      # beyond these, where an action needs a job of its own


def next_number(world: World) -> int:
    return max(world.submissions, default=0) + 1


def submit(world: World, step: dict) -> Submission:
    site, number = world.site, step["job"]
    log, words = (site.folder / f"s{number}.{kind}" for kind in ("log", "words"))
    request = read(step["argv"], step["env"])
    job = Submission(number, step["argv"], step["env"], [Version(request, time.time(), time.time())], log, words)
    job.clock_s = site.times.clock
    job.could_be_served = request.can_be_served(world.up())
    job.shares = world.more.policy == "shared nodes"
    world.more.note({number})
    if step.get("name"):
        world.more.named.add(number)
    argv = [step["argv"][0], f"--job-name={job.name}{step.get('name', '')}", *step["argv"][1:]]
    command = site.job_command(log, step["seconds"], *step.get("mess", ()))
    if job.is_batch:
        done = site.user([*argv, "--output=/dev/null", *command], step["env"])
        world.note(done)
        job.status = done.returncode
        words.write_text(done.stderr)
    else:
        job.client = site.start([*argv, *command], step["env"], words)
    world.add(job)
    return job
