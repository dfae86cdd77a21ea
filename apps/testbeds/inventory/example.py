"""The published example: the testbeds of five reports, as far as they are printed."""

from pathlib import Path

from apps.accounts.models import Team
from apps.testbeds.inventory.store import ItemChange, import_inventory

_FILE = Path(__file__).resolve().parents[1] / "data" / "example.yaml"


def example_text() -> str:
    """Return the example as a file."""
    return _FILE.read_text(encoding="utf-8")


def load_example(*, team: Team) -> list[ItemChange]:
    """Import the example into a team; what the team has under the same names is changed to it."""
    return import_inventory(team=team, text=example_text())
