"""Windows asked for that were measured beside the kernel's own, and surely had more."""

from apps.bench.rules.base import Evidence
from apps.bench.rules.tcp.present import Present, read_all
from apps.bench.rules.tcp.sweeps import SURELY, scatter_of


def explicits(evidence: Evidence, present: Present) -> list[Present]:
    """Return the explicit windows measured alike in all else."""
    own = {name: value for name, value in present.point.parameters.items() if name != "window"}
    return [
        item
        for item in read_all(evidence)
        if item.point.parameters.get("window")
        and {name: value for name, value in item.point.parameters.items() if name != "window"} == own
    ]


def better_window(evidence: Evidence, present: Present) -> Present | None:
    """Return the best of the explicit windows that surely had more than the automatic one, None if none had.

    Nobody can say then that a window gains nothing, or that none is to be asked for.
    """
    own, scatter = present.point.values("goodput"), scatter_of(evidence)
    surely = [
        item for item in explicits(evidence, present) if scatter.is_less(own, item.point.values("goodput"), by=SURELY)
    ]
    return max(surely, key=lambda item: item.rate, default=None)
