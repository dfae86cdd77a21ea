"""How a rate goes with a factor, and ratios between settings: what a publication prints and what points show, alike.

Factors are parameters as the tools name them, and what follows from the rest of the evidence: ``record_size`` (of
whatever tool), ``clients``, ``threads`` (on each client), ``tasks`` (over all clients), ``file_system`` (a name),
``file_system_kind`` and ``file_system_block`` (B). `fixed` of a trend, `of` and `to` of a ratio hold parameters under
the same names; where different nodes are compared, these stand under ``testbed``. A ratio printed without a figure,
such as "better", is 1 to infinity.
"""

from apps.bench.rules.shapes.apart import settings_apart
from apps.bench.rules.shapes.curves import ONCE, Curve, curves, interval_at
from apps.bench.rules.shapes.forms import (
    EQUAL,
    FALLS,
    FLAT,
    RISES,
    SATURATES,
    UNCLEAR,
    same,
    scattered,
    shaped,
    trend_of,
    trends,
    unmeasured_before,
)
from apps.bench.rules.shapes.names import (
    BLOCK,
    CLIENTS,
    FILE_SYSTEM,
    KIND,
    RECORD,
    TASKS,
    THREADS,
    described,
    in_words,
    nodes_of,
    way_of,
)
from apps.bench.rules.shapes.ratios import common, decisive, inverse, is_better, is_equal, middle, ratios, ratios_of

__all__ = [
    "BLOCK",
    "CLIENTS",
    "EQUAL",
    "FALLS",
    "FILE_SYSTEM",
    "FLAT",
    "KIND",
    "ONCE",
    "RECORD",
    "RISES",
    "SATURATES",
    "TASKS",
    "THREADS",
    "UNCLEAR",
    "Curve",
    "common",
    "curves",
    "decisive",
    "described",
    "in_words",
    "interval_at",
    "inverse",
    "is_better",
    "is_equal",
    "middle",
    "nodes_of",
    "ratios",
    "ratios_of",
    "same",
    "scattered",
    "settings_apart",
    "shaped",
    "trend_of",
    "trends",
    "unmeasured_before",
    "way_of",
]
