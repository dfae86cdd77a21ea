"""The science: sweeps, parsers, statistics, path arithmetic and rules; no Django, no clock, no I/O."""
