"""The names of an archive for which somebody chooses others here."""

from collections.abc import Mapping

from django.core.exceptions import ValidationError
from django.utils.translation import gettext

from apps.archive.incoming.models import IncomingArchive

CHOICES = ("nodes", "people")


def refuse_strangers(incoming: IncomingArchive, names_chosen: Mapping[str, Mapping[str, str]]) -> None:
    """Raise a ValidationError for each name that the archive has not: what was meant would be left as it is."""
    names_in_archive = {"nodes": set(incoming.preview["nodes"])}
    names_in_archive["people"] = {person["username"] for person in incoming.preview["people"]}
    text = gettext("The archive has no “%(name)s”; it has: %(known)s.")
    wrong = {
        f"{kind}.{name}": text % {"name": name, "known": ", ".join(sorted(names_in_archive[kind])) or "–"}
        for kind, names in names_chosen.items()
        for name in names
        if name not in names_in_archive[kind]
    }
    if wrong:
        raise ValidationError(wrong)
