"""Write a team's inventory as a file that reads back to the same."""

from typing import Any

from django.db.models import Model

from apps.accounts.models import Team
from apps.core import yaml_writer
from apps.testbeds.inventory.entries import VERSION
from apps.testbeds.inventory.fields import Inline, InlineEntry
from apps.testbeds.inventory.sections import SECTIONS, InventorySection


class _Dumper(yaml_writer.Dumper):
    """Writes short lists and mappings on one line."""


_Dumper.add_representer(
    Inline, lambda dumper, data: dumper.represent_sequence("tag:yaml.org,2002:seq", data, flow_style=True)
)
_Dumper.add_representer(
    InlineEntry,
    lambda dumper, data: dumper.represent_mapping("tag:yaml.org,2002:map", data.items(), flow_style=True),
)


def export_inventory(*, team: Team) -> str:
    """Return the team's whole inventory as YAML; imported into an empty team and exported again it is the same."""
    document: dict[str, Any] = {"version": VERSION}
    for section in SECTIONS:
        if entries := [_entry(section, item) for item in section.rows_of(team)]:
            document[section.name] = entries
    return yaml_writer.write_yaml(document, dumper=_Dumper)


def _entry(section: InventorySection, item: Model) -> dict[str, Any]:
    values = {field.name: field.written(field.value_of(item)) for field in section.fields}
    return {name: value for name, value in values.items() if value is not None}
