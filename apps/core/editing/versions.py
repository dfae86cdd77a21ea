"""Versions: a digest for each field of a thing, in one line that a form carries."""

from collections.abc import Mapping
from typing import Any

from apps.core.versions import digest_of

# The hidden field with the version, and the button that saves over what somebody else changed.
VERSION, OVER = "as_shown", "save_over"


def version_of(values: Mapping[str, Any]) -> str:
    """Return "name=digest name=digest …" for the fields of a thing, in the order of their names."""
    return " ".join(f"{name}={digest_of(value)}" for name, value in sorted(values.items()))


def differing(version: str, values: Mapping[str, Any]) -> list[str]:
    """Return the names of the fields that are not what the version says they were, in the order of `values`."""
    earlier = dict(part.rpartition("=")[::2] for part in version.split())
    changed = [name for name, value in values.items() if earlier.get(name) != digest_of(value)]
    return changed + [name for name in earlier if name not in values]
