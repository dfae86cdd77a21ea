"""An inventory as one YAML file: read, checked, previewed, stored, and written again."""

from apps.testbeds.inventory.example import example_text, load_example
from apps.testbeds.inventory.reader import MOST_BYTES, MOST_ITEMS, decode
from apps.testbeds.inventory.store import CHANGED, CREATED, SAME, FieldChange, ItemChange, import_inventory
from apps.testbeds.inventory.writer import export_inventory

__all__ = [
    "CHANGED",
    "CREATED",
    "MOST_BYTES",
    "MOST_ITEMS",
    "SAME",
    "FieldChange",
    "ItemChange",
    "decode",
    "example_text",
    "export_inventory",
    "import_inventory",
    "load_example",
]
