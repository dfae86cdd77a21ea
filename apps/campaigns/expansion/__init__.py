"""From an experiment as it was written to its points and the nodes that measure them."""

from apps.campaigns.expansion.casts import Cast
from apps.campaigns.expansion.expanding import Expansion, expand_experiment, is_bracketed
from apps.campaigns.expansion.formulas import Figures, ancestors_of

__all__ = ["Cast", "Expansion", "Figures", "ancestors_of", "expand_experiment", "is_bracketed"]
