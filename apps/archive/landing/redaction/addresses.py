"""What looks like an address in whatever form: of the internet, of an interface, of InfiniBand, a host, a user.

All patterns are for folded texts (`folding`). A letter of another script ends an address, as a blank does: in Korean
the particle follows without one.
"""

import ipaddress
import re
from collections.abc import Callable, Iterator, Mapping

from django.utils.translation import gettext as _

from apps.archive.landing.redaction.endings import FILES, PROGRAMS, TOPS

# Letters and figures that would make a longer word of what stands beside them.
LATIN = "0-9a-zß-ɏ"
# A word begins after anything else, and after a line's end as programs write it.
BEGIN = rf"(?:(?<![{LATIN}])|(?<=\\[nrt]))"
END = rf"(?![{LATIN}])"

# A letter before is no part of an address, but of an interface's name; a full stop may be written in other ways.
_WORD_FOR_DOT = r"[\[({<](?:\.|dot|점)[\])}>]|dot|점"
_DOT = rf"(?:\\?\.|·|{_WORD_FOR_DOT})"
# With blanks beside them they are points of one address if all are written alike.
_APART = rf"(?P<apart>[ \t]{{0,2}}(?:\\?\.|{_WORD_FOR_DOT})[ \t]{{0,2}})"
# A fifth figure is a port, as packets are printed.
_IPV4 = re.compile(
    rf"(?<![0-9])(?<![0-9]\.)\d{{1,3}}(?:(?:{_DOT}\d{{1,3}}){{3}}|{_APART}\d{{1,3}}(?:(?P=apart)\d{{1,3}}){{2}})"
    r"(?![0-9])(?!\.[0-9]{1,9}\.[0-9])"
)
# As FTP writes the address and port of data, and people an address: what of it is none no sign tells.
_COMMAS = re.compile(r"(?<![0-9])\d{1,3}(?:, ?\d{1,3}){3,}(?![0-9])")
# A network as people write it: its first figures, and a sign for the others, its size, or the full stop after three.
# Two and a full stop are a figure at the end of a sentence.
_ANY = rf"(?:[xyn]{{1,4}}{END}|[*?#])"
_NETWORK = re.compile(
    rf"(?<![0-9])(?<![0-9]\.)\d{{1,3}}{_DOT}\d{{1,3}}"
    rf"(?:(?:{_DOT}\d{{1,3}})?(?:(?:{_DOT}{_ANY}){{1,2}}|/\d{{1,2}}(?![0-9.]))|{_DOT}\d{{1,3}}(?={_DOT}(?![0-9])))"
)
_NETWORK_IPV6 = re.compile(rf"{BEGIN}(?<!:)(?:[0-9a-f]{{1,4}}:){{2,7}}(?::?{_ANY})+")
# As clouds name a host by its address.
_NAMED = re.compile(rf"{BEGIN}ip[-_]\d{{1,3}}(?:[-_]\d{{1,3}}){{3}}(?![0-9])")
_PASSIVE = 6
_OCTETS = 4
# Of IPv6's eight, those of a network.
_GROUPS = 4
_OCTET, _GROUP = re.compile(r"\d+"), re.compile("[0-9a-f]+")
_PLAIN = re.compile(r"[\d.\\]+")
_VERSION = re.compile(rf"(?<![{LATIN}])(?:v|ver|version|release)[ _-]?$")
_LONGEST_VERSION_WORD = 9
_IPV6 = re.compile(
    rf"(?:{BEGIN}|(?<=[g-z])(?=[0-9][0-9a-f]{{0,3}}:[0-9a-f]|fe80:))(?<!:)"
    rf"((?:[0-9a-f]{{0,4}}:){{2,8}}(?:\d{{1,3}}(?:\.\d{{1,3}}){{3}}|[0-9a-f]{{0,4}}))"
    rf"(?:%[0-9a-z_.-]{{1,15}})?(?![0-9a-f])"
)
# What a letter goes on is a word of programs, unless there is a figure in it.
_ALONE = re.compile(END)
_NO_HEX = r"(?<![0-9a-f])"
_MACHINE = (
    # Ethernet's six, InfiniBand's eight and the twenty of IP over it.
    re.compile(rf"{_NO_HEX}(?:[0-9a-f]{{2}}[:-]){{5,19}}[0-9a-f]{{2}}(?![0-9a-f])"),
    re.compile(rf"{_NO_HEX}[0-9a-f]{{4}}(?:\.[0-9a-f]{{4}}){{2}}{END}"),
    re.compile(rf"{_NO_HEX}[0-9a-f]{{4}}(?::[0-9a-f]{{4}}){{3}}{END}"),
    # Two halves are months without a letter, and words without a figure.
    re.compile(rf"{_NO_HEX}(?=[0-9-]{{0,12}}[a-f])(?=[a-f-]{{0,12}}[0-9])[0-9a-f]{{6}}-[0-9a-f]{{6}}{END}"),
    # Programs leave out the noughts that it begins with.
    re.compile(rf"{BEGIN}0x[0-9a-f]{{12,40}}{END}"),
)
# What nobody could tell from another figure: looked for among the addresses of the inventory.
_FIGURES = re.compile(rf"(?<![{LATIN}])(?:0x)?([0-9a-f]{{6}}-[0-9a-f]{{6}}|[0-9a-f]{{8,40}}){END}")
# As resolvers read an address: its parts in octal, hexadecimal or decimal, the last of them for all that are left.
_PART = r"(?:0x[0-9a-f]{1,8}|[0-9]{1,11})"
_NUMBERS = re.compile(rf"(?<![{LATIN}])(?<![0-9]\.)(?:0x[0-9a-f]{{7}}|{_PART}(?:\.{_PART}){{1,3}}){END}(?!\.[0-9])")
_HOST = re.compile(
    rf"{BEGIN}(?<![.-])(?:[a-z0-9][a-z0-9_-]{{0,62}}\.){{1,40}}(?:[a-z]{{2,24}}|xn--[a-z0-9-]{{2,59}}){END}(?!-)"
)
_USER = re.compile(r"(?=[0-9_.+-]{0,63}[a-z])[a-z0-9_.+-]{1,64}(?=@[a-z])")
_HOMES = r"home\d{0,3}|homes|users?|u\d{0,2}|export(?:[/\\]+home\d{0,3})?"
_HOME = re.compile(rf"[/\\](?:{_HOMES})[/\\]+([^/\\\s\"'`:;,<>|)]+)|(?<=~)([a-z_][a-z0-9_.-]*)(?=/)")

# So many hexadecimal figures before two colons are no network.
_LONGEST_WORD = 3
_LAST_OCTET = 255

Span = tuple[int, int, str]


def spans(
    text: str, words: Mapping[str, str], figures: Mapping[str, str], host: Callable[[str], str | None]
) -> Iterator[Span]:
    """Yield (start, end, what stands in its place) of every address in a folded text.

    `words` has the words for addresses of the inventory, in their shortest form, `figures` those of addresses written
    as hexadecimal figures; `host` those of a host's name.
    """
    yield from _internet(text, words)
    for pattern in _MACHINE:
        for match in pattern.finditer(text):
            word = figures.get(re.sub("^0x|[:.-]", "", match.group()))
            yield match.start(), match.end(), word or _("address")
    for match in _FIGURES.finditer(text) if figures else ():
        if word := figures.get(match[1].replace("-", "")):
            yield match.start(), match.end(), word
    for match in _NUMBERS.finditer(text) if words else ():
        if word := words.get(_resolved(match.group()) or ""):
            yield *match.span(), word
    for match in _HOST.finditer(text):
        if word := host(match.group()) or (_("host") if is_host(match.group()) else None):
            yield match.start(), match.end(), word
    for match in _USER.finditer(text):
        yield match.start(), match.end(), _("user")
    for match in _HOME.finditer(text):
        yield *match.span(match.lastindex or 0), _("user")


def networks_of(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> Iterator[str]:
    """Yield the first figures of an address, two and more, as networks are looked for in texts."""
    if isinstance(address, ipaddress.IPv4Address):
        yield from (str(address).rsplit(".", number)[0] for number in (1, 2))
    else:
        groups = [f"{int(group, 16):x}" for group in address.exploded.split(":")]
        yield from (":".join(groups[:number]) for number in range(2, _GROUPS + 1))


def _internet(text: str, words: Mapping[str, str]) -> Iterator[Span]:
    for match in _IPV4.finditer(text):
        octets = [int(part) for part in _OCTET.findall(match.group())]
        word = words.get(".".join(map(str, octets)))
        if word or (max(octets) <= _LAST_OCTET and not _is_figure(match, octets)):
            yield match.start(), match.end(), word or _("address")
    for match in _COMMAS.finditer(text):
        yield from _with_commas(match, words)
    for match in _NETWORK.finditer(text) if words else ():
        figures = _OCTET.findall(match.group().partition("/")[0])
        if word := words.get(".".join(str(int(figure)) for figure in figures)):
            yield *match.span(), word
    for match in _NETWORK_IPV6.finditer(text) if words else ():
        figures = _GROUP.findall(match.group())[:_GROUPS]
        if word := words.get(":".join(f"{int(figure, 16):x}" for figure in figures)):
            yield *match.span(), word
    for match in _NAMED.finditer(text):
        if max(int(part) for part in _OCTET.findall(match.group())) <= _LAST_OCTET:
            yield *match.span(), _("address")
    for match in _IPV6.finditer(text):
        if (core := _ipv6_in(match[1])) is not None and (_ALONE.match(text, match.end()) or _OCTET.search(core)):
            end = match.end() if core == match[1] else match.start() + len(core)
            yield match.start(), end, words.get(ipaddress.ip_address(core).compressed) or _("address")


def _resolved(text: str) -> str | None:
    """Return the address that resolvers read in numbers with points between, None if they read none.

    Two or three are rather a figure or a version, unless the last is larger than any that is there in an address with
    one more point.
    """
    try:
        *parts, last = [_number(part) for part in text.split(".")]
    except ValueError:
        return None
    left = 8 * (_OCTETS - len(parts))
    if any(part > _LAST_OCTET for part in parts) or last >> left or (parts and left > 8 and not last >> left - 8):
        return None
    return str(ipaddress.IPv4Address(sum(part << 24 - 8 * place for place, part in enumerate(parts)) + last))


def _number(text: str) -> int:
    if text.startswith("0x"):
        return int(text, 16)
    return int(text, 8) if text.startswith("0") else int(text)


def _with_commas(match: re.Match[str], words: Mapping[str, str]) -> Iterator[Span]:
    """Yield addresses of the inventory among figures with commas between, and the first four of six in brackets."""
    octets = [(int(part.group()), *part.span()) for part in _OCTET.finditer(match.string, *match.span())]
    for first in range(len(octets) - _OCTETS + 1):
        four = octets[first : first + _OCTETS]
        if word := words.get(".".join(str(figure) for figure, _start, _end in four)):
            yield four[0][1], four[-1][2], word
    figures = [figure for figure, _start, _end in octets]
    is_bracketed = (
        match.string[max(match.start() - 1, 0) : match.start()] == "("
        and match.string[match.end() : match.end() + 1] == ")"
    )
    if is_bracketed and len(figures) == _PASSIVE and max(figures) <= _LAST_OCTET and figures != sorted(figures):
        yield match.start(), octets[_OCTETS - 1][2], _("address")


def _is_figure(match: re.Match[str], octets: list[int]) -> bool:
    """Say whether four figures are a version, or a series with points between that rises or falls."""
    start = match.start()
    if _VERSION.search(match.string[max(start - _LONGEST_VERSION_WORD, 0) : start]):
        return True
    if "." in match.group():
        # Points that are counted, "1. 2. 3. 4.", have a blank between.
        return not _PLAIN.fullmatch(match.group()) and octets == [octets[0] + place for place in range(_OCTETS)]
    rises = sorted(octets)
    return octets in (rises, rises[::-1])


def is_host(text: str) -> bool:
    """Say whether words with dots between them are a host's name rather than a file's, a program's or a figure's."""
    first, *_between, last = text.split(".")
    if last in TOPS:
        return True
    return last not in FILES and (text.count(".") > 1 or first not in PROGRAMS) and not first.isdigit()


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
