"""A submission as its user means it, read from its command line; shares no code with the product."""

import re
from dataclasses import dataclass, field, replace

# What a node's machine is in for a job that wrote this word.
OPTION = {"memory": "memory", "appdirect": "appdirect", "flat": "appdirect", "mixed": "mixed"}
FEATURE = {"pm_memory": "memory", "pm_appdirect": "appdirect", "pm_mixed": "mixed"}
RACK = {"rack1": "n1", "rack2": "n2", "rack3": "n3", "rack4": "n4"}
# Names that only slurm.conf takes, and the nodes that have them.
ODD_NAMES = {"rack-2": {"n2"}, "rack-3": {"n3"}, "rack-4": {"n4"}, "c++": {"n2", "n3", "n4"}}
ALL = frozenset(FEATURE.values())

LONG = {"-C": "--constraint", "-w": "--nodelist", "-x": "--exclude", "-N": "--nodes"}


@dataclass(frozen=True)
class Request:
    """`option` and `twin` are --pm-mode and PM_MODE."""

    option: str = ""
    twin: str = ""
    constraint: str = ""
    prefer: str = ""
    nodes: frozenset = frozenset()
    excluded: frozenset = frozenset()
    count: int = 1
    extra: dict = field(default_factory=dict, hash=False)

    def memory_mib(self) -> int:
        """That it asks for on each node; 0: it says nothing."""
        return int(self.extra.get("--mem", 0))

    def asks_too_much(self) -> bool:
        """More DRAM for a rank than any node has, in a mode."""
        return self.wants_much_dram() and bool(self.modes())

    def wants_much_dram(self) -> bool:
        return self.extra.get("--pm-dram", "").endswith("G")

    def modes(self) -> frozenset | None:
        """The modes that it may run in, None for any. The option, and all that -C says; else PM_MODE."""
        said = terms_of(self.constraint)
        pm = [modes for modes in map(modes_of_term, said) if modes is not None]
        if self.option:
            pm.append(frozenset({OPTION[self.option]}))
        if not pm:
            return frozenset({OPTION[self.twin]}) if self.twin else None
        return frozenset.intersection(*pm)

    def can_use(self, node: str) -> bool:
        """By Slurm's rules: where the preference can be met, it takes the place of the constraint."""
        return node not in self.excluded and any(
            all(term_allows(term, node) for term in terms_of(words))
            for words in (self.constraint, self.prefer or self.constraint))

    def can_be_served(self, nodes: set) -> bool:
        """By these nodes alone, once they are free; so that Slurm does not give up at the preference already."""
        return self.modes() != frozenset() and not self.asks_too_much() and all(
            self._fits(words, nodes) for words in (self.constraint, self.prefer or self.constraint))

    def _fits(self, words: str, nodes: set) -> bool:
        usable = {node for node in nodes - self.excluded
                  if all(term_allows(term, node) for term in terms_of(words))}
        return self.nodes <= usable and len(usable) >= max(self.count, len(self.nodes))

    def is_odd(self) -> bool:
        """May be refused with a sentence: contradictions, OR among other features, preferences among modes."""
        return (self.modes() == frozenset() or "pm_" in self.prefer
                or any(word in self.constraint for word in "|(") and not self._is_either())

    def _is_either(self) -> bool:
        """Modes alone, of which any will do: "pm_memory|pm_appdirect"."""
        return set(self.constraint.split("|")) <= set(FEATURE)


def terms_of(constraint: str) -> list[frozenset]:
    """ANDed groups of alternatives: 'a&(b|c)' is {a}, {b, c}."""
    groups = re.findall(r"\(([^()]*)\)|([^&,()]+)", constraint)
    return [frozenset((inner or plain).split("|")) for inner, plain in groups]


def modes_of_term(term: frozenset) -> frozenset | None:
    """None where an alternative is no mode: then the group asks for none."""
    return frozenset(FEATURE[name] for name in term) if term <= set(FEATURE) else None


def term_allows(term: frozenset, node: str) -> bool:
    return any(name in FEATURE or RACK.get(name) == node or node in ODD_NAMES.get(name, ()) for name in term)


def names(text: str) -> frozenset:
    return frozenset(filter(None, text.split(",")))


def options_of(argv: list[str]) -> dict[str, str]:
    """The last of each counts; a short option has its value in the word behind it."""
    found, words = {}, iter(argv[1:])
    for word in words:
        if word in LONG:
            found[LONG[word]] = next(words)
        elif word.startswith("--"):
            name, _, value = word.partition("=")
            found[name] = value
    return found


def read(argv: list[str], env: dict[str, str]) -> Request:
    said = options_of(argv)
    return Request(option=said.get("--pm-mode", ""), twin=env.get("PM_MODE", ""),
                   constraint=said.get("--constraint", ""), prefer=said.get("--prefer", ""),
                   nodes=names(said.get("--nodelist", "")), excluded=names(said.get("--exclude", "")),
                   count=int(said.get("--nodes", "1")), extra=said)


def update(request: Request, words: dict[str, str]) -> Request:
    """What an accepted `scontrol update` makes of it."""
    keys = {"features": "constraint", "prefer": "prefer", "reqnodelist": "nodes", "excnodelist": "excluded"}
    changed = {keys[name]: names(value) if name.endswith("nodelist") else value
               for name, value in words.items() if name in keys}
    if changed.get("constraint") and not request.option and request.modes() is not None:
        changed["twin"] = "" if modes_named(changed["constraint"]) else request.twin
    return replace(request, **changed)


def modes_named(constraint: str) -> bool:
    return any(modes_of_term(term) for term in terms_of(constraint))
