"""A tool as a file, to give to another team or server: YAML, of which JSON is a part."""

from typing import Any

import yaml
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

from apps.bench.custom import Definition

MOST_BYTES = 200_000
FORMAT = "fathom-tool"


def export_tool(slug: str, definition: Definition) -> str:
    """Return the file of a tool, without what is left at its default."""
    bare = Definition("", "", "other", (), "alone", "", (), ()).as_json()
    own = {name: value for name, value in definition.as_json().items() if value != bare.get(name)}
    return yaml.safe_dump({FORMAT: 1, "slug": slug, **own}, allow_unicode=True, sort_keys=False, width=110)


def read_file(raw: bytes | str) -> tuple[str, dict[str, Any]]:
    """Return the short name and the definition that a file holds; ValidationError says what is no such file."""
    if len(raw) > MOST_BYTES:
        raise ValidationError({"file": _("The file is too large: %(limit)s bytes at most.") % {"limit": MOST_BYTES}})
    try:
        text = raw if isinstance(raw, str) else raw.decode("utf-8-sig")
        data = yaml.safe_load(text)
    except UnicodeDecodeError:
        raise ValidationError({"file": _("The file is not text in UTF-8.")}) from None
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        where = getattr(error, "problem_mark", None)
        line = where.line + 1 if where else 1
        raise ValidationError({"file": _("The file is not YAML; look at line %(line)s.") % {"line": line}}) from None
    if not isinstance(data, dict) or data.get(FORMAT) != 1:
        example = _("A tool's file begins with “%(mark)s: 1”; export one to see its form.") % {"mark": FORMAT}
        raise ValidationError({"file": example})
    definition = {str(name): value for name, value in data.items() if name not in (FORMAT, "slug")}
    return str(data.get("slug") or ""), definition
