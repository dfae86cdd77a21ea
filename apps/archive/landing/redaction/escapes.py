"""Signs that a text writes in another way: percent-encoded, as JSON and programs escape them, as HTML does."""

import html
import re
from collections.abc import Callable, Iterator

# Bytes in UTF-8 stand in runs, of which each escape has as many signs.
_BYTES = re.compile(r"(?P<percent>(?:%[0-9A-Fa-f]{2})+)|(?P<slash>(?:\\x[0-9A-Fa-f]{2})+)")
_SIGNS = re.compile(
    r"(?P<pair>\\u[dD][89abAB][0-9A-Fa-f]{2}\\u[dD][c-fC-F][0-9A-Fa-f]{2})"
    r"|\\u\{(?P<braced>[0-9A-Fa-f]{1,6})\}|\\u(?P<short>[0-9A-Fa-f]{4})|\\U(?P<long>[0-9A-Fa-f]{8})"
    r"|(?P<entity>&(?:#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z]{2,8});)|\\(?P<plain>/)"
)
_LAST_SIGN = 0x10FFFF
# What was escaped within something that was escaped again is read, but not without end.
_MOST_LAYERS = 3

Places = list[tuple[int, int]]
Decoder = Callable[[re.Match[str]], Iterator[tuple[str, int, int]]]


def unescaped(text: str) -> tuple[str, Places]:
    """Return a text without escapes, and from where to where each of its signs stood in it."""
    places = [(at, at + 1) for at in range(len(text))]
    for _layer in range(_MOST_LAYERS):
        if not any(sign in text for sign in "%\\&"):
            break
        before = text
        for pattern, decode in ((_BYTES, _from_bytes), (_SIGNS, _from_sign)):
            text, places = _replaced(text, places, pattern, decode)
        if text == before:
            break
    return text, places


def _replaced(text: str, places: Places, pattern: re.Pattern[str], decode: Decoder) -> tuple[str, Places]:
    signs: list[str] = []
    kept: Places = []
    done = 0
    for escape in pattern.finditer(text):
        signs.append(text[done : escape.start()])
        kept += places[done : escape.start()]
        for sign, start, end in decode(escape):
            signs.append(sign)
            kept += [(places[start][0], places[end - 1][1])] * len(sign)
        done = escape.end()
    return "".join((*signs, text[done:])), kept + places[done:]


def _from_bytes(escape: re.Match[str]) -> Iterator[tuple[str, int, int]]:
    """Yield what escaped bytes stand for, those that stand for nothing as they are, and where."""
    prefix, size = ("%", 3) if escape["percent"] else ("\\x", 4)
    at = escape.start()
    for sign in bytes.fromhex(escape.group().replace(prefix, "")).decode("utf-8", "surrogateescape"):
        if "\ud800" <= sign <= "\udfff":
            for place in range(at, at + size):
                yield escape.string[place], place, place + 1
            at += size
        else:
            end = at + size * len(sign.encode())
            yield sign, at, end
            at = end


def _from_sign(escape: re.Match[str]) -> Iterator[tuple[str, int, int]]:
    start, end = escape.span()
    number = int(escape["braced"] or escape["short"] or escape["long"] or "0", 16)
    if escape["plain"]:
        yield "/", start, end
    elif escape["entity"]:
        yield html.unescape(escape.group()), start, end
    elif escape["pair"]:
        high, low = int(escape["pair"][2:6], 16), int(escape["pair"][8:12], 16)
        yield chr(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00)), start, end
    else:
        yield (chr(number) if number <= _LAST_SIGN else escape.group()), start, end
