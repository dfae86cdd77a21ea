"""What the agent of a node may do beyond what every agent may: further programs, kernel settings, another user."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from lab.fields import Fields

_PROGRAM = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]*")
_PATTERN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._*-]*")
_USER = re.compile(r"[a-z_][a-z0-9_-]*")


@dataclass(frozen=True)
class Allowance:
    """An agent's own rules; a program of None is looked for on the path when the lab is built."""

    programs: Mapping[str, Path | None] = field(default_factory=dict)
    settings: tuple[str, ...] = ()
    user: str = "nobody"


def read_allowance(fields: Fields, *, base: Allowance | None = None) -> Allowance:
    """Read `programs`, `settings` and `user`; what a node says is added to, and goes before, the `base`."""
    base = base or Allowance()
    programs: dict[str, Path | None] = {}
    for entry in fields.names("programs", ()):
        name = entry.rpartition("/")[2]
        if not _PROGRAM.fullmatch(name) or ("/" in entry and not entry.startswith("/")):
            fields.refuse("programs", f"{entry!r} is no name or absolute path of a program")
        programs[name] = Path(entry) if "/" in entry else None
    settings = fields.names("settings", ())
    for pattern in settings:
        if not _PATTERN.fullmatch(pattern):
            fields.refuse("settings", f"{pattern!r} is no kernel setting such as net.ipv4.tcp_rmem or net.ipv4.tcp_*")
    user = fields.text("user", default=base.user)
    if not _USER.fullmatch(user):
        fields.refuse("user", f"{user!r} is no name of a user")
    return replace(
        base,
        programs={**base.programs, **programs},
        settings=tuple(dict.fromkeys([*base.settings, *settings])),
        user=user,
    )
