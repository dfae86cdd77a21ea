"""The token that a program draws for itself before it enrols, kept until it is known whether the server took it.

The server is told its digest only. So an enrolment whose answer was lost is asked again with the same one, and is
answered again; whoever else saw the enrolment token has another digest, and is refused.
"""

from __future__ import annotations

import hashlib
import json
import re
import secrets
from pathlib import Path

from . import config

FILE = "enrolment.json"
_SHAPE = re.compile(r"fth_agent_([0-9a-f]{12})_[A-Za-z0-9_-]{43}")


def keep(folder: Path, *, server: str, enrolment_token: str) -> str:
    """Return the token to propose with an enrolment token: that of before, or a new one; it is on the disk then.

    ConfigError if it cannot be kept.
    """
    asked = _digest_of(f"{server} {enrolment_token}")
    kept = _kept(folder)
    if kept.get("asked") == asked and _SHAPE.fullmatch(kept.get("token", "")):
        return kept["token"]
    token = f"fth_agent_{secrets.token_hex(6)}_{secrets.token_urlsafe(32)}"
    config.write_private(folder, FILE, json.dumps({"asked": asked, "token": token}).encode())
    return token


def as_body(token: str) -> dict[str, str]:
    """Return what the server is told of a proposed token."""
    shape = _SHAPE.fullmatch(token)
    return {"prefix": shape[1] if shape else "", "digest": _digest_of(token)}


def forget(folder: Path) -> None:
    """Remove what was proposed, once it was taken or refused; what stays is of no use to any other enrolment."""
    config.remove(folder, FILE)


def _kept(folder: Path) -> dict[str, str]:
    try:
        data = json.loads((folder / FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    is_right = isinstance(data, dict) and all(isinstance(value, str) for value in data.values())
    return data if is_right else {}


def _digest_of(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()
