"""Signs that a text writes in another way: percent-encoded, as JSON and programs escape them, as HTML does."""

import html
import re
import unicodedata
from collections.abc import Callable, Iterator

# Bytes stand in runs, of which each escape has as many signs.
_BYTES = re.compile(r"(?P<percent>(?:%[0-9A-Fa-f]{2})+)|(?<!\\)(?P<slash>(?:\\x[0-9A-Fa-f]{2})+)")
_SIGNS = re.compile(
    r"(?P<pair>[\\%]u[dD][89abAB][0-9A-Fa-f]{2}[\\%]u[dD][c-fC-F][0-9A-Fa-f]{2})"
    r"|\\[ux]\{(?P<braced>[0-9A-Fa-f]{1,6})\}|[\\%]u(?P<short>[0-9A-Fa-f]{4})|\\U(?P<long>[0-9A-Fa-f]{8})"
    r"|\\N\{(?P<called>[A-Za-z0-9 -]{1,90})\}"
    r"|(?P<entity>&(?:#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z]{2,31});)|\\(?P<plain>[/\\_-])"
)
# What terminals read as a colour or a title, however its first sign is written.
_TERMINAL = re.compile(
    r"(?:\x1b|\\e|\\0?33|\^\[|␛)(?:\[[0-?]{0,30}[ -/]{0,3}[@-~]|\][^\x07\x1b]{0,300}(?:\x07|\x1b\\))"
    r"|\x9b[0-?]{0,30}[ -/]{0,3}[@-~]"
)
_NOTHING = "\u200b"
_LAST_SIGN = 0x10FFFF
# What was escaped within something that was escaped again is read, but not without end.
_MOST_LAYERS = 3
_ESCAPING = re.compile(r"[%\\&^\x1b\x9b␛]")

# From where to where each sign stood.
Places = tuple[list[int], list[int]]
Decoded = Iterator[tuple[str, int, int]]
Decoder = Callable[[re.Match[str]], Decoded]
Coding = tuple[re.Pattern[str], Decoder]


def unescaped(text: str, more: tuple[Coding, ...] = (), first: tuple[Coding, ...] = ()) -> tuple[str, Places]:
    """Return a text without escapes, and `more` codings, and from where to where each of its signs stood in it.

    Codings that are `first` are read before all escapes.
    """
    places = unmoved(text)
    codings = (*first, *_CODINGS, *more)
    for _layer in range(_MOST_LAYERS):
        if not (first or more or is_escaped(text)):
            break
        before = text
        for pattern, decode in codings:
            text, places = _replaced(text, places, pattern, decode)
        if text == before:
            break
    return text, places


def is_escaped(text: str) -> bool:
    """Say whether a text has a sign that escapes begin with."""
    return _ESCAPING.search(text) is not None


def unmoved(text: str) -> Places:
    """Return the places of the signs of a text that is read as it stands."""
    return list(range(len(text))), list(range(1, len(text) + 1))


def without_escapes(text: str) -> str:
    """Return a text with blanks for the signs of its escapes, where they stand."""
    for pattern, _decode in _CODINGS:
        text = pattern.sub(lambda escape: " " * len(escape.group()), text)
    return text


def decoded(coded: bytes, at: int, size: int) -> Decoded:
    """Yield the signs of escaped bytes, each of which has `size` signs from `at` on, and where they stand.

    Bytes that are no UTF-8 are Korean's own code if it has Hangul for all of them, else Western Europe's.
    """
    code, signs = _read(coded)
    for sign in signs:
        is_byte = "\udc80" <= sign <= "\udcff"
        end = at + size * (1 if is_byte else len(sign.encode(code)))
        yield (chr(ord(sign) - 0xDC00) if is_byte else sign), at, end
        at = end


def _read(coded: bytes) -> tuple[str, str]:
    """Return the code of bytes and their signs; those that are none are halves of a pair (`surrogateescape`)."""
    signs = coded.decode("utf-8", "surrogateescape")
    if signs.isprintable():
        return "utf-8", signs
    try:
        korean = coded.decode("cp949")
    except ValueError:
        return "utf-8", signs
    return ("cp949", korean) if all(sign.isascii() or "가" <= sign <= "힣" for sign in korean) else ("utf-8", signs)


def _replaced(text: str, places: Places, pattern: re.Pattern[str], decode: Decoder) -> tuple[str, Places]:
    starts, ends = places
    signs: list[str] = []
    new_places: Places = ([], [])
    done = 0
    for escape in pattern.finditer(text):
        signs.append(text[done : escape.start()])
        new_places[0].extend(starts[done : escape.start()])
        new_places[1].extend(ends[done : escape.start()])
        for sign, start, end in decode(escape):
            signs.append(sign)
            new_places[0].extend([starts[start]] * len(sign))
            new_places[1].extend([ends[end - 1]] * len(sign))
        done = escape.end()
    if not done:
        return text, places
    return "".join((*signs, text[done:])), (new_places[0] + starts[done:], new_places[1] + ends[done:])


def _from_bytes(escape: re.Match[str]) -> Decoded:
    prefix, size = ("%", 3) if escape["percent"] else ("\\x", 4)
    return decoded(bytes.fromhex(escape.group().replace(prefix, "")), escape.start(), size)


def _from_sign(escape: re.Match[str]) -> Decoded:
    start, end = escape.span()
    number = int(escape["braced"] or escape["short"] or escape["long"] or "0", 16)
    if escape["plain"]:
        yield escape["plain"], start, end
    elif escape["entity"]:
        yield html.unescape(escape.group()), start, end
    elif escape["called"]:
        yield _called(escape["called"]) or escape.group(), start, end
    elif escape["pair"]:
        high, low = int(escape["pair"][2:6], 16), int(escape["pair"][8:12], 16)
        yield chr(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00)), start, end
    else:
        yield (chr(number) if number <= _LAST_SIGN else escape.group()), start, end


def _called(name: str) -> str:
    try:
        return unicodedata.lookup(name)
    except KeyError:
        return ""


def _nothing(escape: re.Match[str]) -> Decoded:
    yield _NOTHING, *escape.span()


_CODINGS: tuple[Coding, ...] = ((_BYTES, _from_bytes), (_SIGNS, _from_sign), (_TERMINAL, _nothing))
