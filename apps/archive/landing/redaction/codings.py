"""Codings whose signs stand in other texts too: what they would say is a second reading beside the plain one.

Decoded for good they would hide an address from those who look for it: ``host=10.0.0.1`` has a byte of
quoted-printable in it, and a path of Windows one in octal.
"""

import base64
import binascii
import html
import html.entities
import re
from collections.abc import Iterator

from apps.archive.landing.redaction.escapes import Coding, Decoded, decoded

# As git, ls and mounts write bytes.
_OCTAL = re.compile(r"(?<!\\)(?:\\[0-3][0-7]{2})+")
# As mail does, mostly with large hexadecimal figures; a line that it broke goes on. Letters of ASCII stand as
# they are there, and one byte before a colon is rather the first of an interface's address.
_BYTE = "=(?:[89A-F][0-9A-F]|20|2[DdEe]|3[Dd]|5[Ff])"
_LOW_BYTE = "=[89a-f][0-9a-f]"
_QUOTED = re.compile(
    rf"(?P<bytes>(?:{_BYTE}){{2,}}|{_BYTE}(?![:-])|(?:=[0-9A-F]{{2}}){{3,}}|(?:{_LOW_BYTE}){{2,}})|=\r?\n"
)
# UTF-7, and as folders of mail have it.
_UTF7 = re.compile(r"\+([A-Za-z0-9+/]{3,})-?|&([A-Za-z0-9+,]{3,})-?")
# What of HTML needs no semicolon.
_OPEN = [name for name in html.entities.html5 if not name.endswith(";")]
_ENTITY = re.compile(
    f"&(?:#[0-9]{{1,7}}|#[xX][0-9A-Fa-f]{{1,6}}|{'|'.join(sorted(_OPEN, key=lambda name: (-len(name), name)))})"
)
# UTF-8 that was read as Western Europe's code: each sign was a byte.
_BYTE_OF = {chr(byte): byte for byte in range(0x80, 0x100)}
_BYTE_OF |= {bytes((byte,)).decode("cp1252", "ignore"): byte for byte in range(0x80, 0xA0)}
_BYTE_OF.pop("", None)


def _bytes_from(first: int, last: int) -> str:
    return "[" + "".join(re.escape(sign) for sign, byte in _BYTE_OF.items() if first <= byte <= last) + "]"


_TRAIL = _bytes_from(0x80, 0xBF)
_MISREAD = re.compile(
    rf"{_bytes_from(0xC2, 0xDF)}{_TRAIL}|{_bytes_from(0xE0, 0xEF)}{_TRAIL}{{2}}"
    rf"|{_bytes_from(0xF0, 0xF4)}{_TRAIL}{{3}}"
)
# As people write what no program shall follow.
_DEFANGED = re.compile(
    r"[\[({<][ \t]{0,2}(?:(?P<dot>\.|[Dd][Oo][Tt]|점)|(?P<colon>:)|(?P<at>@|[Aa][Tt]))[ \t]{0,2}[\])}>]"
    r"|(?<=[0-9A-Za-z])[ \t]{1,2}(?P<word>[Dd][Oo][Tt])[ \t]{1,2}(?=[0-9A-Za-z])"
)

# Hosts of numbered names, as schedulers and shells list them; the sign stands in names, too (`stand_ins`). Figures
# stand before, between and after lists and wildcards. One at the end may be of the sentence, as "?" after a word is.
_LIST = r"[\[{(][!^]?\d{1,6}(?: ?(?:-|,|\.\.|:|\|) ?\d{1,6}){0,50}[\])}]"
# What programs, shells, patterns and people write for a figure: $i, ${i}, $(seq 3), \d+, [[:digit:]], NN, xx.
_FIGURE = (
    r"\$(?:[A-Za-z]\w{0,15}|\{\w{1,16}\}|\([\w ,.-]{1,30}\))|(?:\\d|\[\[:digit:\]\])(?:[+*]|\{\d\}){0,2}"
    r"|(?:[NX]{1,4}|x{1,4}|n{2,4})(?![A-Za-z])"
)
_HOSTS = re.compile(
    rf"(?=\d{{0,12}}(?:[?*]|{_LIST}))(?:[?*]{{0,3}}(?:\d|{_LIST})){{1,12}}(?:[?*]{{1,3}}(?=[-.]?\w))?"
    rf"|(?<=[\w-])(?:\*(?!\*)|\?{{2,12}}|\d{{0,4}}(?:{_FIGURE})(?:\d|{_FIGURE}){{0,5}})"
    # Several names before one figure: {here,there}01.
    r"|(?<=\w)(?:[,|](?=[\w,|-]{1,100}[\])}]\d)|[\])}](?=\d))"
)
# As printf does, which could be a byte of an address.
_PRINTED = re.compile(r"(?<=[\w-])\d{0,4}%0?\d?[di]\d{0,4}")
LISTED = "#"
# A word goes on in the next line; the hyphen may be its own.
_BROKEN = re.compile(r"(?<=\w)[-‐][ \t]{0,9}\r?\n[ \t]{0,9}(?=\w)")


def _from_octal(escape: re.Match[str]) -> Decoded:
    return decoded(bytes(int(part, 8) for part in escape.group().split("\\")[1:]), escape.start(), 4)


def _from_quoted(escape: re.Match[str]) -> Decoded:
    if escape["bytes"]:
        yield from decoded(bytes.fromhex(escape["bytes"].replace("=", "")), escape.start(), 3)


def _from_utf7(escape: re.Match[str]) -> Decoded:
    coded = (escape[1] or escape[2]).replace(",", "/")
    # Four signs are three bytes; what is left over is no sign.
    whole = coded + "A" * (-len(coded) % 4)
    try:
        text = base64.b64decode(whole, validate=True)[: len(coded) * 3 // 4 // 2 * 2].decode("utf-16-be")
    except (ValueError, binascii.Error):
        text = escape.group()
    yield text, *escape.span()


def _from_entity(escape: re.Match[str]) -> Decoded:
    yield html.unescape(f"{escape.group()};"), *escape.span()


def _from_misread(escape: re.Match[str]) -> Decoded:
    try:
        text = bytes(_BYTE_OF[sign] for sign in escape.group()).decode()
    except ValueError:
        text = ""
    if text:
        yield text, *escape.span()
    else:
        for place, sign in enumerate(escape.group(), start=escape.start()):
            yield sign, place, place + 1


def _from_defanged(escape: re.Match[str]) -> Decoded:
    yield ("." if escape["dot"] or escape["word"] else ":" if escape["colon"] else "@"), *escape.span()


def _from_hosts(escape: re.Match[str]) -> Decoded:
    yield LISTED, *escape.span()


def unbroken(text: str) -> Iterator[Coding]:
    """Yield how the words that lines end in go on, with and without their hyphen; nothing if none does."""
    if _BROKEN.search(text):
        yield _BROKEN, lambda broken: iter(())
        yield _BROKEN, lambda broken: iter((("-", *broken.span()),))


def printed(text: str) -> Iterator[Coding]:
    """Yield how the numbers of hosts are read that a format stands for; nothing if none does."""
    if _PRINTED.search(text):
        yield _PRINTED, _from_hosts


CODINGS: tuple[Coding, ...] = (
    (_OCTAL, _from_octal),
    (_QUOTED, _from_quoted),
    (_ENTITY, _from_entity),
    (_UTF7, _from_utf7),
    (_MISREAD, _from_misread),
    (_DEFANGED, _from_defanged),
    (_HOSTS, _from_hosts),
)
