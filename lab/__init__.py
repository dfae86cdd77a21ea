"""A lab on one machine: sites in network namespaces, joined by emulated long lines, described by a YAML file each."""

from lab.machine import possible

__all__ = ["possible"]
