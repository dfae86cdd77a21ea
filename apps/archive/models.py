"""All tables of the room."""

from apps.archive.imports.models import ColumnMapping, Import, ImportItem
from apps.archive.incoming.models import IncomingArchive
from apps.archive.landing.models import FormerName, KeptText
from apps.archive.retention.models import RetentionRule
from apps.archive.search.models import SavedSearch, SearchEnd, SearchEntry, SearchMetric, SearchValue

__all__ = [
    "ColumnMapping",
    "FormerName",
    "Import",
    "ImportItem",
    "IncomingArchive",
    "KeptText",
    "RetentionRule",
    "SavedSearch",
    "SearchEnd",
    "SearchEntry",
    "SearchMetric",
    "SearchValue",
]
