"""How a finding's record is read from its row."""

import logging
from typing import Any

from django.db.models.fields.json import KeyTransform

from apps.bench import lines, shapes
from apps.bench.rules.base import FindingDraft
from apps.core.models import BoundedJSONField, BoundedTextField

logger = logging.getLogger(__name__)


class LinesField(BoundedTextField):
    """Lines to paste: those of a form that no rule writes are none, be they an archive's or an earlier version's."""

    def from_db_value(self, value: str | None, _expression: Any, _connection: Any) -> str | None:
        """Return the lines, "" if one has no usual form; the record says so (`lines.with_usual`)."""
        return value if value is None or lines.are_usual(value) else ""


class RecordField(BoundedJSONField):
    """What a rule stored of a finding. What is not in its form is missing, and logged: it breaks no list or page.

    Its evidence is as long as there are trials, which have a limit of their own; the bound is that of all else.
    """

    def run_validators(self, value: Any) -> None:
        """Raise ValidationError if the record is too long without its evidence."""
        others = {key: item for key, item in value.items() if key != "evidence"} if isinstance(value, dict) else value
        super().run_validators(others)

    def from_db_value(self, value: Any, expression: Any, connection: Any) -> Any:
        """Return the record's members that have their form."""
        data = super().from_db_value(value, expression, connection)
        if data is None or isinstance(expression, KeyTransform):
            return data
        record, broken = shapes.sound_members(FindingDraft, data)
        label = record.get("confidence_label", "")
        if not isinstance(label, str):
            record["confidence_label"] = ""
        if broken:
            logger.warning("A finding's record has malformed members, which are left out: %s", ", ".join(broken))
        return lines.with_usual(record)
