"""Words that stand for names, and in which spellings the names are known."""

import ipaddress
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from django.utils.translation import gettext as _

from apps.archive.landing.redaction import addresses, people
from apps.archive.landing.redaction.codings import LISTED
from apps.archive.landing.redaction.occurrences import KOREAN_WORD, Occurrences
from apps.archive.landing.redaction.spelling import signs_of, spelt_out, with_gaps

# A name of one sign, or of figures only, stands in every table: it is replaced where nothing else stands beside it.
_SHORTEST = 2
# What a team's names may have, and what one takes besides: so much takes some seconds to read, and some 100 MB.
MOST_SIGNS, _SIGNS_EACH = 8_000_000, 50
_IPV4 = 4
_LEAST_FIGURES = 8
_NUMBER, _LAST_NUMBER = re.compile(r"\d+"), re.compile(r"\d+(?=\D*$)")


class TooManyNamesError(Exception):
    """There are more names than can be looked for."""


# A method of `StandIns` and what it takes: a name, and the word that stands for it.
Entry = tuple[Callable[..., None], tuple[str, ...]]


@dataclass
class StandIns:
    """What is read instead of names and of addresses, by their folded form."""

    names: dict[str, str] = field(default_factory=dict)
    # The same names by their signs as they are looked for.
    looked_for: dict[str, str] = field(default_factory=dict)
    addresses: dict[str, str] = field(default_factory=dict)
    # Addresses as hexadecimal figures with nothing between them.
    figures: dict[str, str] = field(default_factory=dict)
    # Korean names of people whose syllables stand apart: each of them is in words of every day as well.
    spaced: dict[str, str] = field(default_factory=dict)
    # How much there is to look for.
    signs: int = 0
    _added: set[str] = field(default_factory=set)

    def add(self, name: str, word: str) -> None:
        """Have a word stand for a name; the first one that is given stays."""
        if name in self._added:
            return
        self._added.add(name)
        self._count(name)
        folded, signs = signs_of(name.strip())
        if folded:
            self.names.setdefault(folded, word)
            self.looked_for.setdefault(signs, word)

    def _count(self, text: str) -> None:
        self.signs += len(text) + _SIGNS_EACH
        if self.signs > MOST_SIGNS:
            raise TooManyNamesError

    def add_host(self, name: str, word: str) -> None:
        """Have a word stand for a host's name, and for the first part of one with dots."""
        self.add(name, word)
        short = name.partition(".")[0]
        if short != name and is_telling(short):
            self.add(short, word)

    def add_address(self, address: str, word: str, node: str) -> None:
        """Have a word stand for an address, in dashes as well; for a host's name without its domain, the node's."""
        try:
            ipaddress.ip_address(address)
        except ValueError:
            self.add(address, word)
            self.add_host(address, node)
            return
        self.add_plain_address(address, word)
        self.add(address.replace(".", "-").replace(":", "-"), word)

    def add_plain_address(self, address: str, word: str) -> None:
        """Have a word stand for an address of the internet, also as figures; for nothing if it is none, or local."""
        try:
            plain = ipaddress.ip_address(address.partition("%")[0])
        except ValueError:
            return
        if plain.compressed in self.addresses:
            return
        self._count(address)
        self.addresses[plain.compressed] = word
        if plain.is_loopback or plain.is_unspecified:
            return
        for network in addresses.networks_of(plain):
            self.addresses.setdefault(network, _("address"))
        figures = 8 if plain.version == _IPV4 else 32
        self.figures.setdefault(f"{int(plain):0{figures}x}", word)
        if plain.version == _IPV4:
            # As kernels print it: the other way round, and as one number.
            self.figures.setdefault(plain.packed[::-1].hex(), word)
            self.figures.setdefault(str(int(plain)), word)
            self.figures.setdefault(f"0{int(plain):o}", word)

    def add_person(self, given: str, family: str, word: str) -> None:
        """Have a word stand for a person's name, in the ways in which it is written."""
        for name in (f"{given} {family}", *people.written(given, family)):
            self.add(name, word)
        for name in people.spaced(given, family):
            self.spaced.setdefault(with_gaps(name), word)

    def add_machine(self, address: str, word: str) -> None:
        """Have a word stand for the figures of an interface's address (Ethernet, InfiniBand)."""
        figures = address.lower().replace(":", "").replace("-", "").replace(".", "")
        if len(figures) >= _LEAST_FIGURES and figures.isalnum() and len(set(figures)) > 1:
            self.figures.setdefault(figures, word)


def listed(name: str) -> Iterator[str]:
    """Yield a numbered name as lists of hosts are read (`codings`): a sign for its first, its last or each number."""
    first, each = (_NUMBER.sub(LISTED, name, count=count) for count in (1, 0))
    if first != name and sum(sign.isalpha() for sign in each) >= _SHORTEST:
        yield from dict.fromkeys((first, _LAST_NUMBER.sub(LISTED, name, count=1), each))


class Dictionary:
    """All that a team's names need to be found in texts."""

    def __init__(self, stand_ins: StandIns) -> None:
        """Take the names; of two that are written alike the first one's word stands."""
        self.addresses, self.figures, self.signs = stand_ins.addresses, stand_ins.figures, stand_ins.signs
        self._whole = stand_ins.names
        self._anywhere = Occurrences(
            {signs: word for signs, word in stand_ins.looked_for.items() if is_telling(spelt_out(signs))}
        )
        self._spaced = Occurrences(stand_ins.spaced, KOREAN_WORD)

    def word(self, name: str) -> str | None:
        """Return what stands for a folded name, however short it is; None if it is none."""
        return self._whole.get(name) or self._anywhere.word(name)

    def spans(self, text: str, breaks: frozenset[int]) -> Iterator[addresses.Span]:
        """Yield where names stand in a folded text, and what stands in their place."""
        yield from self._anywhere.spans(text, breaks)
        yield from self._spaced.spans(text, breaks)


def dictionary_of(entries: tuple[Entry, ...]) -> Dictionary:
    """Return what is known of names."""
    stand_ins = StandIns()
    for add, texts in entries:
        add(stand_ins, *texts)
    return Dictionary(stand_ins)


def is_telling(name: str) -> bool:
    """Say whether a name is more than a sign or a figure, so that it is known as one in the middle of a text."""
    return len(name) >= _SHORTEST and not name.isdigit()
