"""What programs may be told: options, files, destinations. The agent's own word, which no server can widen."""

from .guard import Guard, rules_of
from .reach import Reach, is_network
from .rules import OWNERS_KINDS, VARIABLE_KINDS, Rules
from .starters import WRAPPERS, is_starter, is_told_nothing

__all__ = [
    "OWNERS_KINDS",
    "VARIABLE_KINDS",
    "WRAPPERS",
    "Guard",
    "Reach",
    "Rules",
    "is_network",
    "is_starter",
    "is_told_nothing",
    "rules_of",
]
