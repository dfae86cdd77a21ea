"""The configuration of a GridFTP server: which lines it may have, and which paths it opens to whoever calls."""

from __future__ import annotations

import re

_LINE = re.compile(
    r'allow_anonymous [01]|anonymous_user nobody|restrict_paths "(?P<entries>[^"]*)"'
    r"|(?:ipc_)?allow_from [0-9A-Fa-f.:]+(?:,[0-9A-Fa-f.:]+)*"
)
# The server reads rights in small letters, too, and takes what is no right for a part of the path.
_ENTRY = re.compile(r"[RWN]*(?P<path>(?:\{work\})?/[A-Za-z0-9._/+@=-]*)")


class BadLine(ValueError):
    """A line of a configuration that it may not have, or what it lacks; the text says which."""


def read_paths(text: str) -> list[str]:
    """Return the full paths that a configuration opens, `{work}` in them as it is written.

    BadLine unless it is made of the lines of the product, and limits the paths exactly once: without that limit the
    server would open all that its user can read.
    """
    limits = []
    for line in text.removesuffix("\n").split("\n"):
        match = _LINE.fullmatch(line)
        if match is None:
            raise BadLine(line)
        if match["entries"] is not None:
            limits.append(match["entries"])
    if len(limits) != 1:
        raise BadLine(f"{len(limits)} × restrict_paths")
    return [_path_of(entry) for entry in limits[0].split(",")]


def _path_of(entry: str) -> str:
    match = _ENTRY.fullmatch(entry)
    if match is None:
        raise BadLine(f"restrict_paths {entry}")
    return match["path"]
