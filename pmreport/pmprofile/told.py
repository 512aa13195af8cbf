"""A report, and what its page needs beside it."""
from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from pmprofile.advice import Choice, Plan, choose
from pmprofile.lifetimes import Clock
from pmprofile.measure import Report
from pmprofile.records import Profile
from pmprofile.symbols import Names


@dataclass(frozen=True)
class Told:
    """A report with what its page needs. `budget` is the next run's, for each rank."""
    report: Report
    names: Names
    budget: int
    top: int            # call sites that are shown at once
    number: int         # of the report on the page

    @cached_property
    def largest(self) -> Profile:
        """The process that allocated most: the charts are of it."""
        return max(self.report.profiles, key=lambda p: sum(o.bytes for o in p.objects))

    @cached_property
    def clock(self) -> Clock:
        """Of the same process."""
        return self.report.clocks[self.report.profiles.index(self.largest)]

    @cached_property
    def plan(self) -> Plan:
        return Plan(self.report)

    @cached_property
    def choices(self) -> list[Choice]:
        """The advice for the next run. There is none for sites that are counted together."""
        return [] if self.names.by_function else choose(self.plan, self.budget)
