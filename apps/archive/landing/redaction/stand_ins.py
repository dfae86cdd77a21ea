"""Words that stand for names, and in which spellings the names are known."""

import ipaddress
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from apps.archive.landing.redaction import people
from apps.archive.landing.redaction.codings import LISTED
from apps.archive.landing.redaction.occurrences import KOREAN_WORD, Occurrences
from apps.archive.landing.redaction.spelling import GAPS, spellings

# A name of one sign, or of figures only, stands in every table: it is replaced where nothing else stands beside it.
_SHORTEST = 2
_IPV4 = 4
_LEAST_FIGURES = 8
_NUMBER, _LAST_NUMBER = re.compile(r"\d+"), re.compile(r"\d+(?=\D*$)")

# A method of `StandIns` and what it takes: a name, and the word that stands for it.
Entry = tuple[Callable[..., None], tuple[str, ...]]


@dataclass
class StandIns:
    """What is read instead of names and of addresses, by their folded form."""

    names: dict[str, str] = field(default_factory=dict)
    addresses: dict[str, str] = field(default_factory=dict)
    # Addresses as hexadecimal figures with nothing between them.
    figures: dict[str, str] = field(default_factory=dict)
    # Korean names of people whose syllables stand apart: each of them is in words of every day as well.
    spaced: dict[str, str] = field(default_factory=dict)

    def add(self, name: str, word: str) -> None:
        """Have a word stand for a name; the first one that is given stays."""
        for spelling in spellings(name.strip()):
            if spelling:
                self.names.setdefault(spelling, word)

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
        self.addresses.setdefault(plain.compressed, word)
        if plain.is_loopback or plain.is_unspecified:
            return
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
            self.spaced.setdefault(name, word)

    def add_machine(self, address: str, word: str) -> None:
        """Have a word stand for the figures of an interface's address (Ethernet, InfiniBand)."""
        figures = address.lower().replace(":", "").replace("-", "").replace(".", "")
        if len(figures) >= _LEAST_FIGURES and figures.isalnum() and len(set(figures)) > 1:
            self.figures.setdefault(figures, word)


def listed(name: str) -> Iterator[str]:
    """Yield a numbered name as lists of hosts are read (`codings`): with a sign for its last number, and for each."""
    last, each = _LAST_NUMBER.sub(LISTED, name, count=1), _NUMBER.sub(LISTED, name)
    if last != name and sum(sign.isalpha() for sign in each) >= _SHORTEST:
        yield from dict.fromkeys((last, each))


@dataclass(frozen=True)
class Dictionary:
    """All that a team's names need to be found in texts; `words` are by names whose gaps are dashes."""

    stand_ins: StandIns
    words: dict[str, str]
    occurrences: tuple[Occurrences, ...]


def dictionary_of(entries: tuple[Entry, ...]) -> Dictionary:
    """Return what is known of names; of two that are written alike the first one's word stands."""
    stand_ins = StandIns()
    for add, texts in entries:
        add(stand_ins, *texts)
    words: dict[str, str] = {}
    for name, word in (*stand_ins.names.items(), *stand_ins.spaced.items()):
        words.setdefault(GAPS.sub("-", name), word)
    anywhere = Occurrences(filter(is_telling, stand_ins.names))
    return Dictionary(stand_ins, words, (anywhere, Occurrences(stand_ins.spaced, KOREAN_WORD)))


def is_telling(name: str) -> bool:
    """Say whether a name is more than a sign or a figure, so that it is known as one in the middle of a text."""
    return len(name) >= _SHORTEST and not name.isdigit()
