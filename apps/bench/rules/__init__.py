"""Tuning rules: evidence in, findings out; every module here but `base` is a family of rules."""

import functools
import importlib
import pkgutil
from types import ModuleType

from apps.bench.rules.base import Evidence, FindingDraft


@functools.cache
def families() -> tuple[ModuleType, ...]:
    """Return the modules of the families: each has ``findings(evidence)``, ``overview(evidence)``, or both."""
    names = sorted(info.name for info in pkgutil.iter_modules(__path__))
    return tuple(importlib.import_module(f"{__name__}.{name}") for name in names if name != "base")


def findings(evidence: Evidence) -> list[FindingDraft]:
    """Return what all families conclude of one pair of ends, at most one finding of each rule."""
    return _ask("findings", evidence)


def overview(evidence: Evidence) -> list[FindingDraft]:
    """Return what all families conclude of a whole campaign or pair of sites: what no pair of ends shows alone."""
    return _ask("overview", evidence)


def _ask(question: str, evidence: Evidence) -> list[FindingDraft]:
    asked = [getattr(family, question) for family in families() if hasattr(family, question)]
    return [finding for ask in asked for finding in ask(evidence)]
