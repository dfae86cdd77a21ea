"""Tokens: a prefix to look a row up by, a secret of 256 random bits, and only its digest to keep."""

import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass

_SHAPE = re.compile(r"fth_[a-z]+_(?P<prefix>[0-9a-f]{12})_[A-Za-z0-9_-]{43}")


@dataclass(frozen=True)
class Issued:
    """A new token: `text` is shown once, `prefix` and `digest` are kept."""

    text: str
    prefix: str
    digest: str


def issue(kind: str) -> Issued:
    """Return a new token ``fth_<kind>_<prefix>_<secret>``; `kind` is a short lower-case word."""
    prefix = secrets.token_hex(6)
    text = f"fth_{kind}_{prefix}_{secrets.token_urlsafe(32)}"
    return Issued(text, prefix, digest_of(text))


def prefix_of(text: str) -> str | None:
    """Return the prefix of a token's text, or None if it has not the shape of a token."""
    shape = _SHAPE.fullmatch(text)
    return shape["prefix"] if shape else None


def digest_of(text: str) -> str:
    """Return the SHA-256 of a token's text; its secret is random, so no slow hash is needed."""
    return hashlib.sha256(text.encode()).hexdigest()


def matches(text: str, digest: str) -> bool:
    """Compare in constant time."""
    return hmac.compare_digest(digest_of(text), digest)
