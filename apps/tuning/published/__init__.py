"""Read figures that others published into a team's archive, marked as theirs; nothing is ever run."""

from apps.tuning.published.importing import Imported, import_published
from apps.tuning.published.places import MOST_BYTES, decode

__all__ = ["MOST_BYTES", "Imported", "decode", "import_published"]
