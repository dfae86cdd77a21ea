"""The deck: which slides there are, in which order."""

import zipfile
from collections.abc import Sequence
from datetime import UTC
from itertools import chain, islice
from pathlib import Path

from django.utils.translation import gettext as _
from pptx import Presentation
from pptx.util import Inches

from apps.core import scratch
from apps.reports.document import Block, Document, Drawing, Figure, Section, Table
from apps.reports.files import cells, figures, imprints
from apps.reports.files.base import Imprint, Progress
from apps.reports.files.slides.lines import SlideLine, lines_of, pages_of
from apps.reports.files.slides.slide import Writer, clean

# Sections that are told in words, and those of whose parts only the titles are; of the others the figures are shown.
TOLD, LISTED = ("findings", "changes", "conclusion"), ("problems",)
# Of a section's parts (findings, problems) so many have a slide of their own, the rest a line.
MOST_PARTS = 8
# What to change stands on the first slides of a finding; limits and other explanations are in the report.
MOST_PAGES = 2
# The same document gives the same file.
_DATE = (1980, 1, 1, 0, 0, 0)
_FIGURES = 0.7


def render(document: Document, imprint: Imprint, output: Path, progress: Progress) -> None:
    """Write the PPTX."""
    with scratch.new_folder("slides") as folder:
        charts = figures.draw(document, "png", folder, lambda share: progress(_FIGURES * share))
        pictures = {block: folder / file for block, file in charts.items() if file.endswith(".png")}
        pictures |= figures.drawings_as_png(document, folder)
        deck = _Deck(document, imprint, pictures)
        deck.write()
        deck.presentation.save(str(folder / "deck.pptx"))
        _settle(folder / "deck.pptx", output)


class _Deck:
    """One deck on its way."""

    def __init__(self, document: Document, imprint: Imprint, pictures: dict[int, Path]) -> None:
        self.document = document
        self.imprint = imprint
        self.pictures = pictures
        self.numbers = cells.numbers_of(document)
        self.presentation = Presentation()
        self.presentation.slide_width, self.presentation.slide_height = Inches(13.333), Inches(7.5)
        self.to = Writer(self.presentation, document.title, document.language)

    def write(self) -> None:
        """Write all slides."""
        self._properties()
        meta = [f"{label}: {text}" for label, text in self.document.meta]
        self.to.title(self.document.title, self.document.subtitle, imprints.edition_text(self.imprint), meta)
        self._words(_("In short"), self.document.summary)
        self._shown(_("In short"), self.document.summary)
        for section in self.document.sections:
            if section.key in TOLD:
                self._told(section, MOST_PARTS)
            elif section.key in LISTED:
                self._told(section, 0)
            else:
                self._figures(section)

    def _told(self, section: Section, maximum: int) -> None:
        """Tell a section in words: its own, then those of its first parts, then the titles of the others."""
        has_tables = any(isinstance(block, Table) and block.rows for block in section.blocks)
        is_said = set(lines_of(section.blocks)) <= set(lines_of(self.document.summary))
        if is_said and not section.sections and not has_tables:
            # It was said on the first slides, word for word.
            return
        self._words(section.title, section.blocks)
        self._shown(section.title, section.blocks)
        for part in section.sections[:maximum]:
            self._words(part.title, list(_all(part)), over=section.title, maximum=MOST_PAGES)
            self._shown(part.title, list(_all(part)), with_tables=False)
        rest = [SlideLine(part.title, 1) for part in section.sections[maximum:]]
        for page in pages_of(rest):
            further = _("%(section)s: further ones") % {"section": section.title}
            self.to.words(further if maximum else section.title, page)

    def _figures(self, section: Section) -> None:
        """Show a section's figures; of a report to those who manage its tables, too."""
        blocks = list(_all(section))
        self._shown(section.title, blocks, with_tables=self.document.kind == "management")

    def _words(self, title: str, blocks: Sequence[Block], over: str = "", maximum: int | None = None) -> None:
        for place, page in enumerate(islice(pages_of(lines_of(blocks)), maximum)):
            heading = _("%(title)s (continued)") % {"title": title} if place else title
            self.to.words(heading, page, over)

    def _shown(self, over: str, blocks: Sequence[Block], *, with_tables: bool = True) -> None:
        for block in blocks:
            if isinstance(block, Figure | Drawing):
                sentence = cells.sentence_of(block) if isinstance(block, Figure) else ""
                caption = f"{self.numbers[id(block)]}. {block.caption}"
                alternative = block.alternative if isinstance(block, Drawing) else sentence
                self.to.picture(caption, self.pictures[id(block)], sentence, alternative or block.caption, over)
            elif isinstance(block, Table) and with_tables and block.rows:
                self.to.table(f"{self.numbers[id(block)]}. {block.caption}", block, over)

    def _properties(self) -> None:
        properties, moment = self.presentation.core_properties, self.imprint.at.astimezone(UTC).replace(tzinfo=None)
        properties.title, properties.subject = clean(self.document.title), clean(self.document.subtitle)
        properties.language = self.document.language
        properties.author = properties.last_modified_by = properties.keywords = properties.comments = ""
        properties.created = properties.modified = moment
        properties.revision = self.imprint.number or 1


def _all(section: Section) -> chain[Block]:
    """Return a section's blocks and those of its parts."""
    return chain(section.blocks, *(_all(part) for part in section.sections))


def _settle(draft: Path, output: Path) -> None:
    """Write the file again without the moments at which its parts were packed."""
    with zipfile.ZipFile(draft) as packed, zipfile.ZipFile(output, "w", zipfile.ZIP_DEFLATED) as out:
        for name in packed.namelist():
            entry = zipfile.ZipInfo(name, _DATE)
            entry.compress_type = zipfile.ZIP_DEFLATED
            out.writestr(entry, packed.read(name))
