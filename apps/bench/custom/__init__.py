"""Tools that a team defines itself: a program, a template of its arguments, and where its output holds the figures.

A definition is plain data (`read_definition` checks it, every mistake at its field; `restore_definition` takes what
was stored); `make_tool` gives a `Tool` as any other. The patterns in it are RE2's, whose time grows with the text,
and with how large a pattern is once its repetitions are written out, which is bounded.
"""

from apps.bench.custom.definition import Definition, DefinitionError, MetricRule
from apps.bench.custom.reader import read_definition, restore_definition
from apps.bench.custom.tool import CustomTool, make_tool

__all__ = [
    "CustomTool",
    "Definition",
    "DefinitionError",
    "MetricRule",
    "make_tool",
    "read_definition",
    "restore_definition",
]
