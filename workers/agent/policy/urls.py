"""The URLs that a transfer may have: one strict form each, so that no two programs read another host or path in them.

Where a host ends is told differently by those who read URLs: at a question mark, a number sign, a backslash, or at
none of them, and some take what stands before an at sign for a user. None of these may be there at all.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_PATH = r"/[A-Za-z0-9._/+@,=~-]*"
_SERVER = re.compile(
    rf"(?:gsi)?ftp://(?P<host>[A-Za-z0-9](?:[A-Za-z0-9-]|\.(?!\.))*|\[[0-9A-Fa-f:.]+\])(?::[0-9]{{1,5}})?(?P<path>{_PATH})"
)
_FILE = re.compile(rf"file://(?P<path>{_PATH})")
_PAIR = re.compile(r"([!-~]+) ([!-~]+)")


class BadUrl(ValueError):
    """What is no URL in one of the two forms, or no line with two of them; the text is itself."""


class Url(NamedTuple):
    """Where a transfer begins or ends: a server's host, as it is written, or "" for a file; and a path."""

    host: str
    path: str


def read_url(text: str) -> Url:
    """Return what a URL of a GridFTP server or of a file holds; BadUrl for anything else."""
    server, file = _SERVER.fullmatch(text), _FILE.fullmatch(text)
    if server is not None:
        return Url(server["host"], server["path"])
    if file is not None:
        return Url("", file["path"])
    raise BadUrl(text)


def read_pairs(text: str) -> list[str]:
    """Return the URLs of a list with two in each line, one blank between; BadUrl for anything else."""
    urls: list[str] = []
    for line in text.removesuffix("\n").split("\n"):
        pair = _PAIR.fullmatch(line)
        if pair is None:
            raise BadUrl(line)
        urls += pair.groups()
    return urls
