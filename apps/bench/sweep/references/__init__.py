"""Formulas over what earlier experiments measured, written in the place of a parameter's values.

``=bdp(max(Bottleneck.goodput), min(Baseline.rtt_min)) * {0.25, 0.5, 1, 2}`` gives four values. A formula begins with
“=” and is made of

- numbers, with a unit or without: ``0.9``, ``64 KiB``, ``4.8 ms``, ``1 Gbit/s``; they count in base
  units (B, s, bit/s);
- ``min``, ``max``, ``mean`` or ``median`` of what an experiment measured, ``max(Bottleneck.goodput)``; the name of
  the experiment stands in double quotes if it is not one word: ``min("Baseline RTT".rtt_min)``;
- ``bdp(capacity, rtt)``, the bandwidth-delay product in bytes;
- ``+ - * /`` and parentheses, and at most one list in braces, which makes as many values: ``{1, 2, 4}``.
"""

from apps.bench.sweep.references.formulas import Formula, Lookup, is_formula, parse_formula, resolve_formula
from apps.bench.sweep.references.tokens import FormulaError
from apps.bench.sweep.references.trees import Reference

__all__ = ["Formula", "FormulaError", "Lookup", "Reference", "is_formula", "parse_formula", "resolve_formula"]
