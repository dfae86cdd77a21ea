"""The XML of packages, looked through before anything is built of it."""

import io
from xml.parsers import expat

# Elements of one package: so many cells have all rows and columns that are taken, twice over.
MOST_ELEMENTS = 4_000_000
_PIECE_BYTES = 256 * 1024


class UnsafeError(Exception):
    """XML that declares entities of its own, or is of more elements than are taken."""


class DamagedError(Exception):
    """What is no XML."""


class Inspector:
    """Looks through parts one after the other; their elements are counted together."""

    def __init__(self, most_elements: int = MOST_ELEMENTS) -> None:
        self._left = most_elements

    def look_through(self, part: io.BufferedIOBase) -> None:
        """Raise UnsafeError or DamagedError for a part that is not to be read, in whatever encoding it is."""
        parser = expat.ParserCreate()
        parser.StartDoctypeDeclHandler = _refuse_declarations
        parser.StartElementHandler = self._count
        try:
            while piece := part.read(_PIECE_BYTES):
                parser.Parse(piece, False)
            parser.Parse(b"", True)
        except (expat.ExpatError, LookupError, ValueError) as error:
            raise DamagedError from error

    def _count(self, _name: str, _attributes: dict[str, str]) -> None:
        self._left -= 1
        if self._left < 0:
            raise UnsafeError


def _refuse_declarations(*_declared: object) -> None:
    raise UnsafeError
