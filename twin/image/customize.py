#!/usr/bin/python3 -ES
"""Runs in the new root file system, as its root: unpacks the kernel and the headers, adds the users, tidies up.

What the host needs goes to /out: vmlinux, busybox, modules.tar (the modules that the guests load early,
uncompressed, in load order), passwd, slurm.conf, and sdk/ (headers and libraries to link our programs against).
A plain image's packages in /srv/mirror become a repository.
Arguments: names of the packages in /debs with the files for sdk/; the kernel's is found by its name.
"""
import glob
import hashlib
import io
import lzma
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tarfile

USERS = {"user1": 1001, "user2": 1002}
KEPT_DRIVERS = {"acpi", "ata", "block", "char", "cxl", "dax", "hwmon", "md", "net", "nvdimm", "scsi", "virtio"}
KEPT_NETWORK_DRIVERS = {"virtio_net", "net_failover", "dummy", "veth", "tun"}
MODULES = {
    "base": ("crc32c_generic", "virtio_pci", "virtio_console", "virtio_blk", "ext4", "overlay", "virtio_net", "9pnet_virtio", "9p", "virtio_rng"),
    "compute": ("nfit", "nd_pmem", "dax_pmem", "device_dax", "kmem"),
}
# libmvec.so.1 is in the linker script libm.so: without it nothing links with -lm.
SDK_LIBRARIES = ("libc.so.6", "libm.so.6", "libmvec.so.1", "libjson-c.so.5", "libxml2.so.2", "libhwloc.so.15", "libnuma.so.1",
                 "libmunge.so.2", "libslurm.so.38", "libslurm.so.42")
MIRROR = "/srv/mirror"
SLURM_CONF = "/etc/slurm/slurm.conf"
LIBDIR = "/usr/lib/x86_64-linux-gnu"


def run(*argv: str) -> str:
    return subprocess.run(argv, check=True, stdout=subprocess.PIPE, text=True).stdout


def unpack_kernel() -> str:
    """Unpacks the stock kernel package as it is, minus drivers of hardware that no guest has; returns its release."""
    package, = glob.glob("/debs/linux-image-*.deb")
    run("dpkg-deb", "-x", package, "/kernel")
    shutil.copytree("/kernel/boot", "/boot", dirs_exist_ok=True)
    source, = glob.glob("/kernel/usr/lib/modules/*") or glob.glob("/kernel/lib/modules/*")
    release = os.path.basename(source)
    shutil.copytree(source, f"/usr/lib/modules/{release}", dirs_exist_ok=True)
    shutil.rmtree("/kernel")
    prune(f"/usr/lib/modules/{release}/kernel")
    run("depmod", release)
    return release


def prune(kernel: str) -> None:
    shutil.rmtree(f"{kernel}/sound", ignore_errors=True)
    for name in set(os.listdir(f"{kernel}/drivers")) - KEPT_DRIVERS:
        shutil.rmtree(f"{kernel}/drivers/{name}")
    for entry in os.scandir(f"{kernel}/drivers/net"):
        if entry.is_dir():
            shutil.rmtree(entry.path)
        elif entry.name.split(".")[0] not in KEPT_NETWORK_DRIVERS:
            os.unlink(entry.path)


def extract_vmlinux(release: str) -> None:
    """The kernel proper out of the bzImage, so that QEMU enters it directly (PVH) and no guest has to decompress it.

    Layout: Documentation/arch/x86/boot.rst, fields setup_sects, payload_offset and payload_length. After any
    payload that is not gzip the kernel's build appends the 4 byte length of the output.
    """
    with open(f"/boot/vmlinuz-{release}", "rb") as file:
        image = file.read()
    offset, length = struct.unpack_from("<II", image, 0x248)
    start = (image[0x1F1] + 1) * 512 + offset
    payload = image[start:start + length - 4]
    if payload.startswith(b"\xfd7zXZ"):
        data = lzma.decompress(payload)
    elif payload.startswith(b"\x28\xb5\x2f\xfd"):
        data = subprocess.run(["zstd", "-dcq"], input=payload, stdout=subprocess.PIPE, check=True).stdout
    else:
        raise SystemExit(f"unknown compression of /boot/vmlinuz-{release}: {payload[:6]!r}")
    with open("/out/vmlinux", "wb") as file:
        file.write(data)


def dependencies(release: str) -> dict[str, list[str]]:
    """Module name to the paths to load for it, itself last. modprobe would leave out what the build's own kernel has."""
    base, found = f"/usr/lib/modules/{release}", {}
    with open(f"{base}/modules.dep", encoding="ascii") as file:
        for line in file:
            path, needs = line.split(":")
            found[module_name(path)] = [f"{base}/{p}" for p in (*reversed(needs.split()), path)]
    return found


def module_name(path: str) -> str:
    return os.path.basename(path).split(".")[0].replace("-", "_")


def closure(release: str, names: tuple[str, ...]) -> list[str]:
    """Paths of the modules and of what they depend on, in load order."""
    known = dependencies(release)
    with open(f"/usr/lib/modules/{release}/modules.builtin", encoding="ascii") as file:
        builtin = {module_name(line) for line in file}
    return list(dict.fromkeys(path for name in names if name not in builtin for path in known[name]))


def early_modules(release: str) -> None:
    with tarfile.open("/out/modules.tar", "w", format=tarfile.USTAR_FORMAT) as tar:
        for group, names in MODULES.items():
            for path in closure(release, names):
                add_module(tar, group, path)


def add_module(tar: tarfile.TarFile, group: str, path: str) -> None:
    with open(path, "rb") as file:
        data = file.read()
    if path.endswith(".xz"):
        path, data = path[:-3], lzma.decompress(data)
    member = tarfile.TarInfo(f"{group}/{os.path.basename(path)}")
    member.size = len(data)
    tar.addfile(member, io.BytesIO(data))


def sdk(packages: list[str]) -> None:
    """/out/sdk: the suite's headers and libraries, a --sysroot for the host's compiler."""
    for directory in ("usr/lib", "usr/lib64"):
        os.makedirs(f"/out/sdk/{directory}", exist_ok=True)
    for directory in ("lib", "lib64"):
        os.symlink(f"usr/{directory}", f"/out/sdk/{directory}")
    for name in packages:
        package, = glob.glob(f"/debs/{name}_*.deb")
        with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", package], stdout=subprocess.PIPE) as unpack:
            run_tar = ["tar", "-x", "-C", "/out/sdk", "--keep-directory-symlink", "--exclude=./usr/share", "--exclude=libicu*.a"]
            subprocess.run(run_tar, stdin=unpack.stdout, check=True)
    for library in needed_libraries():
        for path in {library, os.path.realpath(library)}:
            target = "/out/sdk" + os.path.realpath(os.path.dirname(path)) + "/" + os.path.basename(path)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            if not os.path.lexists(target):
                shutil.copy2(path, target, follow_symlinks=False)


def needed_libraries() -> set[str]:
    wanted = [f"{LIBDIR}/{name}" for name in SDK_LIBRARIES]
    found = {path for path in wanted if os.path.exists(path)}
    for path in list(found):
        found |= {word for word in run("ldd", path).split() if word.startswith("/")}
    return found


def add_users() -> None:
    """user1 and user2; what a useradd would do, their homes are made by the guest."""
    lines = {"/etc/passwd": "{0}:x:{1}:{1}::/home/{0}:/bin/bash", "/etc/group": "{0}:x:{1}:", "/etc/shadow": "{0}:*:::::::"}
    for path, line in lines.items():
        with open(path, "a", encoding="ascii") as file:
            file.writelines(line.format(name, uid) + "\n" for name, uid in USERS.items())


def offer() -> None:
    """Makes the packages in MIRROR a repository, and apt's only one: guests have no network to another."""
    entries = [index_entry(path) for path in sorted(glob.glob(f"{MIRROR}/*.deb"))]
    for pattern in ("/etc/apt/sources.list.d/*", "/etc/apt/preferences.d/*"):
        for path in glob.glob(pattern):
            os.unlink(path)
    with open("/etc/apt/sources.list", "w", encoding="ascii") as file:
        file.write(f"deb [trusted=yes] file:{MIRROR} ./\n")
    with open(f"{MIRROR}/Packages", "w", encoding="utf-8") as file:
        file.writelines(entries)


def index_entry(path: str) -> str:
    """What the release's archive says of a package, with its place here.

    Not what the package says of itself: the archive sets priorities anew, and apt takes none away that is "required".
    """
    with open(path, "rb") as file:
        digest = f"SHA256: {hashlib.sha256(file.read()).hexdigest()}"
    name = run("dpkg-deb", "--show", "--showformat", "${Package}=${Version}", path)
    entry = next(entry for entry in run("apt-cache", "show", name).split("\n\n") if digest in entry)
    return re.sub(r"(?m)^Filename: .*$", f"Filename: ./{os.path.basename(path)}", entry.strip()) + "\n\n"


def tidy() -> None:
    """No leftovers of the build; stamps that tell systemd that nothing in /usr is newer than what it has seen."""
    for path in ("/etc/hostname", "/etc/resolv.conf", "/var/lib/dbus/machine-id"):
        if os.path.lexists(path):
            os.unlink(path)
    for pattern in ("/var/cache/apt/archives/*.deb", "/var/cache/apt/*.bin", "/var/lib/apt/lists/*_*"):
        for path in glob.glob(pattern):
            os.unlink(path)
    for path in ("/etc/fstab", "/etc/munge/munge.key"):
        if os.path.isdir(os.path.dirname(path)):
            with open(path, "w", encoding="ascii"):
                pass
    with open("/etc/machine-id", "w", encoding="ascii") as file:
        file.write("0123456789abcdef0123456789abcdef\n")
    for path in ("/usr", "/etc/.updated", "/var/.updated"):
        open(path, "a", encoding="ascii").close() if path != "/usr" else None
        os.utime(path, (1, 1) if path == "/usr" else None)
    shutil.rmtree("/debs")


def main() -> None:
    os.makedirs("/out")
    release = unpack_kernel()
    extract_vmlinux(release)
    early_modules(release)
    sdk(sys.argv[1:])
    add_users()
    if os.path.isdir(MIRROR):
        offer()
    shutil.copy2("/usr/bin/busybox" if os.path.exists("/usr/bin/busybox") else "/bin/busybox", "/out/busybox")
    shutil.copy2("/etc/passwd", "/out/passwd")
    with open("/out/slurm.conf", "wb") as file:
        file.write(pathlib.Path(SLURM_CONF).read_bytes() if os.path.exists(SLURM_CONF) else b"")
    tidy()


if __name__ == "__main__":
    main()
