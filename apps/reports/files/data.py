"""A document as data: its canonical JSON, whose SHA-256 is an edition's checksum."""

from pathlib import Path

from apps.reports import serialisation
from apps.reports.document import Document
from apps.reports.files.base import Imprint, Progress


def render(document: Document, imprint: Imprint, output: Path, progress: Progress) -> None:
    """Write the JSON."""
    output.write_text(serialisation.canonical(serialisation.as_json(document)), encoding="utf-8")
