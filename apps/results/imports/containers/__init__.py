"""Open archives that strangers packed (zip, tar, gzip) without being harmed: by bombs, paths that lead out, links."""

from apps.results.imports.containers.limits import ContainerError, Entry, Limits, printable
from apps.results.imports.containers.walking import read_entries
from apps.results.imports.containers.zips import Package, is_workbook

__all__ = ["ContainerError", "Entry", "Limits", "Package", "is_workbook", "printable", "read_entries"]
