"""The XML of packages, looked through before anything is built of it."""

import io
import posixpath
import re
from xml.parsers import expat

# Elements of sheets and of their texts: so many cells have all rows and columns that are taken, twice over.
MOST_ELEMENTS = 4_000_000
# Elements of all its other parts together. These are built whole: each takes a kilobyte, and 17 microseconds.
MOST_OTHERS = 300_000
# Office programs share no text that no cell shows, but for a few that were cells once.
MOST_UNSHOWN = 10_000
_OF_CELLS = re.compile(r"xl/(?:worksheets/[^/]+|sharedStrings)\.xml")
_KINDS_OF_CELLS = re.compile(
    r"application/vnd\.openxmlformats-officedocument\.spreadsheetml\.(?:worksheet|sharedStrings)\+xml"
)
# Sheets that are charts are built whole as well.
_CHARTSHEET, _CHARTSHEETS = "chartsheet", re.compile(r"(?:.*/)?chartsheets/[^/]+\.xml")
_PIECE_BYTES = 256 * 1024


class UnsafeError(Exception):
    """XML that declares entities of its own, or is of more elements than are taken."""


class DamagedError(Exception):
    """What is no XML."""


class Inspector:
    """Looks through parts one after the other; the elements of those of cells are counted together, and of others."""

    def __init__(self) -> None:
        self._left = {True: MOST_ELEMENTS, False: MOST_OTHERS}
        self._is_of_cells = False
        self._texts = self._cells = 0

    def look_through(self, name: str, part: io.BufferedIOBase) -> None:
        """Raise UnsafeError or DamagedError for a part that is not to be read, in whatever encoding it is."""
        self._is_of_cells = _OF_CELLS.fullmatch(name) is not None
        parser = expat.ParserCreate()
        parser.StartDoctypeDeclHandler = _refuse_declarations
        parser.StartElementHandler = self._count
        try:
            while piece := part.read(_PIECE_BYTES):
                parser.Parse(piece, False)
            parser.Parse(b"", True)
        except (expat.ExpatError, LookupError, ValueError) as error:
            raise DamagedError from error

    def check_texts(self) -> None:
        """Raise UnsafeError if the parts, once all are looked through, share more texts than cells could show."""
        if self._texts > self._cells + MOST_UNSHOWN:
            raise UnsafeError

    def _count(self, name: str, attributes: dict[str, str]) -> None:
        local = name.rpartition(":")[2]
        if local in ("Override", "Relationship"):
            _check_kind(attributes)
        self._texts += local == "si"
        self._cells += self._is_of_cells and local == "c"
        self._left[self._is_of_cells] -= 1
        if self._left[self._is_of_cells] < 0:
            raise UnsafeError


def _check_kind(of_part: dict[str, str]) -> None:
    """Refuse a part of cells that is said to be something else, which would be built whole."""
    if _OF_CELLS.fullmatch(of_part.get("PartName", "")[1:]) and not _KINDS_OF_CELLS.fullmatch(
        of_part.get("ContentType", "")
    ):
        raise UnsafeError
    kinds = (of_part.get("Type", ""), of_part.get("type", ""))
    is_chart = any(_CHARTSHEET in kind for kind in kinds)
    if is_chart and not _CHARTSHEETS.fullmatch(posixpath.normpath(of_part.get("Target", ""))):
        raise UnsafeError


def _refuse_declarations(*_declared: object) -> None:
    raise UnsafeError
