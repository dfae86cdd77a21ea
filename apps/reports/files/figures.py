"""The figures of a document as files, all drawn by one program, so that each format draws them once."""

from collections.abc import Iterator
from pathlib import Path

from apps.bench.text import Message, _
from apps.comparison.figures import checks, renderer
from apps.core.limits.fair_places import PlacesTakenError
from apps.reports.document import Block, Document, Drawing, Figure, walk
from apps.reports.files import typesetter
from apps.reports.files.base import Progress, RenderingError


def charts_of(document: Document) -> list[Figure]:
    """Return the document's charts in reading order."""
    return [block for block in walk(document) if isinstance(block, Figure)]


def draw(document: Document, ending: str, folder: Path, progress: Progress) -> dict[int, str]:
    """Write the charts into a folder as "svg" or "png" and the drawings as SVG; return {id(block): file name}.

    RenderingError if a chart is no chart, too many figures are being drawn elsewhere, or the program failed.
    """
    names: dict[int, str] = {}
    for block, data in _files(document, ending, progress):
        name = f"figure-{len(names) + 1}.{'svg' if isinstance(block, Drawing) else ending}"
        (folder / name).write_bytes(data)
        names[id(block)] = name
    return names


def drawings_as_png(document: Document, folder: Path) -> dict[int, Path]:
    """Write the document's drawings into a folder as PNG, for formats that know no SVG; return {id(block): file}."""
    blocks = [block for block in walk(document) if isinstance(block, Drawing)]
    files = {}
    for place, block in enumerate(blocks):
        (folder / f"drawing-{place}.svg").write_text(block.svg, encoding="utf-8")
        files[id(block)] = folder / f"drawing-{place}.png"
    if files:
        typesetter.run(
            {"folder": str(folder), "drawings": [file.stem for file in files.values()]}, lambda _share: None
        )
    return files


def _files(document: Document, ending: str, progress: Progress) -> Iterator[tuple[Block, bytes]]:
    charts = charts_of(document)
    for figure in charts:
        _check(figure)
    try:
        figures = renderer.render_each([figure.chart for figure in charts], ending)
        for place, (figure, picture) in enumerate(zip(charts, figures, strict=True), start=1):
            progress(place / len(charts))
            yield figure, picture
    except PlacesTakenError as error:
        raise RenderingError(Message(_("Many figures are being drawn at this moment. Ask again."))) from error
    except renderer.FigureTooLarge as error:
        text = _("A figure takes too long to be drawn: show less in it, or leave it out.")
        raise RenderingError(Message(text), str(error)) from error
    except renderer.FigureError as error:
        text = _("A figure could not be drawn; the service's log says why.")
        raise RenderingError(Message(text), str(error)) from error
    for block in walk(document):
        if isinstance(block, Drawing):
            yield block, block.svg.encode()


def _check(figure: Figure) -> None:
    try:
        checks.check_chart(figure.chart)
    except checks.ChartError as error:
        text = _("“%(caption)s” cannot be drawn: %(place)s: %(what)s. Show less in it, or leave it out.")
        values = {"caption": figure.caption, "place": error.place, "what": error.message.as_json()}
        raise RenderingError(Message(text, values)) from error
