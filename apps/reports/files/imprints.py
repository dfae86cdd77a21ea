"""Which edition a file shows, in words, and where its references lead."""

from urllib.parse import quote

from django.utils.translation import gettext

from apps.reports.files import cells
from apps.reports.files.base import Imprint


def edition_text(imprint: Imprint) -> str:
    """Return "Edition 3 · 2026-11-21 10:00 UTC", or that it is a draft."""
    name = gettext("Draft") if imprint.number is None else gettext("Edition %(number)s") % {"number": imprint.number}
    return f"{name} · {cells.time_text(imprint.at)}"


def lines_of(imprint: Imprint) -> list[tuple[str, str]]:
    """Return (label, text) lines for the title page: how to cite the edition and to know that it is the same."""
    if imprint.number is None:
        return []
    lines = [(gettext("Edition's id"), imprint.permanent_id), (gettext("Checksum (SHA-256)"), imprint.checksum)]
    return [*lines, (gettext("Brought in"), imprint.came)] if imprint.came else lines


def address_of(ref: str, imprint: Imprint) -> str:
    """Return the address a reference leads to, "" if none is known; an address outside is https and nothing else."""
    if ref.startswith("https://"):
        return ref
    if not imprint.address or "://" in ref:
        return ""
    return f"{imprint.address}/ref/{quote(ref, safe=':/-')}"
