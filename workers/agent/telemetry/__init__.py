"""What the kernel says of a job's time: counters before, each second during, and after it; nothing is started for it
but ss(8).
"""

from .sampler import Recording, Sampler

__all__ = ["Recording", "Sampler"]
