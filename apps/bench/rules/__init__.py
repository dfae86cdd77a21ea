"""Tuning rules: evidence in, findings out; every folder here is a family of rules, registered by being there.

A family has `ENDS`, the rules that are asked of one pair of ends, or `WHOLE`, those that are asked of a whole
campaign or pair of sites (what no pair of ends shows alone).
"""

import functools
import importlib
import pkgutil
from contextlib import nullcontext
from types import ModuleType

from apps.bench.rules import folding, runner
from apps.bench.rules.base import Evidence
from apps.bench.rules.runner import Answer, Guard, Rule


@functools.cache
def families() -> tuple[ModuleType, ...]:
    """Return the families in the order of their names."""
    names = sorted(info.name for info in pkgutil.iter_modules(__path__) if info.ispkg)
    return tuple(importlib.import_module(f"{__name__}.{name}") for name in names)


@functools.cache
def of_ends() -> tuple[Rule, ...]:
    """Return the rules that are asked of one pair of ends."""
    return tuple(rule for family in families() for rule in getattr(family, "ENDS", ()))


@functools.cache
def of_whole() -> tuple[Rule, ...]:
    """Return the rules that are asked of a whole campaign or pair of sites."""
    return tuple(rule for family in families() for rule in getattr(family, "WHOLE", ()))


def registered() -> tuple[Rule, ...]:
    """Return all rules."""
    return (*of_ends(), *of_whole())


def fingerprint() -> str:
    """Return a text that changes when a rule comes, goes, or gets another version."""
    return runner.fingerprint((*registered(), *folding.OF_OTHERS))


def ask_ends(evidence: Evidence, guard: Guard = nullcontext) -> list[Answer]:
    """Return what each rule says of one pair of ends, at most one finding of each, or how it failed."""
    return runner.ask(of_ends(), evidence, guard)


def ask_whole(evidence: Evidence, guard: Guard = nullcontext) -> list[Answer]:
    """Return what each rule says of a whole campaign or pair of sites, or how it failed."""
    return runner.ask(of_whole(), evidence, guard)
