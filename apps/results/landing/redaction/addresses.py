"""What looks like an address in whatever form: of the internet, of an interface, of InfiniBand, a host, a user.

All patterns are for folded texts (`folding`). A letter of another script ends an address, as a blank does: in Korean
the particle follows without one.
"""

import ipaddress
import re
from collections.abc import Callable, Iterator, Mapping

from django.utils.translation import gettext as _

# Letters and figures that would make a longer word of what stands beside them.
LATIN = "0-9a-zß-ɏ"
# A word begins after anything else, and after a line's end as programs write it.
BEGIN = rf"(?:(?<![{LATIN}])|(?<=\\[nrt]))"
END = rf"(?![{LATIN}])"

_IPV4 = re.compile(rf"{BEGIN}(?<![0-9]\.)\d{{1,3}}(?:\.\d{{1,3}}){{3}}(?![0-9])(?!\.[0-9])")
_IPV6 = re.compile(
    rf"{BEGIN}(?<!:)((?:[0-9a-f]{{0,4}}:){{2,8}}(?:\d{{1,3}}(?:\.\d{{1,3}}){{3}}|[0-9a-f]{{0,4}}))"
    rf"(?:%[0-9a-z_.-]{{1,15}})?{END}"
)
_MACHINE = (
    # Ethernet's six, InfiniBand's eight and the twenty of IP over it.
    re.compile(rf"{BEGIN}(?:[0-9a-f]{{2}}[:-]){{5,19}}[0-9a-f]{{2}}{END}"),
    re.compile(rf"{BEGIN}[0-9a-f]{{4}}(?:\.[0-9a-f]{{4}}){{2}}{END}"),
    re.compile(rf"{BEGIN}[0-9a-f]{{4}}(?::[0-9a-f]{{4}}){{3}}{END}"),
    re.compile(rf"{BEGIN}0x[0-9a-f]{{16}}{END}"),
)
_HOST = re.compile(
    rf"{BEGIN}(?<![.-])(?:[a-z0-9][a-z0-9_-]{{0,62}}\.){{1,10}}(?:[a-z]{{2,24}}|xn--[a-z0-9-]{{2,59}}){END}(?!-)"
)
_USER = re.compile(r"(?=[0-9_.+-]*[a-z])[a-z0-9_.+-]{1,64}(?=@[a-z])")
_HOME = re.compile(r"(?:(?<=/home/)|(?<=[/\\]users[/\\]))[^/\\\s\"'`:;,<>|)]+|(?<=~)[a-z_][a-z0-9_.-]*(?=/)")

# Where a name of one dot is a host and not a file or the end of a sentence.
_TOPS = (
    "com net org edu gov mil int info io dev arpa local localdomain lan home internal intranet intra corp private "
    "cluster hpc test example invalid site onion "
    "kr jp cn tw hk sg my th vn ph id in au nz us ca mx br ar cl uk ie fr de ch at nl be lu it es pt se no fi dk is "
    "pl cz sk hu ro bg gr si hr rs ee lv lt ru ua by kz tr il ae sa ir pk bd lk za eg eu asia"
)
# Files of more than one dot.
_ENDINGS = (
    "gz bz xz zst tar tgz zip json jsonl csv tsv txt log xml yaml yml html pdf png svg py sh dat out err xls xlsx "
    "docx pptx md conf cfg ini bin img iso parquet tex bib"
)
_TOP, _FILES = frozenset(_TOPS.split()), frozenset(_ENDINGS.split())

# So many hexadecimal figures before two colons are no network.
_LONGEST_WORD = 3

Span = tuple[int, int, str]


def spans(text: str, known: Mapping[str, str], host: Callable[[str], str | None]) -> Iterator[Span]:
    """Yield (start, end, what stands in its place) of every address in a folded text.

    `known` has the words for addresses of the inventory, in their shortest form; `host` those of a host's name.
    """
    for found in _IPV4.finditer(text):
        if all(int(part) <= 255 for part in found.group().split(".")):
            plain = ".".join(str(int(part)) for part in found.group().split("."))
            yield found.start(), found.end(), known.get(plain) or _("address")
    for found in _IPV6.finditer(text):
        if (core := _ipv6_in(found[1])) is not None:
            end = found.end() if core == found[1] else found.start() + len(core)
            yield found.start(), end, known.get(ipaddress.ip_address(core).compressed) or _("address")
    for pattern in _MACHINE:
        for found in pattern.finditer(text):
            yield found.start(), found.end(), _("address")
    for found in _HOST.finditer(text):
        if word := host(found.group()) or (_("host") if is_host(found.group()) else None):
            yield found.start(), found.end(), word
    for pattern in (_USER, _HOME):
        for found in pattern.finditer(text):
            yield found.start(), found.end(), _("user")


def is_host(text: str) -> bool:
    """Say whether words with dots between them are a host's name rather than a file's."""
    *others, last = text.split(".")
    return last in _TOP or (len(others) > 1 and last not in _FILES)


def _ipv6_in(text: str) -> str | None:
    """Return the address that groups with colons begin with; a port, or the colon of a sentence, may follow."""
    for core in (text, text.rstrip(":"), text.rpartition(":")[0]):
        try:
            ipaddress.IPv6Address(core)
        except ValueError:
            continue
        # "std::" and "a::" are words of programs, "fe80::" is a network.
        return core if len(core.strip(":")) > _LONGEST_WORD or (core[0] == ":" and core[-1] != ":") else None
    return None
