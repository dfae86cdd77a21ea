"""What a doubt means, told where it is raised: whoever judges figures reads these sets, not each flag by its name."""

# An end of its own accord, not the path or the disk, set the pace: the figure is a lower bound of what these can do.
HELD_BY_LIMIT = "held-by-limit"
HELD = frozenset({HELD_BY_LIMIT})

# The figure is not sure to be one of what was asked.
CACHED_BY_SERVER, CONTRADICTS, UNCERTAIN = "cached-by-server", "contradicts-itself", "confidence-missed"
DOUBTED = frozenset({CACHED_BY_SERVER, CONTRADICTS, UNCERTAIN})
