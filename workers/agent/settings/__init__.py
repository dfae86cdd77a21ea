"""Kernel settings set for a measurement, and put back whatever happens."""

from .holder import hold
from .journal import Journals, Unrestored
from .requests import COMMAND, PROGRAM, prepare
from .restoration import Restoration
from .silence import Switch

__all__ = ["COMMAND", "PROGRAM", "Journals", "Restoration", "Switch", "Unrestored", "hold", "prepare"]
