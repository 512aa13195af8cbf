"""Where a bench keeps what, and the configuration that is written for it.

The sample configuration in etc/ is what the bench runs: only its paths are replaced, and what a
private Slurm needs beside it (ports, spool folders, munge socket) is put in front.
"""

import os
import re
import secrets
import shutil
import socket
import stat
import subprocess
from dataclasses import dataclass
from pathlib import Path

import bench_accounting

TOP = Path(__file__).resolve().parents[2]
PRESERVED = ("PM_", "LC_", "LANG", "TERM", "HOME", "COLUMNS", "SLURM_CONSTRAINT", "SBATCH_", "SRUN_",
             "SALLOC_")


@dataclass(frozen=True)
class Bench:
    """One bench, which lives below `dir`; jobs are submitted as the user `uid`."""

    dir: Path
    uid: int = 65534
    gid: int = 65534

    def nodes(self) -> list[str]:
        return (self.dir / "nodes").read_text().split()

    def environment(self) -> dict[str, str]:
        """The caller's own PM_ and locale settings, nothing of another Slurm, this SLURM_CONF."""
        return {k: v for k, v in os.environ.items() if k.startswith(PRESERVED)} | self.variables()

    def variables(self) -> dict[str, str]:
        return {"PATH": f"{self.dir}/bin:/usr/sbin:/usr/bin:/sbin:/bin",
                "SLURM_CONF": f"{self.dir}/etc/slurm.conf", "PMBENCH": str(self.dir)}


def free_ports(count: int) -> list[int]:
    """`count` consecutive free ports of 127.0.0.1, below the range that srun takes its own from."""
    for first in range(20000 + secrets.randbelow(8000), 32000):
        if all(is_free(port) for port in range(first, first + count)):
            return list(range(first, first + count))
    raise SystemExit("bench: no free ports")


def is_free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True


def write(path: Path, text: str, mode: int = 0o644) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(mode)


def write_script(path: Path, *lines: str) -> None:
    write(path, "\n".join(("#!/bin/sh", *lines, "")), 0o755)


def sample(bench: Bench, name: str) -> str:
    """A file of etc/ with the installed places replaced by the bench's."""
    places = {"/usr/libexec/slurm-pmem": f"{bench.dir}/bin",
              "/usr/lib/x86_64-linux-gnu/slurm-wlm": f"{bench.dir}/lib",
              "/usr/share/slurm-pmem": f"{bench.dir}/share",
              "/etc/slurm": f"{bench.dir}/etc"}
    text = (TOP / "etc" / name).read_text()
    for installed, private in places.items():
        text = text.replace(installed, private)
    return text


def node_lines(host: str, names: list[str], ports: list[int]) -> str:
    """Each node has a feature of its own, rack1, rack2, ..., for combined constraints; from n2 on also
    features with names that only slurm.conf takes, not helpers.conf."""
    return "".join(f"NodeName={name} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} "
                   f"Feature=rack{name[1:]}{'' if name == 'n1' else f',rack-{name[1:]},c++'}\n"
                   for name, port in zip(names, ports))


# The second controller's host: a UTS namespace with this name, on an address of its own.
BACKUP_HOST = "pmbackup"
ADDRESSES = ("127.0.0.1", "127.0.0.2")
OF_TWO_CONTROLLERS = f"""\
SlurmctldHost={BACKUP_HOST}({ADDRESSES[1]})
CommunicationParameters=NoCtldInAddrAny
SlurmctldTimeout=10
"""

HARDWARE = "CPUs=2 RealMemory=256"

# The bench uses no control groups; named, the plugin is not looked for, which fails where none are mounted.
CGROUP_CONF = "CgroupPlugin=cgroup/v1\n"


def own_name() -> str:
    return socket.gethostname().split(".")[0]


def slurm_conf(bench: Bench, names: list[str], ports: list[int], hardware: str | None, consumes_memory: bool,
               controllers: int, cluster: str, accounting: str) -> str:
    host = own_name()
    believed = "SlurmdParameters=config_overrides\n" if hardware else ""
    return f"""\
ClusterName={cluster}
{accounting}\
SlurmctldHost={host}(127.0.0.1)
{OF_TWO_CONTROLLERS if controllers == 2 else ""}\
SlurmctldPort={ports[0]}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
StateSaveLocation={bench.dir}/state
SlurmdSpoolDir={bench.dir}/%n/spool
SlurmctldPidFile={bench.dir}/run/ctld/slurmctld.pid
SlurmdPidFile={bench.dir}/run/slurmd.%n.pid
SlurmctldLogFile={bench.dir}/log/slurmctld.log
SlurmdLogFile={bench.dir}/log/slurmd.%n.log
SlurmctldDebug=debug
SlurmdDebug=debug
DebugFlags=NodeFeatures
LogTimeFormat=iso8601_ms
PlugStackConfig={bench.dir}/etc/plugstack.conf
ProctrackType=proctrack/linuxproc
TaskPlugin=task/affinity
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters={"CR_Core_Memory" if consumes_memory else "CR_Core"}
SwitchType=switch/none
MpiDefault=none
InactiveLimit=0
KillWait=2
include {bench.dir}/etc/slurm-pmem.conf
{believed}NodeName=DEFAULT {hardware or HARDWARE} State=UNKNOWN
{node_lines(host, names, ports[1:])}PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def pmem_conf_of_slurm(bench: Bench) -> str:
    """The sample include file, with the few values that a reboot of a second asks for."""
    text = sample(bench, "slurm-pmem.conf")
    text = re.sub(r"^ResumeTimeout=.*$", "ResumeTimeout=40", text, flags=re.M)
    text = re.sub(r"^HealthCheckInterval=.*$", "HealthCheckInterval=2", text, flags=re.M)
    text = re.sub(r"^AuthInfo=.*$",
                  f"AuthInfo=socket={bench.dir}/run/munge.socket,cred_expire=5", text, flags=re.M)
    return re.sub(r"^(SchedulerParameters=.*)$",
                  r"\1,batch_sched_delay=0,sched_interval=2,bf_interval=2,sched_min_interval=0",
                  text, flags=re.M)


def slurm_version() -> str:
    """Of the Slurm here, as Lua has it: 24.11."""
    said = subprocess.run(["slurmctld", "-V"], check=True, capture_output=True, text=True).stdout
    return re.search(r"\d+\.\d+", said)[0]


def job_submit(bench: Bench) -> str:
    """The sample with the lines that a site removes the comment from, and where the service keeps its view.

    Whether a node must reboot depends on the test before, so users are not told; 130-cluster.bats has that switched on.
    """
    state_file = f'pm.state_file = "{bench.dir}/run/controller/modes"'
    text = re.sub(r"^--(pm\.slurm_version =) .*$", rf"\1 {slurm_version()}\n{state_file}", sample(bench, "job_submit.lua"),
                  flags=re.M)
    return re.sub(r"^--(pm\.tells_reboots = false)$", r"\1", text, flags=re.M)


def own_programs(bench: Bench) -> str:
    ports = (bench.dir / "service_port").read_text().split()
    where = ",".join(f"{address}:{port}" for address, port in zip(ADDRESSES, ports))
    programs = "".join(f"{key}Path={bench.dir}/bin/{key.lower()}\n" for key in ("Scontrol", "Scancel", "Squeue", "Pmctl"))
    return f"{programs}ControllerAddr={where}\nMungeSocket={bench.dir}/run/munge.socket\n"


def own_places(bench: Bench, name: str) -> str:
    """Where the plugin finds what pmctl wrote on the node."""
    home = bench.dir / name
    return f"NodeName={name} StateDir={home}/state RunDir={home}/run FsRoot={home}/machine/root\n"


def write_node(bench: Bench, name: str) -> None:
    """The node's own pmem.conf: real ipmctl over the emulated DIMMs, a fake root, a fake reset."""
    home = bench.dir / name
    for folder in ("spool", "state", "run"):
        (home / folder).mkdir(parents=True)
    for folder in (home, home / "run"):
        folder.chmod(0o755)
    write_script(home / "ipmctl", f'LD_PRELOAD={bench.dir}/lib/pmshim.so PMSHIM_NODE={home}/machine '
                                  'exec /usr/bin/ipmctl "$@"')
    write(home / "pmem.conf", f"""\
Provision=no
{own_programs(bench)}IpmctlPath={home}/ipmctl
RebootCommand={bench.dir}/bin/reset {name}
StateDir={home}/state
RunDir={home}/run
FsRoot={home}/machine/root
""")


def enter_script(bench: Bench) -> str:
    """"enter user|exec|node NODE COMMAND...": in the bench's environment(); the user's folder is one that it may write."""
    kept = "|".join(f"{prefix}*" for prefix in PRESERVED)
    variables = " ".join(f"{name}={value}" for name, value in bench.variables().items())
    return f"""\
#!/bin/bash
kept=()
for name in $(compgen -e); do
	case $name in {kept}) kept+=("$name=${{!name}}") ;; esac
done
who=$1
shift
if [ "$who" = user ]; then
	cd {bench.dir}/home && set -- setpriv --reuid {bench.uid} --regid {bench.gid} --clear-groups -- "$@"
elif [ "$who" = node ]; then
	kept+=("SLURMD_NODENAME=$1")
	shift
fi
exec env -i "${{kept[@]}}" {variables} "$@"
"""


def reboot_variables(bench: Bench) -> str:
    """Slurm 26.05 runs RebootProgram with the node's name, and with nothing of slurmd's environment."""
    variables = " ".join(f"{name}={value}" for name, value in bench.variables().items())
    return f'export SLURMD_NODENAME="${{SLURMD_NODENAME:-$SLURM_NODE_NAME}}" {variables}\n'


def write_programs(bench: Bench, build: Path) -> None:
    """Stand where the installed programs stand, and find out which node calls."""
    home = bench.dir
    write_script(home / "bin" / "pmctl",  # tests keep its last line
                 f'lib={home}/$SLURMD_NODENAME/lib; [ -d "$lib" ] || lib={home}/lib; exec $lib/pmctl --config "{home}/$SLURMD_NODENAME/pmem.conf" "$@"')
    for name in ("pm-helper", "pm-reboot"):
        text = (TOP / "agent" / name).read_text()
        text = text.replace("/usr/libexec/slurm-pmem", f"{home}/bin")
        text = text.replace("#!/bin/sh\n", f"#!/bin/sh\n{reboot_variables(bench)}" if name == "pm-reboot" else "#!/bin/sh\n")
        write(home / "bin" / name, text.replace("/usr/bin/pmctl", f"{home}/bin/pmctl"), 0o755)
    for name in ("scontrol", "scancel", "squeue"):
        write_script(home / "bin" / name, f"export SLURM_CONF={home}/etc/slurm.conf", f'exec /usr/bin/{name} "$@"')
    write_script(home / "bin" / "pm-reachable", f"export SLURM_CONF={home}/etc/slurm.conf",
                 f'exec {home}/lib/pm-reachable "$@" "config={home}/$SLURMD_NODENAME/pmem.conf"')
    write_script(home / "bin" / "reset", f"export PM_BENCH={home}/pointer",
                 f'exec {TOP}/tests/cluster/bench power-cycle "$1"')
    write_script(home / "bin" / "pm-slurmd-booted", f"export PM_BENCH={home}/pointer",
                 f'exec {TOP}/tests/cluster/bench slurmd-booted "$SLURMD_NODENAME"')
    write(home / "pointer", f"{home}\n")
    write(home / "bin" / "enter", enter_script(bench), 0o755)
    write_script(home / "bin" / "prolog_slurmctld", f"export SLURM_CONF={home}/etc/slurm.conf",
                 f"export PM_CONTROLLER_SOCKET={home}/run/controller/socket",
                 f"exec {home}/lib/prolog_slurmctld")
    write_script(home / "bin" / "pm-resume", f'exec {home}/lib/pm-resume --config={home}/etc/pmem.conf "$@"')
    (home / "lib").mkdir()
    for product in ("pmctl", "spank_pmem.so", "pm-reachable", "pm-controller", "prolog_slurmctld", "pm-resume",
                    "tests/pmshim.so", "tests/uptime.so"):  # a build may go on meanwhile
        shutil.copy(build / product, home / "lib")
    shutil.copy(TOP / "controller" / "prolog_poll", home / "lib")
    (home / "share").mkdir()
    controller = TOP / "controller"
    for script in ("pmem.lua", "pmem_conf.lua", "pmem_constraint.lua", "pmem_nodes.lua", "pmem_groups.lua", "pmem_hold.lua",
                   "pmem_reboots.lua", "pmem_auto.lua", "pmem_history.lua"):
        shutil.copy(controller / script, home / "share")


def give_own_programs(bench: Bench, names: list[str]) -> None:
    """For nodes with programs of different versions."""
    for name in names:
        (bench.dir / name / "lib").mkdir()
        for product in (bench.dir / "lib").iterdir():
            shutil.copy(product, bench.dir / name / "lib")


def write_config(bench: Bench, count: int, ports: list[int], build: Path, hardware: str | None = None,
                 consumes_memory: bool = False, controllers: int = 1, own_programs_each: bool = False, cluster: str = "bench",
                 first: int = 1, database: Path | None = None) -> None:
    """`database`: the folder of the bench that has the slurmdbd, which may be this one."""
    names = [f"n{i}" for i in range(first, first + count)]
    bench.dir.chmod(0o755)
    for folder in ("etc", "run", "run/controller", "run/ctld", "run/backup", "run/backup/controller",
                   "run/backup/ctld", "kept", "log", "state", "home"):
        (bench.dir / folder).mkdir()
    (bench.dir / "home").chmod(stat.S_ISVTX | 0o777)
    if database == bench.dir:
        *ports, dbd_port = ports
        bench_accounting.write_slurmdbd(database, dbd_port)
    write(bench.dir / "nodes", " ".join(names))
    write(bench.dir / "service_port", " ".join(map(str, ports[-controllers:])))
    write_programs(bench, build)
    for name in names:
        write_node(bench, name)
    if own_programs_each:
        give_own_programs(bench, names)
    etc = bench.dir / "etc"
    accounting = bench_accounting.slurm_conf(bench.dir, database) if database else ""
    write(etc / "slurm.conf", slurm_conf(bench, names, ports, hardware, consumes_memory, controllers, cluster, accounting))
    write(etc / "cgroup.conf", CGROUP_CONF)
    write(etc / "hosts", f"{ADDRESSES[0]} localhost {own_name()}\n{ADDRESSES[1]} {BACKUP_HOST}\n")
    write(etc / "slurm-pmem.conf", pmem_conf_of_slurm(bench))
    write(etc / "plugstack.conf", f"include {etc}/plugstack.conf.d/*.conf\n")
    write(etc / "helpers.conf", sample(bench, "helpers.conf"))
    write(etc / "job_submit.lua", job_submit(bench))
    write(etc / "plugstack.conf.d" / "pmem.conf",
          re.sub(r"^(required .*)$", rf"\1 config={etc}/pmem.conf",
                 sample(bench, "plugstack.conf.d/pmem.conf"), flags=re.M))
    write(etc / "pmem.conf", sample(bench, "pmem.conf") + own_programs(bench)
          + "".join(own_places(bench, name) for name in names))
    write(etc / "munge.key", bench_accounting.munge_key(bench.dir, database) or secrets.token_hex(64), 0o600)
