"""Command line of the emulated node, for the bench: power it on without QEMU."""
import argparse
import sys
from pathlib import Path

from . import fakeroot
from .node import APP_DIRECT, MEMORY, Node, NodeError
from .rules import NoBoot
from .topology import GIB, Topology

SHAPES = {"twin": Topology, "twelve": Topology.twelve_dimms}
DESCRIPTION = """\
An emulated node with PMem, in a directory.  `init` makes it and powers it on, `reboot` powers it
on again: its firmware reads the goals that ipmctl left in the DIMMs, applies or refuses them, and
writes the tables of the next boot.  With tests/machine/shim preloaded and PMSHIM_NODE=DIR, ipmctl
sees this node; DIR/root holds the files of /proc and /sys that a kernel on it would show."""


def _power_on(node: Node, fault: str | None, cold: bool) -> None:
    """POST, then the stand-in for the kernel that would boot."""
    post = node.power_on(fault, cold)
    fakeroot.write(node.directory / "root", node.topology, node.state)
    print("\n".join(post.lines))


def _init(args) -> None:
    directory = Path(args.directory)
    if (directory / "node.json").exists():
        raise NodeError(f"init '{directory}': there is a node already; remove the directory first")
    node = Node(directory, SHAPES[args.shape]())
    if args.mode:
        node.provision(args.mode)
    _power_on(node, None, cold=True)


def _reboot(args) -> None:
    _power_on(Node(args.directory), args.fault, args.cold)


def _show(args) -> None:
    node = Node(args.directory)
    state, topology = node.state, node.topology
    print(f"mode: {node.mode}\npower-ons: {state.power_ons}")
    print(f"sockets: {topology.sockets}, DRAM a socket: {topology.dram_per_socket / GIB:g} GiB")
    for dimm in topology.dimms:
        c = state.dimms[dimm.name]
        print(f"dimm {dimm.name}: socket {dimm.socket}, {c.volatile_mapped / GIB:g} GiB volatile, "
              f"{c.persistent_mapped / GIB:g} GiB app direct, configuration status {c.status}")
    for region in state.regions:
        members = ", ".join(topology.by_handle(h).name for h in region.members)
        print(f"region: socket {region.socket}, {region.size / GIB:g} GiB over {members}, "
              f"set {fakeroot.set_cookie(topology, region):#018x}")


def _faults(_args) -> None:
    for name, text in Node.faults().items():
        print(f"{name:24} {text}")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python3 -m machine", description=DESCRIPTION,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")

    init = verbs.add_parser("init", help="make a node and power it on for the first time")
    init.add_argument("directory", metavar="DIR")
    init.add_argument("--shape", choices=SHAPES, default="twin",
                      help="twin: 4 PMem DIMMs of 2 GiB (default); twelve: 12 of 126 GiB")
    init.add_argument("--mode", choices=(APP_DIRECT, MEMORY),
                      help="deliver it in this mode; default: PMem not configured")
    init.set_defaults(run=_init)

    reboot = verbs.add_parser("reboot", help="power the node on again")
    reboot.add_argument("directory", metavar="DIR")
    reboot.add_argument("--fault", choices=Node.faults(), metavar="FAULT",
                        help="inject a fault into this power-on; `faults` lists them")
    reboot.add_argument("--cold", action="store_true", help="cut the power before")
    reboot.set_defaults(run=_reboot)

    show = verbs.add_parser("show", help="show the mode, the DIMMs and the regions")
    show.add_argument("directory", metavar="DIR")
    show.set_defaults(run=_show)

    verbs.add_parser("faults", help="list the faults").set_defaults(run=_faults)
    return parser


def main() -> int:
    args = _parser().parse_args()
    try:
        args.run(args)
    except (NoBoot, NodeError, OSError) as error:
        print(f"machine: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
