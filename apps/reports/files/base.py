"""What every format is given beside the document, and what it tells while it is at work."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from apps.bench.text import Message

# Called with the share (0 to 1) that is done.
Progress = Callable[[float], None]


@dataclass(frozen=True)
class Imprint:
    """Which edition of a report this is: its number (None: a draft), permanent id, checksum, and its moment.

    `address` is where the service is found ("https://…"), "" if that is not known: references lead there. `came` says
    who brought it in from an archive, "" of what was frozen here.
    """

    number: int | None
    permanent_id: str
    checksum: str
    at: datetime
    address: str = ""
    came: str = ""


class RenderingError(Exception):
    """The document cannot be rendered; `message` says why and what to do, `detail` is for the log."""

    def __init__(self, message: Message, detail: str = "") -> None:
        """Keep both."""
        super().__init__(detail or str(message))
        self.message = message
