"""A tool as a file, to give to another team or server: YAML, of which JSON is a part."""

from typing import Any

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

from apps.bench.custom import Definition
from apps.core import documents, messages, yaml_writer

MOST_BYTES = 200_000
_LIMITS = documents.DocumentLimits(most_bytes=MOST_BYTES, deepest=12, most_values=20_000)
FORMAT = "fathom-tool"


def export_tool(slug: str, definition: Definition) -> str:
    """Return the file of a tool, without what is left at its default."""
    bare = Definition("", "", "other", (), "alone", "", (), ()).as_json()
    own = {name: value for name, value in definition.as_json().items() if value != bare.get(name)}
    return yaml_writer.write_yaml({FORMAT: 1, "slug": slug, **own})


def read_file(raw: bytes | str) -> tuple[str, dict[str, Any]]:
    """Return the short name and the definition that a file holds; ValidationError says what is no such file."""
    try:
        data = documents.read_yaml(raw, _LIMITS)
    except documents.UnreadableError as error:
        raise ValidationError({"file": messages.render(error.message)}) from None
    if not isinstance(data, dict) or data.get(FORMAT) != 1:
        example = _("A tool's file begins with “%(mark)s: 1”; export one to see its form.") % {"mark": FORMAT}
        raise ValidationError({"file": example})
    definition = {name: value for name, value in data.items() if name not in (FORMAT, "slug")}
    return str(data.get("slug") or ""), definition
