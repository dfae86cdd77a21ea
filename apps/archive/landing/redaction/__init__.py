"""What strangers read in the place of names and addresses: the one definition, for every public page and file.

Replaced are the names of the team's nodes (with their addresses, host names and short names), sites, testbeds,
clusters, switches, links and file systems, its members, places; and whatever looks like an address, a host or a home
folder, whether the inventory has it or not. Names that these had before, or that are gone with them, are replaced as
well: texts keep them (`FormerName`). Path names stay, but for the names and users in them. The team's name and
the author stay where the campaign is cited by them.
"""

from collections.abc import Iterable

from django.db.models import Q
from django.utils.translation import gettext as _

from apps.archive.landing.redaction import addresses
from apps.archive.landing.redaction.inventory import stand_ins_of
from apps.archive.landing.redaction.occurrences import GAPS, Occurrences
from apps.archive.landing.redaction.spelling import fold
from apps.archive.landing.redaction.stand_ins import is_telling
from apps.campaigns.models import Campaign, Tombstone
from apps.testbeds.models import Node

__all__ = ["Hidden", "Names", "names_for"]

# A column of a table repeats its texts.
_MOST_REMEMBERED = 10_000


class Names:
    """Texts as they stand: what the campaign's own people read."""

    hidden = False

    def text(self, text: str) -> str:
        """Return the text as a reader may see it."""
        return text

    def name(self, name: str) -> str:
        """Return the name of a thing as a reader may see it."""
        return name


class Hidden(Names):
    """Texts in which the team's nodes, sites and so on are numbered, and addresses are taken out."""

    hidden = True

    def __init__(self, team_id: int, first: Iterable[Node] = ()) -> None:
        """Take the names from the team's inventory; the nodes that come `first` have the first numbers."""
        words = stand_ins_of(team_id, first)
        self._whole, self._addresses, self._figures = words.names, words.addresses, words.figures
        self._words: dict[str, str] = {}
        for name in words.names:
            self._words.setdefault(GAPS.sub("-", name), words.names[name])
        self._names = Occurrences(filter(is_telling, words.names))
        self._remembered: dict[str, str] = {}

    def name(self, name: str) -> str:
        """Return what stands for a name, however short it is."""
        return self._whole.get(fold(name.strip()).text) or self.text(name)

    def text(self, text: str) -> str:
        """Return the text without names and addresses."""
        if text not in self._remembered:
            if len(self._remembered) >= _MOST_REMEMBERED:
                self._remembered.clear()
            self._remembered[text] = self._replaced(text)
        return self._remembered[text]

    def _replaced(self, text: str) -> str:
        folded = fold(text)
        spans = [(start, end, self._word(folded.text[start:end])) for start, end in self._names.spans(folded.text)]
        spans += addresses.spans(folded.text, self._addresses, self._figures, self._host)
        parts = []
        done = 0
        for start, end, word in _merged(spans):
            first, last = folded.span(start, end)
            parts += [text[done:first], word]
            done = last
        return "".join((*parts, text[done:]))

    def _word(self, found: str) -> str:
        return self._words.get(GAPS.sub("-", found), _("name"))

    def _host(self, name: str) -> str | None:
        """Return what stands for a host of the inventory, with its domain or another."""
        return self._whole.get(name) or (self._whole.get(name.partition(".")[0]) if addresses.is_host(name) else None)


def names_for(shared: Campaign | Tombstone, *, whole: bool) -> Names:
    """Return how texts are shown to someone who sees the campaign whole, or only what is public of it."""
    if whole or not shared.redacted:
        return Names()
    first: Iterable[Node] = ()
    if isinstance(shared, Campaign):
        played = Q(experiment_roles__experiment__campaign=shared)
        members = Q(clusters__experiment_roles__experiment__campaign=shared)
        first = Node.objects.filter(played | members).distinct().order_by("pk")
    return Hidden(shared.team_id, first)


def _merged(spans: list[addresses.Span]) -> list[addresses.Span]:
    """Return spans in their order; of those that overlap the first and longest says the word for all of them."""
    merged: list[addresses.Span] = []
    for start, end, word in sorted(spans, key=lambda span: (span[0], -span[1])):
        if merged and start < merged[-1][1]:
            before = merged.pop()
            start, end, word = before[0], max(end, before[1]), before[2]
        merged.append((start, end, word))
    return merged
