"""The formats of files, by name; what renders them is loaded only where it is at work."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from django.utils.module_loading import import_string

from apps.bench.text import _
from apps.reports.document import Document
from apps.reports.files.base import Imprint, Progress

Renderer = Callable[[Document, Imprint, Path, Progress], None]


@dataclass(frozen=True)
class Format:
    """A format of files: `label` is what people read, `renderer` leads to the function that writes one."""

    name: str
    label: str
    content_type: str
    renderer: str

    def load(self) -> Renderer:
        """Return the function that writes a document into a file of this format."""
        renderer: Renderer = import_string(self.renderer)
        return renderer


_OFFICE = "application/vnd.openxmlformats-officedocument"
FORMATS = {
    "pdf": Format("pdf", _("PDF"), "application/pdf", "apps.reports.files.pdf.render"),
    "xlsx": Format(
        "xlsx", _("Spreadsheet (XLSX)"), f"{_OFFICE}.spreadsheetml.sheet", "apps.reports.files.spreadsheet.render"
    ),
    "pptx": Format(
        "pptx", _("Slides (PPTX)"), f"{_OFFICE}.presentationml.presentation", "apps.reports.files.slides.render"
    ),
    "zip": Format("zip", _("Tables (CSV)"), "application/zip", "apps.reports.files.tables.render"),
    "json": Format("json", _("Data (JSON)"), "application/json", "apps.reports.files.data.render"),
}
CHOICES = [(found.name, found.label) for found in FORMATS.values()]
