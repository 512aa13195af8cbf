"""The command line of a guest's QEMU."""
from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from cluster.errors import UsageError
from cluster.hardware import Hardware
from cluster.members import Member

KERNEL_ARGS = ("console=ttyS0", "quiet", "panic=-1", "net.ifnames=0", "mitigations=off", "audit=0",
               "lsm=yama", "clocksource=hpet", "tsc=unstable", "rcupdate.rcu_expedited=1",
               "systemd.show_status=false", "rd.systemd.show_status=false")

OWN_OPTIONS = ("console", "init", "initrd", "memmap", "rdinit", "root", "systemd.hostname")


@dataclass(frozen=True)
class Files:
    """Files of a guest; `disk` and `console` are its own, `home` is shared."""

    kernel: Path
    initrd: Path
    base: Path
    disk: Path
    home: Path
    console: Path


@dataclass(frozen=True)
class Sockets:
    """Unix sockets on which the supervisor listens for this guest's QEMU."""

    agent: Path
    qmp: Path


def command(member: Member, hardware: Hardware, files: Files, sockets: Sockets, netdev: list[str]) -> list[str]:
    """argv. QEMU dies with its parent; a reset or power-off of the guest ends it (QMP tells which)."""
    return [
        "setpriv", "--pdeathsig", "TERM", "qemu-system-x86_64",
        "-name", f"pmtwin-{member.name}", "-accel", "tcg,thread=multi", "-cpu", "max,-erms,-fsrm",
        "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot",
        *hardware.qemu_args(),
        "-kernel", str(files.kernel), "-initrd", str(files.initrd),
        "-append", " ".join(kernel_command_line(member, hardware)),
        *drive("base", files.base, "readonly=on"), *drive("own", files.disk, "cache=unsafe"),
        *netdev, "-device", f"virtio-net-pci,netdev=net,romfile=,mac={member.mac}",
        "-device", "virtio-rng-pci",
        *chardev_socket("agent", sockets.agent), "-device", "virtio-serial-pci",
        "-device", "virtserialport,chardev=agent,name=pmtwin",
        *chardev_socket("monitor", sockets.qmp), "-mon", "chardev=monitor,mode=control",
        "-chardev", f"file,id=console,append=on,path={escape(files.console)}", "-serial", "chardev:console",
        "-fsdev", f"local,id=home,security_model=mapped-xattr,path={escape(files.home)}",
        "-device", "virtio-9p-pci,fsdev=home,mount_tag=home",
    ]


def kernel_command_line(member: Member, hardware: Hardware) -> list[str]:
    """The machine's words replace those of KERNEL_ARGS with the same names."""
    machine = hardware.kernel_args()
    named = {word.partition("=")[0] for word in machine}
    return [*(word for word in KERNEL_ARGS if word.partition("=")[0] not in named), f"systemd.hostname={member.name}",
            f"pmtwin.role={member.role}", f"pmtwin.address={member.address}", *machine]


def kernel_options(text: str) -> tuple[str, ...]:
    """Words out of "lsm=apparmor audit=1"; the console and what the guests are told by pmtwin stay pmtwin's."""
    words = tuple(text.split())
    for word in words:
        name = word.partition("=")[0]
        if name in OWN_OPTIONS or name.startswith("pmtwin.") or not word.isprintable():
            raise UsageError(f"'{word}' cannot be among the kernel's options: pmtwin sets {', '.join(OWN_OPTIONS)} and pmtwin.*")
    return words


def drive(name: str, path: Path, option: str) -> list[str]:
    return ["-drive", f"if=none,id={name},format=raw,file={escape(path)},{option}",
            "-device", f"virtio-blk-pci,drive={name}"]


def chardev_socket(name: str, path: Path) -> list[str]:
    """QEMU connects to the supervisor, so a connection lives exactly as long as that QEMU."""
    return ["-chardev", f"socket,id={name},path={escape(path)},server=off"]


def escape(path: Path) -> str:
    """A value in QEMU's option syntax, where a comma is doubled."""
    return str(path).replace(",", ",,")
