"""From an experiment as it was written to its points and the nodes that measure them."""

from apps.campaigns.expansion.casts import MOST_NODES, Cast
from apps.campaigns.expansion.formulas import ancestors_of
from apps.campaigns.expansion.points import Expansion, expand_experiment, is_bracketed
from apps.campaigns.expansion.stages import LeftOut, Measured, expand_stage

__all__ = [
    "MOST_NODES",
    "Cast",
    "Expansion",
    "LeftOut",
    "Measured",
    "ancestors_of",
    "expand_experiment",
    "expand_stage",
    "is_bracketed",
]
