"""What holds jobs: the kernel's confinement of what they start, and the end of what they leave behind."""

from .confinement import Confinement
from .kernel import adopt_orphans
from .offspring import OFFSPRING
from .starting import Starter

__all__ = ["OFFSPRING", "Confinement", "Starter", "adopt_orphans"]
