"""Permanent ids: twelve characters of Crockford's base 32, as in "7k3m-9qxt-2v4h", 60 random bits."""

import secrets

# Crockford's alphabet: no i, l, o and u, which are read as other characters or as words.
ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
_GROUP, _GROUPS = 4, 3
_MISREAD = str.maketrans({"i": "1", "l": "1", "o": "0"})


def new() -> str:
    """Return an id that nothing has yet."""
    return "-".join("".join(secrets.choice(ALPHABET) for _ in range(_GROUP)) for _ in range(_GROUPS))


def normalise(text: str) -> str | None:
    """Return the id that a person wrote, whatever the case, dashes and misread letters; None if it is none."""
    letters = "".join(character for character in text.strip().lower() if character not in "- ").translate(_MISREAD)
    if len(letters) != _GROUP * _GROUPS or not set(letters) <= set(ALPHABET):
        return None
    return "-".join(letters[start : start + _GROUP] for start in range(0, len(letters), _GROUP))
