"""Power-on self-test (POST): goals in, configuration and tables out.

It can be cut off between any two of its steps.  `node.json` is the commit point: before it, nothing
has changed and the next POST finds the same goals; after it, `state.unfinished` holds all that
remains to be written, and the next POST writes that first.
"""
from dataclasses import dataclass, field, replace

from . import dimm as dimm_firmware
from . import mailbox, pcd, rules
from .faults import FAULTS, Fate
from .image import Image
from .rules import Refusal
from .state import State, Unfinished
from .topology import GIB, Dimm, Range, Topology

INJECTED = Refusal("refused by an injected fault", rules.INVALID)


@dataclass
class Post:
    """The results of one power-on.  The three lists hold DIMM names as ipmctl prints them."""
    lines: list[str] = field(default_factory=list)      # for people
    goals: list[str] = field(default_factory=list)      # DIMMs that had a pending goal
    applied: list[str] = field(default_factory=list)
    rejected: list[str] = field(default_factory=list)
    mode: str = ""                                      # rules.mode_name

    def say(self, text: str) -> None:
        self.lines.append(text)


# --- reading goals -------------------------------------------------------------------------------
def read_goals(topology: Topology, image: Image) -> tuple[dict[Dimm, pcd.Goal], dict]:
    """Pending goals by DIMM, and pcd.BadInput by DIMM for those that cannot be read."""
    goals, bad = {}, {}
    for dimm in topology.dimms:
        partition = pcd.Partition.parse(image.read(dimm.mailbox + mailbox.CONFIG, mailbox.PCD_SIZE))
        if not partition.pending:
            continue
        try:
            goals[dimm] = pcd.parse_goal(dimm, partition.cin)
        except pcd.BadInput as error:
            bad[dimm] = error
    return goals, bad


# --- deciding ------------------------------------------------------------------------------------
def _apply_socket(topology: Topology, state: State, goals: dict, refusal: Refusal | None,
                  post: Post, answers: dict) -> State:
    """Decide on goals of one socket that share one fate; returns the new state."""
    names = [dimm.name for dimm in goals]
    answers.update((d.name, rules.answer(refusal, g.cin)) for d, g in goals.items())
    if refusal is None:
        post.applied += names
        post.say(f"goal applied on {', '.join(names)}")
        return rules.apply(topology, state, goals)
    post.rejected += names
    post.say(f"goal refused on {', '.join(names)}: {refusal.why}; old configuration kept "
             f"(validation status {refusal.validation:#x})")
    return rules.revert(state, names)


def _by_fate(goals: dict, fault: str | None, cold: bool) -> dict[Fate, dict]:
    groups = {fate: {} for fate in Fate}
    for dimm, goal in goals.items():
        fate = FAULTS[fault].fate(dimm, cold) if fault else Fate.JUDGE
        groups[fate][dimm] = goal
    return groups


def decide(topology: Topology, state: State, goals: dict, fault: str | None, cold: bool,
           post: Post) -> State:
    """The state that these goals lead to; its `unfinished` holds the answers.  Raises NoBoot."""
    before, answers = state, {}
    groups = _by_fate(goals, fault, cold)
    for socket in range(topology.sockets):
        for fate in (Fate.REFUSE, Fate.JUDGE):
            mine = {d: g for d, g in groups[fate].items() if d.socket == socket}
            if mine:
                refusal = INJECTED if fate is Fate.REFUSE else rules.judge(topology, state, mine)
                state = _apply_socket(topology, state, mine, refusal, post, answers)
    if groups[Fate.IGNORE]:
        names = ", ".join(d.name for d in groups[Fate.IGNORE])
        post.say(f"goal on {names} not looked at, it stays pending")
    rules.check_boots(topology, state)
    forget = [(r.base, r.size) for r in rules.forgotten(topology, before, state)]
    return replace(state, unfinished=Unfinished(answers, forget))


# --- writing -------------------------------------------------------------------------------------
def _write_config(topology: Topology, state: State, image: Image, dimm: Dimm) -> None:
    """PCD partition 1: a new CCUR, and COUT for a goal that was answered now."""
    at = dimm.mailbox + mailbox.CONFIG
    old = pcd.Partition.parse(image.read(at, mailbox.PCD_SIZE))
    cin, cout = old.cin, old.cout
    answer = state.unfinished.answers.get(dimm.name)
    if answer:
        cin = bytes.fromhex(answer.cin)
        cout = pcd.output(cin, answer)
    mine = [r for r in state.regions if dimm.handle in r.members]
    ccur = pcd.current(topology, state.dimms[dimm.name], mine)
    image.write(at, pcd.Partition(ccur, cin, cout).pack())


def _write_replies(topology: Topology, state: State, image: Image, dimm: Dimm) -> None:
    answers = dimm_firmware.replies(topology, dimm, state.dimms[dimm.name],
                                    state.ailing.get(dimm.name, ""))
    data, status = mailbox.pack_replies(answers)
    image.write(dimm.mailbox + mailbox.REPLIES, data)
    image.write(dimm.mailbox + mailbox.STATUS, status)


def write_image(topology: Topology, state: State, image: Image) -> None:
    """Bring memory and mailboxes to a decided state; may be repeated."""
    for base, size in state.unfinished.forget:
        image.clear(Range(base, size))
    for dimm in topology.dimms:
        _write_config(topology, state, image, dimm)
        _write_replies(topology, state, image, dimm)
    image.sync()


# --- for people ----------------------------------------------------------------------------------
def describe(topology: Topology, state: State, post: Post) -> None:
    """Describe the memory that the operating system will find."""
    for socket in range(topology.sockets):
        ram = sum(r.size for r in rules.visible_memory(topology, state, socket))
        pmem = sum(r.size for r in state.regions if r.socket == socket)
        cache = f" behind {topology.dram_per_socket / GIB:g} GiB of DRAM cache"
        post.say(f"socket {socket}: {ram / GIB:g} GiB of memory{cache if state.two_level else ''}, "
                 f"{pmem / GIB:g} GiB of app direct pmem")
    post.mode = rules.mode_name(state)
    post.say(f"platform mode: {post.mode}")
