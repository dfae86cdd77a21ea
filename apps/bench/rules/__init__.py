"""Tuning rules: evidence in, findings out; every module here but `base` is a family of rules."""

import functools
import importlib
import pkgutil
from types import ModuleType

from apps.bench.rules.base import Evidence, FindingDraft


@functools.cache
def families() -> tuple[ModuleType, ...]:
    """Return the modules of the families, each of which has ``findings(evidence)``."""
    names = sorted(info.name for info in pkgutil.iter_modules(__path__))
    return tuple(importlib.import_module(f"{__name__}.{name}") for name in names if name != "base")


def findings(evidence: Evidence) -> list[FindingDraft]:
    """Return what all families conclude, at most one finding of each rule."""
    return [finding for family in families() for finding in family.findings(evidence)]
