"""Why measurements fail, in words, by group; `_failures` has those that all tools share and looks them up."""

from typing import NamedTuple


class Reason(NamedTuple):
    """What happened, what to do, whether another attempt can help, and the code if it is not the reason's name."""

    message: str
    remedy: str
    retryable: bool
    code: str = ""
