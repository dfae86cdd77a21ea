"""Raw outputs of unknown origin: cut a file into outputs, find the tool of each, and read it.

A file is a recording (``$ command``, what it printed, ``[exit N]``, ``--- stderr:`` and stderr; one after the other)
or what programs printed and nothing else.
"""

from apps.bench.recognition.files import NODE, split_file
from apps.bench.recognition.outputs import (
    Finding,
    candidates_for,
    own_output,
    read_as_any_role,
    read_file,
    read_output,
)

__all__ = [
    "NODE",
    "Finding",
    "candidates_for",
    "own_output",
    "read_as_any_role",
    "read_file",
    "read_output",
    "split_file",
]
