"""What a word of a command may hold unseen: paths, and addresses and names of hosts, whatever stands around them."""

from __future__ import annotations

import ipaddress
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from urllib.parse import unquote

# Percent signs that stand for percent signs that …: whoever writes that hides something.
MOST_DECODINGS = 3
# RFC 3490, 3.1: what separates labels beside the full stop.
_DOTS = str.maketrans("\u3002\uff0e\uff61", "...")
_NUMBER = r"(?:0[xX][0-9A-Fa-f]+|\d+)"
# Four numbers with dots between, anywhere; three only as a whole part, for they are versions, too.
_FOUR = re.compile(rf"(?<![\d.]){_NUMBER}(?:\.{_NUMBER}){{3}}(?!\.?\d)")
_THREE = re.compile(rf"{_NUMBER}(?:\.{_NUMBER}){{2}}")
# One number for all four bytes, in the forms that no usual number has: sixteens, and eights with a zero before.
_ONE = re.compile(r"0[xX][0-9A-Fa-f]{7,}|0[0-7]{8,}")
# Of six or more parts, by what it is made of: the colons are counted afterwards, which no long word makes slow.
_SIX = re.compile(r"[0-9A-Fa-f:.]+")
# What begins a word may be an option of one letter with its value behind.
_OPTION = re.compile(r"-[A-Za-z](?=.)")
_HOST = re.compile(r"(?:[\w-]+\.)+([^\W\d_]{2,}|xn--[\w-]+)\.?")
# Ends of files' names that are no domains.
_ENDINGS = frozenset((
    *("bin", "bmp", "cfg", "conf", "config", "csv", "dat", "db", "err", "gz", "htm", "html", "ini", "jpeg", "jpg"),
    *("json", "jsonl", "lock", "log", "npy", "npz", "out", "parquet", "pdf", "png", "sqlite", "svg", "tar", "tgz"),
    *("tif", "tmp", "toml", "trace", "tsv", "txt", "xml", "yaml", "yml"),
))  # fmt: skip
# What a path's name may hold before a slash that goes on with it: at all else a program may part the word.
_NAME = re.compile(r"[A-Za-z0-9_.+-]*")
_UP = re.compile(r"\.\./|(?<!\.)\.\.(?![\w.])")
_HOME = re.compile(r"(?:^|(?<=\W)|^-[A-Za-z])~")


def readings_of(text: str) -> list[str]:
    """Return a text, and what it is when percent signs are decoded, as often as that changes it.

    Each also as resolvers read it (IDNA): signs of full width are plain ones, and the dots of other scripts are dots.
    """
    readings = [text]
    for _turn in range(MOST_DECODINGS):
        decoded = unquote(readings[-1])
        if decoded == readings[-1]:
            break
        readings.append(decoded)
    plain = [unicodedata.normalize("NFKC", reading).translate(_DOTS) for reading in readings]
    return list(dict.fromkeys([*readings, *plain]))


def check_slashes(
    text: str, roots: Sequence[str], check: Callable[[str], None], refuse: Callable[[str], None]
) -> str:
    """Return a text without its paths; each begins with one of the `roots` and is given to `check`.

    `refuse` is called, and raises, for any other slash, for a home (~) and for a way up (..).
    """
    if _UP.search(text) or _HOME.search(text):
        refuse(text)
    rest, place = [], 0
    while (slash := text.find("/", place)) >= 0:
        end = _end_of_path(text, slash, roots)
        if end is None:
            refuse(text[slash:])
            break
        check(text[slash:end])
        # A name may go on with signs that part words elsewhere.
        check(text[slash:])
        rest.append(text[place:slash])
        place = end
    return " ".join([*rest, text[place:]])


def _end_of_path(text: str, start: int, roots: Sequence[str]) -> int | None:
    """Return where the path that begins at a slash ends; None unless a root, whole, is its beginning."""
    for root in sorted(roots, key=len, reverse=True):
        base = root.rstrip("/")
        place = start + len(base)
        if not text.startswith(base, start) or (place < len(text) and text[place] != "/"):
            continue
        while place < len(text) and text[place] == "/":
            name = _NAME.match(text, place + 1)
            end = name.end() if name else place + 1
            following = text[end : end + 1]
            if following == "/" and not (text[end - 1].isalnum() or text[end - 1] == "_"):
                return None
            place = end
        return place
    return None


def addresses_in(text: str) -> Iterator[str]:
    """Yield each address and name of a host that can be told in a text, as it stands there."""
    for match in _FOUR.finditer(text):
        yield match[0]
    option = _OPTION.match(text)
    for part in {text, text[option.end() :] if option else text}:
        yield from _whole_addresses_in(part)


def _whole_addresses_in(text: str) -> Iterator[str]:
    for match in _SIX.finditer(text):
        if match[0].count(":") < 2:
            continue
        before, after = text[: match.start()][-1:], text[match.end() :][:1]
        if not before.isalnum() and not after.isalnum() and _is_address(match[0].strip(".")):
            yield match[0]
    for part in re.split(r"[^\w.-]+", text):
        name = _HOST.fullmatch(part.strip("-"))
        is_name = part.lower() == "localhost" or (name and name[1].lower() not in _ENDINGS)
        if is_name or _THREE.fullmatch(part) or _ONE.fullmatch(part):
            yield part


def _is_address(text: str) -> bool:
    # A port may stand behind, with no brackets around what is before it.
    for candidate in (text, text.rstrip(":"), text.rpartition(":")[0]):
        try:
            ipaddress.IPv6Address(candidate)
        except ValueError:
            continue
        return True
    return False
