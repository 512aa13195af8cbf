"""A bench with two controllers, each with a service of its own. The one in control is killed, or hands over; a fail-over ends
when the one that serves now answers.
"""

import time

from actions import Action
from bench_supervisor import call
from sites import HARDWARE, BenchSite, wait_for
from world import World

# SlurmctldTimeout is 10 s; a service looks every few seconds which slurmctld is in control.
TAKES_OVER_S = 90
# slurmctld saves its state a few seconds after a change. It is killed when the submissions before are saved.
SAVES_S = 6


class ControllersSite(BenchSite):
    place = "controllers"
    options = ("--controllers", "2", *HARDWARE)

    def come_to_rest(self, world: World) -> None:
        """Both run, as a sequence begins."""
        if world.more.on_backup:
            take_back(world)
        if world.more.backup_down:
            start_backup(world)

    def order(self, what: str, host: str) -> None:
        call(self.bench, host, what)

    def is_up(self, host: str) -> bool:
        lines = self.admin("scontrol", "ping").stdout.splitlines()
        return any(f"({host})" in line and line.endswith("is UP") for line in lines)

    def serves(self, host: str) -> bool:
        """Its service has its slurmctld in control beside it."""
        log = self.home / "log" / ("pm-controller.out" if host == "primary" else "pm-controller.backup.out")
        said = [line for line in log.read_text(errors="replace").splitlines() if "slurmctld of this host" in line]
        return bool(said) and said[-1].endswith("serving")

    def restart_controller(self) -> None:
        super().restart_controller()
        self.await_control("primary")

    def await_control(self, host: str) -> bool:
        return wait_for(TAKES_OVER_S, lambda: self.serves(host) and self.admin("scontrol", "show", "node").returncode == 0)


class OfControllers(Action):
    """Not during an administrator's reboot, see RestartController; whether the one that takes control serves, its service
    says."""

    def choose(self, world, chance):
        return {} if self.fits(world) else None

    def fits(self, world: World) -> bool:
        return not world.rebooting and not world.more.service_down

    def do(self, world, step):
        if not self.fits(world):
            return False
        self.change(world, step)
        return True

    def change(self, world: World, step: dict) -> None:
        raise NotImplementedError


class FailOver(OfControllers):
    """The primary is killed, or hands over in order; the backup takes control."""

    name, weight = "fail over", 2.0

    def choose(self, world, chance):
        return {"how": chance.choice(("kill", "kill", "takeover"))} if self.fits(world) else None

    def fits(self, world):
        return super().fits(world) and not world.more.on_backup and not world.more.backup_down

    def change(self, world, step):
        if step["how"] == "kill":
            time.sleep(SAVES_S)
            world.site.order("kill-slurmctld", "primary")
            note_lost_holds(world)
        else:
            world.admin("scontrol", "takeover")
        world.more.on_backup = True
        take_control(world, "backup")


class TakeBack(OfControllers):
    """The primary starts, and takes control."""

    name, weight = "take back", 2.0

    def fits(self, world):
        return super().fits(world) and world.more.on_backup

    def change(self, world, step):
        take_back(world)


def take_back(world: World) -> None:
    world.site.order("start-slurmctld", "primary")
    world.more.on_backup = False
    take_control(world, "primary")


def note_lost_holds(world: World) -> None:
    """slurmctld was killed now. A hold of pm-controller that slurmctld had not saved is lost, and the job's count begins anew."""
    recent = {job_id for job_id, at in world.site.turned_away() if at > time.time() - 2 * SAVES_S}
    world.more.uncounted |= {job.number for job in world.live() if any(record["JobId"] in recent for record in job.records)}


def take_control(world: World, host: str) -> None:
    if not world.site.await_control(host):
        world.said.append(f"the {host} has not taken control")
    world.disturb(*world.site.nodes)


class KillController(OfControllers):
    """The one in control is killed and started at once, before the other one misses it."""

    name, weight = "kill slurmctld", 2.0

    def change(self, world, step):
        time.sleep(SAVES_S)
        host = "backup" if world.more.on_backup else "primary"
        world.site.order("start-slurmctld", host)
        note_lost_holds(world)
        time.sleep(1)
        take_control(world, host)


class Backup(OfControllers):
    """The backup is killed, with its service or without, and started again. No job depends on it."""

    name, weight = "backup", 1.0

    def choose(self, world, chance):
        return {"what": chance.choice(("slurmctld", "service"))} if self.fits(world) else None

    def fits(self, world):
        return not world.more.on_backup

    def change(self, world, step):
        if world.more.backup_down:
            start_backup(world)
        else:
            world.site.order(f"kill-{step['what']}", "backup")
            world.more.backup_down = step["what"]


def start_backup(world: World) -> None:
    world.site.order(f"start-{world.more.backup_down}", "backup")
    wait_for(TAKES_OVER_S, lambda: world.site.is_up("backup"))
    world.more.backup_down = ""


CONTROLLERS = (FailOver(), TakeBack(), KillController(), Backup())
