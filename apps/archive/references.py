"""Who may read which import or archive that stands in the way of a deletion, and whose names a campaign says."""

from collections.abc import Collection
from typing import Any

from apps.archive.imports.models import Import
from apps.archive.imports.queries import imports_for
from apps.archive.incoming.models import IncomingArchive
from apps.archive.incoming.queries import archives_for
from apps.archive.landing.redaction.foreign import names_said
from apps.campaigns.services import foreign_names
from apps.core import withheld


def _seen_imports(ids: Collection[Any], user: Any) -> set[Any]:
    return set(imports_for(user).filter(pk__in=ids).order_by().values_list("pk", flat=True))


def _seen_archives(ids: Collection[Any], user: Any) -> set[Any]:
    return set(archives_for(user).filter(pk__in=ids).order_by().values_list("pk", flat=True))


withheld.register(Import, _seen_imports)
withheld.register(IncomingArchive, _seen_archives)
foreign_names.read_by(names_said)
