"""What holds jobs: the kernel's confinement of what they start, and the end of what they leave behind."""

from .confinement import Confinement
from .offspring import OFFSPRING
from .starter import Starter

__all__ = ["OFFSPRING", "Confinement", "Starter"]
