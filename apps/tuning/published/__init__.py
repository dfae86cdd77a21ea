"""Read figures that others published into a team's archive, marked as theirs; nothing is ever run."""

from apps.tuning.published.importing import MOST_BYTES, Imported, decode, import_published

__all__ = ["MOST_BYTES", "Imported", "decode", "import_published"]
