"""Kernel settings set for a measurement, and put back whatever happens."""

from .asking import COMMAND, PROGRAM, prepare
from .holding import hold
from .journal import Journals, Unrestored

__all__ = ["COMMAND", "PROGRAM", "Journals", "Unrestored", "hold", "prepare"]
