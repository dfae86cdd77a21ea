"""Kernel settings as factors: what may be set, which values make sense, and the stage that sets and restores them."""

from apps.bench.settings.catalogue import CATALOGUE, Setting, check_key, check_value, find, normalise
from apps.bench.settings.stages import PROGRAM, STAGE, STOP_TAKES_S, judge, refusal_of, stage, wrap

__all__ = [
    "CATALOGUE",
    "PROGRAM",
    "STAGE",
    "STOP_TAKES_S",
    "Setting",
    "check_key",
    "check_value",
    "find",
    "judge",
    "normalise",
    "refusal_of",
    "stage",
    "wrap",
]
