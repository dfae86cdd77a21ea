"""The names of an archive for which somebody chooses others here."""

from collections.abc import Mapping

from django.core.exceptions import ValidationError
from django.utils.translation import gettext

from apps.archive.incoming.models import IncomingArchive


def refuse_strangers(incoming: IncomingArchive, nodes: Mapping[str, str]) -> None:
    """Raise a ValidationError for each node that the archive has not: what was meant would be left as it is."""
    archived = set(incoming.preview["nodes"])
    if incoming.preview.get("totals", {}).get("nodes", 0) > len(archived):
        # The others are known when it is stored, which then refuses the name.
        return
    text = gettext("The archive has no “%(name)s”; it has: %(known)s.")
    wrong = {
        f"nodes.{name}": text % {"name": name, "known": ", ".join(sorted(archived)) or "–"}
        for name in nodes
        if name not in archived
    }
    if wrong:
        raise ValidationError(wrong)
