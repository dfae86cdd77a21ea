"""Property tests of the science are not timed: a busy machine is no fault of theirs."""

from hypothesis import settings

settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
