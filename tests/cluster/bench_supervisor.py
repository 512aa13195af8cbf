"""The first process of a bench's PID namespace: starts the daemons and plays the nodes' firmware."""

import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import bench_accounting
from bench_config import BACKUP_HOST, TOP, Bench

STOP_S = 10


class Daemons:
    """The running daemons by name; a node's slurmd carries SLURMD_NODENAME."""

    def __init__(self, bench: Bench):
        self.bench = bench
        self.running: dict[str, subprocess.Popen] = {}
        self.resets = dict.fromkeys(bench.nodes(), 0)
        self.boots = {node: threading.Lock() for node in bench.nodes()}
        self.off: set[str] = set()
        self.booted_s = dict.fromkeys(bench.nodes(), time.time() - 1)

    def start(self, name: str, *command: str, **variables: str) -> None:
        environment = self.bench.environment() | variables
        log = open(self.bench.dir / "log" / f"{name}.out", "ab")
        self.running[name] = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL,
                                              stdout=log, stderr=log, start_new_session=True)
        log.close()

    def start_munge(self) -> None:
        run = self.bench.dir / "run"
        self.start("munged", "munged", "--foreground", "--num-threads=2", f"--socket={run}/munge.socket",
                   f"--pid-file={run}/munged.pid", f"--seed-file={run}/munged.seed",
                   f"--key-file={self.bench.dir}/etc/munge.key",
                   f"--log-file={self.bench.dir}/log/munged.log")
        while not (run / "munge.socket").exists():
            time.sleep(0.02)

    def start_controller(self) -> None:
        if self.has_two_controllers():
            self.start("slurmctld", "unshare", "--mount", "sh", "-c", f'{self.mount_hosts()}; exec "$@"', "sh",
                       "slurmctld", "-D")
        else:
            self.start("slurmctld", *own_places(self.bench, "controller"), "slurmctld", "-D")

    def has_two_controllers(self) -> bool:
        return len((self.bench.dir / "service_port").read_text().split()) == 2

    def mount_hosts(self) -> str:
        """With NoCtldInAddrAny slurmctld listens on the address of its host's name."""
        return f"mount --bind {self.bench.dir}/etc/hosts /etc/hosts"

    def start_service(self) -> None:
        self.start("pm-controller", *own_places(self.bench, "controller"), *self.service_command())

    def service_command(self) -> list[str]:
        return [f"{self.bench.dir}/lib/pm-controller", f"--run-dir={self.bench.dir}/run/controller",
                f"--state-dir={self.bench.dir}/kept", f"--config={self.bench.dir}/etc/pmem.conf"]

    def start_on_backup(self, name: str, *command: str) -> None:
        """On a host of another name, where the places of one host are others: pid file, socket, file of modes."""
        run = self.bench.dir / "run"
        script = (f"hostname {BACKUP_HOST}; {self.mount_hosts()}; for place in controller ctld; do "
                  f"mount --bind {run}/backup/$place {run}/$place; done; exec \"$@\"")
        self.start(f"{name}.backup", "unshare", "--uts", "--mount", "sh", "-c", script, "sh", *command)

    def start_backup(self) -> None:
        self.start_on_backup("slurmctld", "slurmctld", "-D", "-L", f"{self.bench.dir}/log/slurmctld.backup.log")

    def start_backup_service(self) -> None:
        self.start_on_backup("pm-controller", *self.service_command())

    def places(self, machine_name: str) -> list[str]:
        return own_places(self.bench, machine_name)

    def kill_service(self) -> None:
        self.kill("pm-controller")

    def kill(self, name: str) -> None:
        daemon = self.running.pop(name, None)
        if daemon:
            daemon.kill()
            daemon.wait()

    def restart_controller(self) -> None:
        """It saves its state at its end. 22.05 may wait for ever there, for a node that boots: then it is killed, as
        systemd does."""
        self.end("slurmctld")
        self.start_controller()

    def end(self, name: str) -> None:
        daemon = self.running[name]
        daemon.terminate()
        try:
            daemon.wait(STOP_S)
        except subprocess.TimeoutExpired:
            daemon.kill()
            daemon.wait()

    def start_slurmd(self, node: str) -> None:
        """It tells the uptime of its machine, see tests/machine/shim/uptime.c. None on a node that is off."""
        if node in self.off:
            return
        places = [*own_places(self.bench, node), *self.read_only(node), *self.configless(node)]
        self.start(f"slurmd.{node}", *places, "slurmd", "-D", "-N", node, *self.conf_server(node), SLURMD_NODENAME=node,
                   LD_PRELOAD=f"{self.bench.dir}/lib/uptime.so", PMSHIM_BOOTED=str(int(self.booted_s[node])))

    def conf_server(self, node: str) -> list[str]:
        """Where the node's folder has a file "conf-server" with slurmctlds: slurmd has its configuration from there."""
        wanted = self.bench.dir / node / "conf-server"
        return ["--conf-server", wanted.read_text().strip()] if wanted.exists() else []

    def configless(self, node: str) -> list[str]:
        """A /run/slurm of its own, where such a slurmd leaves its configuration for Slurm's commands; no SLURM_CONF; and
        munge's socket in its usual place, as slurmd knows no other one yet."""
        alone = ('for place in slurm munge; do mkdir -p /run/$place; mount -t tmpfs -o mode=755 none /run/$place; done; '
                 'touch /run/munge/munge.socket.2; mount --bind "$1" /run/munge/munge.socket.2; shift; '
                 'exec env -u SLURM_CONF "$@"')
        return ["unshare", "--mount", "sh", "-ec", alone, "sh",
                f"{self.bench.dir}/run/munge.socket"] if self.conf_server(node) else []

    def read_only(self, node: str) -> list[str]:
        """Where the node's folder has a file "read-only" with a folder: nothing below that can be written on that node, but
        for the bench's folder if it is /."""
        path = self.bench.dir / node / "read-only"
        if not path.exists():
            return []
        target = path.read_text().strip()
        alone = 'mount --bind "$1" "$1"; mount -o remount,bind,ro "$2"; shift 2; exec "$@"'
        return ["unshare", "--mount", "sh", "-ec", alone, "sh", str(self.bench.dir) if target == "/" else target, target]

    def kill_slurmd(self, node: str, jobs: bool) -> None:
        """The slurmd alone, or with all that runs on that node, as a reset would."""
        self.kill(f"slurmd.{node}")
        while jobs and (found := processes_of(node)):
            kill_all(found)


def own_places(bench: Bench, machine_name: str) -> list[str]:
    """Puts in front of a command what a node, or "controller", has for itself: where its folder has a lib, that is the bench's
    lib there; where it has a file "usr" with a folder, that is /usr: the programs and libraries of another release."""
    own, lib = bench.dir / machine_name / "lib", bench.dir / "lib"
    usr = bench.dir / machine_name / "usr"
    mounts = [f"mount --bind {own} {lib}"] if own.exists() else []
    mounts += [f"mount --bind {usr.read_text().strip()} /usr"] if usr.exists() else []
    return ["unshare", "--mount", "sh", "-c", f'{" && ".join(mounts)} && exec "$@"', "sh"] if mounts else []


def kill_all(pids: list[int]) -> None:
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


def processes_of(node: str) -> list[int]:
    """Processes of one node, by environment: its daemons and its jobs."""
    mark = f"SLURMD_NODENAME={node}".encode()
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            words = set((entry / "environ").read_bytes().split(b"\0"))
        except OSError:
            continue
        if mark in words and int(entry.name) != os.getpid():
            found.append(int(entry.name))
    return found


def machine(*words: str) -> None:
    subprocess.run([sys.executable, "-B", "-m", "machine", *words], cwd=TOP / "twin", check=True)


def take_fault(bench: Bench, node: str) -> list[str]:
    path = bench.dir / node / "fault"
    if not path.exists():
        return []
    fault = path.read_text().strip()
    path.unlink()
    return ["--fault", fault]


def verify(bench: Bench, node: str) -> None:
    """What the node's boot does before slurmd; like the unit, it never stops slurmd."""
    subprocess.run([*own_places(bench, node), f"{bench.dir}/bin/pmctl", "verify"],
                   env=bench.environment() | {"SLURMD_NODENAME": node})


def empty_run_dir(bench: Bench, node: str) -> None:
    """It does not outlive a boot: elsewhere it is on a tmpfs. A pmctl that a test runs by hand may be writing there."""
    run = bench.dir / node / "run"
    shutil.rmtree(run, ignore_errors=True)
    run.mkdir(exist_ok=True)


def power_on(bench: Bench, node: str) -> None:
    empty_run_dir(bench, node)
    machine("reboot", str(bench.dir / node / "machine"), *take_fault(bench, node))


def let_second_pass(since_s: float) -> None:
    """Waits for the second of the wall clock behind that of `since_s`.

    slurmctld compares whole seconds: to it a node has not rebooted yet that is back in the second of the order, and is
    down after ResumeTimeout; and a boot counts for whatever is ordered in its second. Real machines take minutes.
    """
    while int(time.time()) <= int(since_s):
        time.sleep(0.01)


def stay_off(bench: Bench, node: str) -> None:
    """As long as a test wants a boot to take: while the node's folder has a file "off", or the seconds in its "boot_s"."""
    seconds = bench.dir / node / "boot_s"
    if seconds.exists():
        time.sleep(float(seconds.read_text()))
    while (bench.dir / node / "off").exists():
        time.sleep(0.1)


def reboot(daemons: Daemons, node: str) -> None:
    """A reset in the middle of a boot ends that one: it does not come to start its slurmd."""
    bench = daemons.bench
    ordered_s = time.time()
    if node in daemons.off:
        return
    daemons.resets[node] = this = daemons.resets[node] + 1
    daemons.kill_slurmd(node, jobs=True)
    with daemons.boots[node]:
        if daemons.resets[node] != this:
            return
        daemons.kill_slurmd(node, jobs=True)
        stay_off(bench, node)
        power_on(bench, node)
        verify(bench, node)
        daemons.booted_s[node] = ordered_s
        let_second_pass(ordered_s)
        if daemons.resets[node] == this:
            daemons.start_slurmd(node)


def turn_off(daemons: Daemons, node: str) -> None:
    """All of the node ends, a boot as well. The modules and the firmware's goal keep until it is turned on."""
    daemons.off.add(node)
    daemons.resets[node] += 1
    daemons.kill_slurmd(node, jobs=True)


def turn_on(daemons: Daemons, node: str) -> None:
    """As a BMC does: nothing on a node that is on."""
    if node in daemons.off:
        daemons.off.discard(node)
        reboot(daemons, node)


def restart(daemons: Daemons, node: str) -> None:
    daemons.kill_slurmd(node, jobs=False)
    daemons.start_slurmd(node)


def restart_gently(daemons: Daemons, node: str) -> None:
    """As systemd does: slurmd saves at its end which jobs it knows."""
    daemons.end(f"slurmd.{node}")
    daemons.start_slurmd(node)


def restart_as_booted(daemons: Daemons, node: str) -> None:
    """As systemd does with slurmd -b, which tells of a boot that was none."""
    daemons.booted_s[node] = time.time()
    restart_gently(daemons, node)


def crash(daemons: Daemons, node: str) -> None:
    """All processes of the node end at once, slurmd's and the jobs', and slurmd is started anew."""
    daemons.kill_slurmd(node, jobs=True)
    daemons.start_slurmd(node)


def service(daemons: Daemons, what: str) -> None:
    """pm-controller is killed, or killed and started."""
    daemons.kill_service()
    if what == "start":
        daemons.start_service()


def controller(daemons: Daemons, _node: str) -> None:
    daemons.restart_controller()


NAMES = {"slurmctld": "slurmctld", "service": "pm-controller", "slurmdbd": "slurmdbd", "mariadbd": "mariadbd"}


def kill_daemon(what: str):
    return lambda daemons, host: daemons.kill(NAMES[what] + (".backup" if host == "backup" else ""))


def end_daemon(what: str):
    return lambda daemons, _host: daemons.end(NAMES[what])


def start_daemon(what: str):
    def start(daemons: Daemons, host: str) -> None:
        kill_daemon(what)(daemons, host)
        {("slurmctld", "primary"): daemons.start_controller, ("slurmctld", "backup"): daemons.start_backup,
         ("service", "primary"): daemons.start_service, ("service", "backup"): daemons.start_backup_service,
         ("slurmdbd", "primary"): lambda: bench_accounting.start_slurmdbd(daemons),
         ("mariadbd", "primary"): lambda: bench_accounting.start_mariadbd(daemons)}[what, host]()
    return start


ORDERS = {"reboot": reboot, "off": turn_off, "on": turn_on, "restart": restart, "gently": restart_gently,
          "booted": restart_as_booted, "crash": crash, "service": service, "controller": controller}
ORDERS |= {f"{how}-{what}": made(what) for what in NAMES
           for how, made in (("kill", kill_daemon), ("end", end_daemon), ("start", start_daemon))}


def reap_orphans(daemons: Daemons) -> None:
    """Daemonised children of slurmd come to us; the daemons themselves are waited for by name."""
    own = {daemon.pid for daemon in daemons.running.values()}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            pid, rest = entry.parent.name, entry.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if rest[0] == "Z" and rest[1] == str(os.getpid()) and int(pid) not in own:
            try:
                os.waitpid(int(pid), os.WNOHANG)
            except ChildProcessError:
                pass


def has_ended(owner_fd: int | None) -> bool:
    """A process's descriptor becomes readable when it ends."""
    return owner_fd is not None and bool(select.select([owner_fd], [], [], 0)[0])


def serve(daemons: Daemons, orders: socket.socket, owner_fd: int | None) -> None:
    while not has_ended(owner_fd):
        try:
            order, node = orders.recv(256).decode().split()
        except TimeoutError:
            reap_orphans(daemons)
            continue
        print(f"{time.strftime('%T')} {order} {node}", flush=True)
        threading.Thread(target=ORDERS[order], args=(daemons, node)).start()


def supervise(bench: Bench, owner_fd: int | None) -> int:
    """Runs until it is killed, or its owner ends: then it removes the bench, too."""
    daemons = Daemons(bench)
    orders = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    orders.bind(str(bench.dir / "run" / "orders"))
    orders.settimeout(1)
    daemons.start_munge()
    bench_accounting.start(daemons)
    daemons.start_controller()
    daemons.start_service()
    if daemons.has_two_controllers():
        daemons.start_backup()
        daemons.start_backup_service()
    for node in bench.nodes():
        machine("init", str(bench.dir / node / "machine"), "--mode", "appdirect")
        verify(bench, node)
        daemons.start_slurmd(node)
    serve(daemons, orders, owner_fd)
    os.kill(-1, signal.SIGKILL)  # everything in the namespace but us
    shutil.rmtree(bench.dir, ignore_errors=True)
    return 0


def call(bench: Bench, node: str, order: str = "reboot") -> None:
    """Hands an order to the supervisor, from inside or outside of its namespace."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as orders:
        orders.sendto(f"{order} {node}".encode(), str(bench.dir / "run" / "orders"))
