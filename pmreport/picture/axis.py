"""Round numbers for axes, and the units of their titles. A scale maps amounts to pixels."""
from __future__ import annotations

from dataclasses import dataclass

STEPS = (1, 2, 2.5, 5, 10)
NS_PER_S = 10**9

Unit = tuple[str, float]    # name, and how many bytes, nanoseconds or objects one is

BYTES: tuple[Unit, ...] = tuple((name, 1024.0**i) for i, name in enumerate(("bytes", "KiB", "MiB", "GiB", "TiB")))
TIMES: tuple[Unit, ...] = (("s", NS_PER_S), ("min", 60 * NS_PER_S), ("h", 3600 * NS_PER_S))
OBJECTS: tuple[Unit, ...] = (("objects", 1), ("thousand objects", 1e3), ("million objects", 1e6))
LEAST_OF = {TIMES: 10, OBJECTS: 10, BYTES: 1}   # with fewer of a unit, the next smaller one is used


def unit_of(amount: float, units: tuple[Unit, ...]) -> Unit:
    """The largest unit of which the amount has enough."""
    return next((unit for unit in reversed(units[1:]) if amount >= LEAST_OF[units] * unit[1]), units[0])


def step_of(top: float, lines: int = 5) -> float:
    """Of about so many grid lines: 1, 2, 2.5 or 5 times a power of ten."""
    power = 1.0
    while power * 10 <= top / lines:
        power *= 10
    while power > top / lines:
        power /= 10
    return next(s * power for s in STEPS if s * power * lines >= top)


def shown(amount: float, units: tuple[Unit, ...]) -> str:
    """"28 MiB", "1.5 GiB": an amount with its unit, three digits at most."""
    name, size = unit_of(amount, units)
    value = amount / size
    return f"{value:.0f} {name}" if value >= 100 else f"{value:.3g} {name}"


@dataclass(frozen=True)
class Scale:
    """Amounts from 0 to `top` on the pixels from `start` to `end`."""
    unit: Unit
    step: float     # in units
    top: float
    start: float
    end: float

    def at(self, amount: float) -> float:
        return self.start + (self.end - self.start) * amount / self.top

    def ticks(self) -> list[tuple[float, str]]:
        """The pixels of round numbers, and their texts."""
        count = int(self.top / (self.step * self.unit[1]) + 1e-6)
        return [(self.at(i * self.step * self.unit[1]), f"{i * self.step:g}") for i in range(count + 1)]


def scale(top: float, units: tuple[Unit, ...], pixels: tuple[float, float], lines: int, is_rounded: bool = True) -> Scale:
    """With `is_rounded`, the scale ends at a tick."""
    top = top or units[0][1]
    unit = unit_of(top, units)
    step = step_of(top / unit[1], lines)
    steps = -(-top // (step * unit[1]))
    return Scale(unit, step, steps * step * unit[1] if is_rounded else top, *pixels)
