"""All tables of the room."""

from apps.comparison.comparisons.models import SavedView
from apps.comparison.history.models import ChangePoint

__all__ = ["ChangePoint", "SavedView"]
