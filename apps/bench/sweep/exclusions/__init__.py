"""Conditions that leave points out of a sweep, such as ``window > 1 MiB and streams > 4``: a small, safe language.

Names are the swept and fixed parameters; numbers may carry units; comparisons (also ``in (1, 2)``, and chains such
as ``1 < streams < 8``), ``and``, ``or``, ``not``, ``+ - * /`` and parentheses. Quantities are checked: a size
compares with sizes only, rate x duration is a size, size / duration a rate, size / rate a duration. Nothing of a
text is ever handed to Python's own evaluation.
"""

from apps.bench.sweep.exclusions.compiler import Exclusion, compile_exclusion
from apps.bench.sweep.exclusions.tokens import ExclusionError

__all__ = ["Exclusion", "ExclusionError", "compile_exclusion"]
