"""Open archives that strangers packed (zip, tar, gzip) without being harmed: by bombs, paths that lead out, links."""

from apps.archive.imports.containers.limits import ContainerEntry, ContainerError, UnpackingLimits, printable
from apps.archive.imports.containers.meter import Meter
from apps.archive.imports.containers.walk import read_entries
from apps.archive.imports.containers.zips import Package, is_workbook

__all__ = [
    "ContainerEntry",
    "ContainerError",
    "Meter",
    "Package",
    "UnpackingLimits",
    "is_workbook",
    "printable",
    "read_entries",
]
