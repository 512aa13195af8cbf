#!/usr/bin/python3
"""A private Slurm on this host: one slurmctld, several slurmd, emulated Optane nodes below ipmctl.

Everything runs in a PID namespace of its own below one supervisor: when that ends, in whatever
way, the kernel ends the rest. Nothing of the host's own Slurm, munge or /etc is used or touched.
"""

import argparse
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.dont_write_bytecode = True
from bench_config import Bench, free_ports, write_config  # noqa: E402
from bench_supervisor import call, power_on, supervise, verify  # noqa: E402

TOP = Path(__file__).resolve().parents[2]
UP_TIMEOUT_S = 60
RESTART_TIMEOUT_S = 20


def fail(message: str) -> None:
    raise SystemExit(f"bench: {message}")


def pointer() -> Path:
    """The file that says where the running bench lives."""
    return Path(os.environ.get("PM_BENCH", TOP / "build" / "bench.dir"))


def current() -> Bench:
    try:
        return Bench(Path(pointer().read_text().strip()))
    except OSError:
        fail("is not up, start it with 'tests/cluster/bench up'")


def supervisor_pid(bench: Bench) -> int | None:
    """The outermost process of this bench, or None when it is gone (a reused pid is not it)."""
    try:
        pid = int((bench.dir / "supervisor.pid").read_text())
        command = Path(f"/proc/{pid}/cmdline").read_bytes().decode().split("\0")
    except (OSError, ValueError):
        return None
    return pid if str(bench.dir) in command else None


def end(bench: Bench) -> None:
    pid = supervisor_pid(bench)
    if pid:
        os.kill(pid, signal.SIGKILL)  # --kill-child ends the namespace with it
        while Path(f"/proc/{pid}").exists() and supervisor_pid(bench):
            time.sleep(0.05)
    shutil.rmtree(bench.dir, ignore_errors=True)


def clean_up() -> None:
    """Ends and removes the bench that the pointer names, also one that crashed half way."""
    if pointer().exists():
        end(current())
        pointer().unlink()


# A process namespace with a /proc of its own. Only /proc changes its propagation: in a chroot, where / is no mount
# point, unshare's own --mount-proc fails at that.
NAMESPACE = ["unshare", "--pid", "--mount", "--propagation", "unchanged", "--fork", "--kill-child=KILL", "--",
             "sh", "-c", 'mount --make-rprivate /proc && mount -t proc proc /proc && exec "$@"', "sh"]


def start(bench: Bench, owner: int | None) -> subprocess.Popen:
    """The supervisor in its namespace; it watches its owner through a descriptor of that process."""
    owner_fd = os.pidfd_open(owner) if owner else None
    options = ["--owner-fd", str(owner_fd)] if owner else []
    log = open(bench.dir / "log" / "supervisor.log", "ab")
    command = [*NAMESPACE, sys.executable, "-B", __file__, "supervise", str(bench.dir), *options]
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                               start_new_session=True,
                               pass_fds=[owner_fd] if owner else [])
    log.close()
    (bench.dir / "supervisor.pid").write_text(str(process.pid))
    return process


def node_states(bench: Bench) -> dict[str, str]:
    done = subprocess.run(["sinfo", "-hN", "-o", "%N %T"], env=bench.environment(),
                          capture_output=True, text=True)
    return dict(line.split() for line in done.stdout.splitlines() if len(line.split()) == 2)


def show_logs(bench: Bench) -> None:
    """The last lines that each daemon printed, for a start that failed."""
    for path in sorted((bench.dir / "log").glob("*.log")):
        for line in path.read_text(errors="replace").splitlines()[-5:]:
            print(f"{path.name}: {line}", file=sys.stderr)


def wait_idle(bench: Bench, timeout_s: int = UP_TIMEOUT_S,
              supervisor: subprocess.Popen | None = None) -> None:
    end_at = time.monotonic() + timeout_s
    while time.monotonic() < end_at:
        if supervisor and supervisor.poll() is not None:
            show_logs(bench)
            fail(f"the supervisor ended, see {bench.dir}/log/supervisor.log")
        states = node_states(bench)
        if len(states) == len(bench.nodes()) and set(states.values()) == {"idle"}:
            return
        time.sleep(0.1)
    show_logs(bench)
    fail(f"nodes are not idle after {timeout_s} s: {states}, see {bench.dir}/log")


def up(args: argparse.Namespace) -> int:
    if os.geteuid() != 0:
        fail("needs root: slurmd starts jobs of several users")
    clean_up()
    bench = Bench(Path(tempfile.mkdtemp(prefix="pm-bench.", dir=args.parent)))
    pointer().parent.mkdir(parents=True, exist_ok=True)
    pointer().write_text(f"{bench.dir}\n")
    database = bench.dir if args.accounting else args.accounting_of
    write_config(bench, args.nodes, free_ports(args.nodes + 1 + args.controllers + args.accounting), args.build.resolve(),
                 args.hardware, args.consume_memory, args.controllers, args.own_programs, args.cluster, args.first, database)
    wait_idle(bench, args.timeout, start(bench, args.owner))
    print(bench.dir)
    return 0


def down(_args: argparse.Namespace) -> int:
    clean_up()
    return 0


def show_status(_args: argparse.Namespace) -> int:
    return subprocess.run(["sinfo", "-N", "-o", "%6N %12T %30f %20b %E"],
                          env=current().environment()).returncode


def node_argument(args: argparse.Namespace) -> str:
    if args.node not in current().nodes():
        fail(f"unknown node '{args.node}', nodes are {', '.join(current().nodes())}")
    return args.node


def inject(args: argparse.Namespace) -> int:
    path = current().dir / node_argument(args) / "fault"
    if args.fault == "none":
        path.unlink(missing_ok=True)
    else:
        path.write_text(args.fault)
    return 0


def power_cycle(args: argparse.Namespace) -> int:
    call(current(), node_argument(args))
    return 0


def power(args: argparse.Namespace) -> int:
    """Returns at once, as the commands of BMCs do."""
    call(current(), node_argument(args), args.what)
    return 0


def run_firmware(args: argparse.Namespace) -> int:
    power_on(current(), node_argument(args))
    verify(current(), args.node)
    return 0


def restart_and_wait(daemon: str, line: str, *order: str) -> int:
    """Returns when the new daemon's log has its line once more."""
    log = current().dir / "log" / f"{daemon}.log"
    starts = log.read_text(errors="replace").count(line)
    call(current(), *order)
    end_at = time.monotonic() + RESTART_TIMEOUT_S
    while log.read_text(errors="replace").count(line) == starts:
        if time.monotonic() > end_at:
            fail(f"{daemon} has not started after {RESTART_TIMEOUT_S} s, see {log}")
        time.sleep(0.05)
    return 0


def restart_slurmctld(_args: argparse.Namespace) -> int:
    return restart_and_wait("slurmctld", "Running as primary controller", current().nodes()[0], "controller")


def restart_slurmd(args: argparse.Namespace) -> int:
    """A job that meets the old one would lose its prolog."""
    node = node_argument(args)
    return restart_and_wait(f"slurmd.{node}", "slurmd started", node, "gently" if args.gently else "restart")


def restart_as_booted(args: argparse.Namespace) -> int:
    call(current(), node_argument(args), "booted")
    return 0


def run_service(args: argparse.Namespace) -> int:
    """Returns when the service answers, or no longer does."""
    wanted = args.what == "start"
    path = current().dir / "run" / "controller" / "socket"
    path.unlink(missing_ok=True)
    call(current(), args.what, "service")
    end_at = time.monotonic() + RESTART_TIMEOUT_S
    while path.exists() != wanted or is_service_up() != wanted:
        if time.monotonic() > end_at:
            fail(f"pm-controller has not obeyed '{args.what}', see {current().dir}/log/pm-controller.out")
        time.sleep(0.05)
    return 0


def is_service_up() -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        return probe.connect_ex(str(current().dir / "run" / "controller" / "socket")) == 0


def run_daemon(args: argparse.Namespace) -> int:
    """Returns at once: whether and when a slurmctld takes over is what tests wait for."""
    call(current(), args.host, f"{args.what}-{args.daemon}")
    return 0


def run_idle(args: argparse.Namespace) -> int:
    wait_idle(current(), args.timeout)
    return 0


def enter(args: argparse.Namespace) -> int:
    """The script `bench` has this done by the bench's own "enter", unless something is missing."""
    if args.verb == "node":
        node_argument(args)
    current()
    fail(f"{args.verb}: a command is missing")


CLIENTS = ("srun", "sbatch", "salloc", "squeue", "sacct", "scancel", "sinfo")


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(prog="bench", description=__doc__.splitlines()[0],
                                  epilog="srun, sbatch, salloc, squeue, sacct, scancel and sinfo "
                                         "as a verb run that command as the ordinary user.")
    verbs = top.add_subparsers(dest="verb", required=True, metavar="VERB")

    def verb(name: str, call_it, text: str | None, *arguments) -> argparse.ArgumentParser:
        sub = verbs.add_parser(name, description=text, **({"help": text} if text else {}))
        sub.set_defaults(call=call_it)
        for argument, options in arguments:
            sub.add_argument(argument, **options)
        return sub

    node = ("node", {})
    words = ("command", {"nargs": argparse.REMAINDER})
    verb("up", up, "start a bench (an old one is ended first) and wait until its nodes are idle",
         ("--nodes", {"type": int, "default": 2}),
         ("--hardware", {"metavar": "WORDS", "help": "what Slurm believes of each node, as slurm.conf has it: "
                                                     "'Sockets=2 CoresPerSocket=24'"}),
         ("--controllers", {"type": int, "choices": (1, 2), "default": 1,
                            "help": "2: a backup slurmctld with a service of its own, in a UTS namespace"}),
         ("--cluster", {"metavar": "NAME", "default": "bench", "help": "the cluster's name"}),
         ("--first", {"type": int, "metavar": "N", "default": 1, "help": "the number of the first node"}),
         ("--accounting", {"action": "store_true", "help": "slurmdbd, on MariaDB"}),
         ("--accounting-of", {"type": Path, "metavar": "DIR", "help": "the slurmdbd of the bench in this folder, of which "
                                                                      "this bench is a further cluster"}),
         ("--own-programs", {"action": "store_true", "help": "each node has the programs apart, in NODE/lib"}),
         ("--consume-memory", {"action": "store_true", "help": "Slurm hands out memory as well (CR_Core_Memory)"}),
         ("--build", {"type": Path, "default": TOP / "build", "help": "folder of the products"}),
         ("--owner", {"type": int, "metavar": "PID", "help": "end with this process"}),
         ("--timeout", {"type": int, "default": UP_TIMEOUT_S, "metavar": "S"}),
         ("--parent", {"default": "/var/lib", "help": "where its folder is made; only root may "
                                                            "write there and above"}))
    verb("down", down, "end the bench and remove its folder")
    verb("status", show_status, "the nodes, their features and drain reasons")
    verb("idle", run_idle, "wait until all nodes are idle",
         ("--timeout", {"type": int, "default": UP_TIMEOUT_S}))
    verb("inject", inject, "a fault for the node's next reboot ('none' takes it back)",
         node, ("fault", {}))
    verb("power-cycle", power_cycle, "reset the node, as a BMC would", node)
    verb("power", power, "turn the node off, with all that runs there, or on", ("what", {"choices": ("off", "on")}), node)
    verb("firmware", run_firmware, "apply the node's goal while its slurmd goes on: a change that "
                                   "Slurm does not notice", node)
    verb("restart-slurmd", restart_slurmd, "restart the node's slurmd without a reboot", node,
         ("--gently", {"action": "store_true", "help": "it is told to end, as by systemd, not killed"}))
    verb("slurmd-booted", restart_as_booted, "restart the node's slurmd, which then tells of a boot (slurmd -b)", node)
    verb("restart-slurmctld", restart_slurmctld, "end slurmctld and start it again")
    verb("service", run_service, "kill pm-controller, or start it (anew)",
         ("what", {"choices": ("start", "kill")}))
    verb("daemon", run_daemon, "kill, end (primary alone) or start a daemon of one controller",
         ("what", {"choices": ("kill", "end", "start")}),
         ("daemon", {"choices": ("slurmctld", "service", "slurmdbd", "mariadbd")}), ("host", {"choices": ("primary", "backup")}))
    verb("exec", enter, "run a command as root with the bench's SLURM_CONF", words)
    verb("node", enter, "run a command as root on one node", node, words)
    verb("user", enter, "run a command as the ordinary user", words)
    for client in CLIENTS:
        verb(client, enter, None, words)
    verb("supervise", lambda args: supervise(Bench(args.dir), args.owner_fd), None,
         ("dir", {"type": Path}), ("--owner-fd", {"type": int}))
    return top


def main() -> int:
    args = parser().parse_args()
    return args.call(args)


if __name__ == "__main__":
    sys.exit(main())
