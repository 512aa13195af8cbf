"""Machines that are root file systems in folders, the playbooks that are run on them, and what is in them then. Needs root.

Without services: what slurmctld and slurmd make of it is tested elsewhere, but for configless.
"""
import hashlib
import os
import re
import shutil
import socket
import stat
import subprocess
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from conftest import BUILD, TOP

MIRROR = os.environ.get("PM_MIRROR", "http://deb.debian.org/debian")
HOSTS = ("head", "n1")
HOST_NAME = socket.gethostname().split(".")[0]
# What each run of apt, dpkg or adduser leaves behind. The packages and their states are compared as apt and dpkg tell them.
NOT_COMPARED = re.compile(r"^(dev|proc|run|tmp|root/.ansible|var/cache|var/lib/(apt|dpkg|systemd/deb-systemd-helper-\w+)|var/log/apt)(/|$)"
                          r"|^etc/(ld\.so\.cache|\w+-)$|^var/log/(alternatives|dpkg)\.log$")


@dataclass
class Run:
    """Output of ansible-playbook, and what it says that it has changed (in check mode: would): host to tasks with item."""

    status: int
    output: str

    @property
    def changed(self) -> dict[str, set[str]]:
        task, found = "", {}
        for line in self.output.splitlines():
            if line.startswith("TASK ["):
                task = line[len("TASK ["):line.rindex("]")]
            elif match := re.match(r"changed: \[(\w+)[^\]]*\](?: => \(item=(.*?)\))?", line):
                found.setdefault(match[1], set()).add(f"{task}: {match[2]}" if match[2] else task)
        return found

    @property
    def unreachable(self) -> set[str]:
        return set(re.findall(r"^(\w+) +: .*unreachable=1", self.output, re.M))


def base(release: str) -> Path:
    """A small root file system of the release, as tar; made when it is not there.

    With adduser, as every machine: apt names it as an alternative, and so would keep one that had come with munge.
    """
    path = BUILD / f"ansible-{release}.tar"
    if not path.exists():
        made = path.with_suffix(".new.tar")
        subprocess.run(["mmdebstrap", "--quiet", "--variant=apt", "--dpkgopt=force-unsafe-io", "--include=python3-apt,systemd,e2fsprogs,sensible-utils,adduser",
                        "--aptopt=Acquire::Languages \"none\"", "--dpkgopt=path-exclude=/usr/share/doc/*", release, made,
                        f"deb {MIRROR} {release} main"], check=True)
        made.rename(path)
    return path


def described(path: Path) -> str:
    """All that tells one file from another but its time."""
    found = path.lstat()
    if stat.S_ISLNK(found.st_mode):
        return f"-> {path.readlink()}"
    content = hashlib.sha256(path.read_bytes()).hexdigest() if stat.S_ISREG(found.st_mode) else ""
    return f"{stat.filemode(found.st_mode)} {found.st_uid}:{found.st_gid} {content}"


def differences(before: dict[str, str], after: dict[str, str]) -> dict[str, tuple]:
    """What differs, as {name: (before, after)}; None is what was not there."""
    return {name: (before.get(name), after.get(name)) for name in sorted(before.keys() | after.keys())
            if before.get(name) != after.get(name)}


class Site:
    """A controller that is the login node too, and a compute node."""

    def __init__(self, directory: Path, release: str, debs: Path):
        self.directory, self.release = directory, release
        self.saved = directory / "saved"
        self.environment = os.environ | {
            "DIRECTORIES": str(directory), "DEBS": str(debs), "ANSIBLE_HOME": str(BUILD / "ansible-home"),
            "ANSIBLE_COLLECTIONS_PATH": str(BUILD / "collections"), "ANSIBLE_NOCOLOR": "1", "ANSIBLE_PIPELINING": "1",
            "ANSIBLE_CONNECTION_PLUGINS": str(TOP / "twin/site/connection")}
        for host in HOSTS:
            self.unpack(host)
        self.save("fresh")

    def unpack(self, host: str) -> None:
        root = self.directory / host
        root.mkdir()
        subprocess.run(["tar", "-xf", base(self.release), "-C", root], check=True)
        shutil.copy("/etc/resolv.conf", root / "etc")
        (root / "etc/hosts").write_text(f"127.0.0.1 localhost {HOST_NAME}\n")
        (root / "usr/sbin/policy-rc.d").write_text("#!/bin/sh\nexit 101\n")
        (root / "usr/sbin/policy-rc.d").chmod(0o755)

    def save(self, name: str) -> None:
        (self.saved / name).mkdir(parents=True)
        for host in HOSTS:
            subprocess.run(["cp", "-a", "--reflink=auto", self.directory / host, self.saved / name], check=True)

    def restore(self, name: str) -> None:
        for host in HOSTS:
            shutil.rmtree(self.directory / host)
            subprocess.run(["cp", "-a", "--reflink=auto", self.saved / name / host, self.directory], check=True)

    def boot(self, host: str, like: str) -> None:
        """Makes another machine as one was that was saved: "installed/n1"."""
        subprocess.run(["cp", "-a", "--reflink=auto", self.saved / like, self.directory / host], check=True)

    def start(self, playbook: str, *options: str) -> Run:
        variables = ["--extra-vars", "{pmem_node_tools: []}"] if self.release != "bookworm" else []
        done = subprocess.run([str(BUILD / "ansible-venv/bin/ansible-playbook"), "-i", str(TOP / "tests/ansible/directories.yml"),
                               f"slurm_pmem.cluster.{playbook}", *variables, *options],
                              env=self.environment, capture_output=True, text=True)
        return Run(done.returncode, done.stdout + done.stderr)

    def play(self, playbook: str, *options: str) -> Run:
        run = self.start(playbook, *options)
        assert run.status == 0, run.output[-6000:]
        return run

    def refused(self, playbook: str, *options: str) -> str:
        run = self.start(playbook, *options)
        assert run.status, run.output[-3000:]
        return " ".join(run.output.split())

    def look(self) -> dict[str, str]:
        """File by file with its content, mode and owner, links among them (each unit), the root directory; and package by package."""
        found = {}
        for host in HOSTS:
            root = self.directory / host
            paths = (path for path in (root, *root.rglob("*")) if not NOT_COMPARED.search(str(path.relative_to(root))))
            found |= {f"{host}/{path.relative_to(root)}": described(path) for path in paths}
            asked = set(self.run(host, "apt-mark", "showmanual").split())
            for line in self.run(host, "dpkg-query", "-Wf", "${Package} ${Version} ${db:Status-Status}\n").splitlines():
                name, state = line.split(" ", 1)
                found[f"{host} {name}"] = state + (", asked for" if name in asked else "")
        return found

    def run(self, host: str, *command: str) -> str:
        return subprocess.run(["chroot", self.directory / host, *command], capture_output=True, text=True).stdout

    @contextmanager
    def runs(self, host: str, command: str):
        """A shell command as root of a machine, with munged beside it, as long as the block lasts; then /run is as after a boot."""
        root = self.directory / host
        start = f"mkdir -p /run/munge && chown munge: /run/munge && su -s /bin/sh munge -c 'munged --force' && exec {command}"
        with open(self.directory / f"{host}.log", "w") as log:
            process = subprocess.Popen(["unshare", "--mount", "--pid", "--fork", "--kill-child=KILL", "--", "sh", "-c",
                                        'mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" && exec chroot "$0" sh -c "$1"',
                                        root, start], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        try:
            yield
        finally:
            process.kill()
            process.wait()
            for left in (root / "run").rglob("*.pid"):
                left.unlink()
