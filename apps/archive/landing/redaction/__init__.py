"""What strangers read in the place of names and addresses: the one definition, for every public page and file.

Replaced are the names of the team's nodes (with their addresses, host names and short names), sites, testbeds,
clusters, switches, links and file systems, its members, places; and whatever looks like an address, a host or a home
folder, whether the inventory has it or not. Names that these had before, or that are gone with them, are replaced as
well: texts keep them (`FormerName`), and so are those that came from others with what a campaign was made from
(`ForeignNames`). What a team's tool calls its parameters, metrics and units is such a text. Path
names stay, but for the names and users in them. The team's name and the author stay where the campaign is cited by
them.
"""

import itertools
import re
from collections.abc import Iterable, Iterator

from apps.archive.landing.redaction import addresses
from apps.archive.landing.redaction.foreign import played_in
from apps.archive.landing.redaction.known import known_of
from apps.archive.landing.redaction.spelling import Folded, fold, readings
from apps.campaigns.models import Campaign, Tombstone
from apps.testbeds.models import Node

__all__ = ["Hidden", "Names", "names_for"]

# A column of a table repeats its texts.
_MOST_REMEMBERED = 10_000
# A letter or figure beside a name, but for a line's end as programs write it and the sign of more than one.
_GLUED_BEFORE = re.compile(rf"(?:(?<!\\)|(?=[^nrt]))[{addresses.LATIN}]$")
_GLUED_AFTER = re.compile(rf"(?!e?s{addresses.END})[{addresses.LATIN}]")


class Names:
    """Texts as they stand: what the campaign's own people read."""

    hidden = False

    @property
    def digest(self) -> str:
        """Return a sum of all names and of what stands for them: of two that are equal texts are the same."""
        return ""

    def text(self, text: str) -> str:
        """Return the text as a reader may see it."""
        return text

    def name(self, name: str) -> str:
        """Return the name of a thing as a reader may see it."""
        return name

    def keys(self, keys: Iterable[str]) -> dict[str, str]:
        """Return what each key of a table is called for a reader; no two are called the same."""
        return {key: key for key in keys}


class Hidden(Names):
    """Texts in which the team's nodes, sites and so on are numbered, and addresses are taken out."""

    hidden = True

    def __init__(self, team_id: int, first: Iterable[Node] = (), foreign: int | None = None) -> None:
        """Take the names from the team's inventory; the nodes that come `first` have the first numbers.

        `foreign` is the key of the names of others that are hidden as well.
        """
        names = known_of(team_id, first, foreign)
        self._dictionary, self._digest = names.dictionary, names.digest
        self._remembered: dict[str, str] = {}

    @property
    def digest(self) -> str:
        """Return a sum of all names and of what stands for them: of two that are equal texts are the same."""
        return self._digest

    def name(self, name: str) -> str:
        """Return what stands for a name, however short it is."""
        return self._dictionary.word(fold(name.strip()).text) or self.text(name)

    def keys(self, keys: Iterable[str]) -> dict[str, str]:
        """Return the keys without names; of those that would be the same the later ones are numbered."""
        words: dict[str, str] = {}
        for key in keys:
            word = self.text(key)
            numbered = (f"{word} ({number})" for number in itertools.count(2))
            words[key] = next(item for item in itertools.chain((word,), numbered) if item not in words.values())
        return words

    def text(self, text: str) -> str:
        """Return the text without names and addresses."""
        if text not in self._remembered:
            if len(self._remembered) >= _MOST_REMEMBERED:
                self._remembered.clear()
            self._remembered[text] = self._replaced(text)
        return self._remembered[text]

    def _replaced(self, text: str) -> str:
        spans = [span for folded in readings(text) for span in self._spans(folded)]
        parts = []
        done = 0
        for start, end, word in _merged(spans):
            parts += [text[done:start], word]
            done = end
        return "".join((*parts, text[done:]))

    def _spans(self, folded: Folded) -> Iterator[addresses.Span]:
        """Yield where names and addresses stand in the text that was folded, and what stands in their place."""
        names = self._dictionary
        for start, end, word in names.spans(folded.text, folded.breaks()):
            yield *folded.span(start, end), _apart(word, folded.text, start, end)
        for start, end, word in addresses.spans(folded.text, names.addresses, names.figures, self._host):
            yield *folded.span(start, end), word

    def _host(self, name: str) -> str | None:
        """Return what stands for a host of the inventory, with its domain or another."""
        word = self._dictionary.word
        return word(name) or (word(name.partition(".")[0]) if addresses.is_host(name) else None)


def names_for(shared: Campaign | Tombstone, *, whole: bool) -> Names:
    """Return how texts are shown to someone who sees the campaign whole, or only what is public of it."""
    if whole or not shared.redacted:
        return Names()
    first: Iterable[Node] = ()
    if isinstance(shared, Campaign):
        first = played_in(shared)
    return Hidden(shared.team_id, first, shared.foreign_names_id)


def _apart(word: str, text: str, start: int, end: int) -> str:
    """Return what stands for a name with a dash where a word, or its number, would go on without a blank."""
    before = "-" if _GLUED_BEFORE.search(text[max(start - 3, 0) : start]) else ""
    after = "-" if _GLUED_AFTER.match(text, end) else ""
    return f"{before}{word}{after}"


def _merged(spans: list[addresses.Span]) -> list[addresses.Span]:
    """Return spans in their order; of those that overlap the first and longest says the word for all of them."""
    merged: list[addresses.Span] = []
    for start, end, word in sorted(spans, key=lambda span: (span[0], -span[1])):
        if merged and start < merged[-1][1]:
            before = merged.pop()
            start, end, word = before[0], max(end, before[1]), before[2]
        merged.append((start, end, word))
    return merged
