"""What somebody else changed since a form was shown."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Model

from apps.core.editing.changes import LastEdit, last_change_of
from apps.core.editing.versions import OVER, VERSION, differing, version_of


@dataclass(frozen=True)
class FieldConflict:
    """A field that is no longer what the form showed: its label, and what it now is, as text."""

    label: str
    value: str


@dataclass(frozen=True)
class EditConflict:
    """What a form would undo; to save nevertheless is to send `version` as `editing.OVER`."""

    name: str
    change: LastEdit
    differences: tuple[FieldConflict, ...]
    version: str


def conflict_of(
    sent: Mapping[str, Any],
    *,
    row: Model,
    values: Mapping[str, Any],
    describe: Callable[[str, Any], FieldConflict],
    name: str,
) -> EditConflict | None:
    """Return what differs between the version that was sent and the values of a row that is held, None if nothing.

    What was sent without a version, by something else than the form, rests on nothing that was shown.
    """
    version = sent.get(OVER) or sent.get(VERSION)
    if not version:
        return None
    names = differing(version, values)
    if not names:
        return None
    # Of what changed since the form was shown, also where somebody agreed to save over a part of it.
    names = differing(sent.get(VERSION) or "", values) or names
    differences = tuple(describe(part, values[part]) for part in names if part in values)
    return EditConflict(name, last_change_of(row), differences, version_of(values))
