"""What a limit of rows says; without Django's models, for settings are made of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class OwnedLimit:
    """So many rows of a model (its label) that one owner may have, 0 for no limit.

    `owner` is the way from a row to whom it belongs, as lookups have it; `counts` which rows count, all unless
    given. A model whose rows come to an end by time says itself which are `in_force`.
    """

    model: str
    owner: str
    most: int
    counts: Mapping[str, Any] = field(default_factory=dict)
