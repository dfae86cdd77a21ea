"""The ways in which people and programs write a name."""

import html
import json
import re
import unicodedata
from collections.abc import Iterator
from html.entities import codepoint2name
from ipaddress import ip_address
from urllib.parse import quote

# Of each kind: direction, shape, quantity, filler, tag, control, private, of what is no sign yet.
UNSEEN = (
    "\u200e", "\u200f", "\u061c", "\u180e", "\u2062", "\u2066", "\u2069", "\ufe0f", "\u3164", "\uffa0", "\u034f",
    "\u00ad", "\U000e0041", "\U000e0100", "\x1b", "\x01", "\x9f", "\ue000", "\u0378", "\u2800",
)  # fmt: skip
MARKS = ("\u20e3", "\u1ab0", "\u0336", "\u0301", "\u05b0", "\u3099")
SMALL_CAPITALS = str.maketrans("abcdeghijklmnoprtuvwz", "ᴀʙᴄᴅᴇɢʜɪᴊᴋʟᴍɴᴏᴘʀᴛᴜᴠᴡᴢ")
IN_FRAMES = {ord("a") + place: chr(0x1F170 + place) for place in range(26)}
IN_BRACKETS = {ord("a") + place: chr(0x249C + place) for place in range(26)}
# A figure that follows would be read as one of the letter's own.
NOT_BEFORE_FIGURES = re.compile(r"[^\x00-\x7f](?![0-9A-Fa-f])")
GREEK = dict(zip("oaeipvuxkt", "οαειρνυχκτ", strict=True))
CYRILLIC = dict(zip("aeopcyxisjdhqwkmtb", "аеорсухіѕјԁһԛԝкмтв", strict=True))


def forms_of(name: str) -> Iterator[str]:
    """Yield the ways in which people and programs write a name."""
    yield from (name, name.upper(), name.lower(), name.title(), unicodedata.normalize("NFD", name))
    yield from (quote(name, safe=""), quote(name).lower(), name.replace(" ", "_"), name.replace(" ", "-"))
    yield from (name.replace(" ", "\u00a0"), name.replace("-", "‑"), "\u200b".join(name))
    yield "".join(chr(ord(sign) + 0xFEE0) if "!" <= sign <= "~" else sign for sign in name)
    yield "".join(f"%{byte:02X}" for byte in name.encode())
    yield from escaped(name)
    yield from respelt(name)
    yield from unseen(name)
    yield from coded(name)
    yield from drawn(name)


def escaped(name: str) -> Iterator[str]:
    """Yield how JSON, programs and HTML write a name's letters; what was escaped may be escaped again."""
    yield json.dumps(name)[1:-1]
    yield "".join(f"\\u{ord(sign):04X}" for sign in name)
    yield "".join(f"\\U{ord(sign):08x}" for sign in name)
    yield "".join(f"\\x{byte:02x}" for byte in name.encode())
    yield "".join(f"&#{ord(sign)};" for sign in name)
    yield "".join(f"&#x{ord(sign):X};" for sign in name[:1]) + name[1:]
    yield html.escape(name.encode("ascii", "xmlcharrefreplace").decode())
    yield quote(quote(name, safe=""), safe="")


def respelt(name: str) -> Iterator[str]:
    """Yield a name with letters of other keyboards, and without those that a keyboard has not."""
    yield name.replace("i", "ı").replace("I", "İ")
    yield name.upper().replace("I", "İ")
    yield name.replace("a", "á").replace("o", "ô").replace("n", "ñ")
    yield "".join(sign for sign in unicodedata.normalize("NFD", name) if not "\u0300" <= sign <= "\u036f")
    yield name.replace("ü", "ue").replace("ö", "oe").replace("ä", "ae").replace("ß", "ss")


def unseen(name: str) -> Iterator[str]:
    """Yield a name with what nobody sees between its signs: one of each kind, and what terminals read as colours."""
    for sign in UNSEEN:
        yield sign.join(name)
    yield from (f"{name[:2]}{colour}{name[2:]}" for colour in ("\x1b[1m", "\x1b[0;31m", "\\e[1m", "\\033[m"))


def coded(name: str) -> Iterator[str]:
    """Yield how programs write what is no ASCII, and what comes of it where another code is read."""
    for escape in (r"\{:03o}", "={:02X}", "={:02x}", "%{:02X}", r"\x{:02x}"):
        yield _bytewise(name, escape, "utf-8")
        if escape != "={:02x}":
            yield _bytewise(name, escape, "latin-1")
        if _is_korean_code(name):
            yield _bytewise(name, escape, "cp949")
    for escape in (r"\x{{{:x}}}", "%u{:04X}", "%u{:04x}"):
        yield "".join(sign if sign.isascii() else escape.format(ord(sign)) for sign in name)
    yield "".join(sign if sign.isascii() else rf"\N{{{unicodedata.name(sign)}}}" for sign in name)
    yield "".join(f"&{codepoint2name[ord(sign)]}" if ord(sign) in range(0xC0, 0x100) else sign for sign in name)
    yield NOT_BEFORE_FIGURES.sub(lambda sign: f"&#{ord(sign.group())}", name)
    yield NOT_BEFORE_FIGURES.sub(lambda sign: f"&#x{ord(sign.group()):x}", name)
    for escape in (r"\x{:02x}", r"\{:03o}"):
        yield json.dumps(_bytewise(name, escape, "utf-8"))[1:-1]
    yield json.dumps(json.dumps(name)[1:-1])[1:-1]
    yield name.encode("utf-7").decode()
    yield name.encode().decode("latin-1")
    yield name.encode().decode("cp1252", "replace")


def drawn(name: str) -> Iterator[str]:
    """Yield a name in letters with marks and frames, and in those of other scripts that look like them."""
    for mark in MARKS:
        yield "".join(sign + mark if sign.isalnum() else sign for sign in unicodedata.normalize("NFC", name))
    yield name.translate(SMALL_CAPITALS)
    yield name.lower().translate(IN_FRAMES)
    yield name.lower().translate(IN_BRACKETS)
    for twins in (GREEK, CYRILLIC):
        for letter, twin in twins.items():
            if letter in name.lower():
                yield name.lower().replace(letter, twin, 1)
                break
        yield name.lower().translate(str.maketrans(twins))


def glued(name: str) -> Iterator[str]:
    """Yield a name in words of programs: parted from others by a change of case, a figure or the sign of many."""
    yield from (f"{name}ToOther", f"{name.upper()}ToOther", f"from{name[:1].upper()}{name[1:]}", f"{name}s")
    # A figure ends no word beside a figure.
    yield f"{name}2other" if not name[-1].isdigit() else f"{name}to"[: len(name)] + "Other"
    if re.search("[0-9]", name):
        yield from (f"nfs{name.lower()}", f"backup-of-srv{name.lower()}")
    parts = [part[:1].upper() + part[1:] for part in re.split("[ _.-]+", name)]
    yield from ("".join(parts), "".join(parts).lower(), "at" + "".join(parts) + "AndOther")


def dotted(address: str) -> Iterator[str]:
    """Yield how people write an address of the internet that no program shall follow, or that a program tells."""
    for dot in ("[dot]", "(.)", "[.]", "(dot)", " dot ", " . ", ". ", "\\.", "·", ",", ", ", "{.}"):
        yield address.replace(".", dot)
    yield f"({address.replace('.', ',')},19,137)"


def networks(address: str) -> Iterator[str]:
    """Yield how people write a network that an address is in."""
    is_old = "." in address
    figures = address.split(".") if is_old else ip_address(address).exploded.split(":")
    sign = "." if is_old else ":"
    for number in (2, 3) if is_old else (2, 3, 4, 6):
        first = sign.join(figures[:number])
        yield from (f"{first}{sign}{other}" for other in ("x", "X", "*", "n", "xxx", "?", f"x{sign}x", f"*{sign}*"))
        yield from (f"{first}/{8 * number}",) if is_old else (f"{first}::x",)
    if is_old:
        yield from (f"{first}.", f"{first}.[1-9]", f"{first}.{{1,9}}", f"{first}.n7")


def _is_korean_code(name: str) -> bool:
    """Return whether a name has Hangul, and bytes of Korean's own code that could be no other's."""
    if not any("가" <= sign <= "힣" for sign in name):
        return False
    try:
        name.encode("cp949").decode()
    except UnicodeDecodeError:
        return True
    return False


def _bytewise(name: str, escape: str, code: str) -> str:
    return "".join(
        sign if sign.isascii() else "".join(escape.format(byte) for byte in sign.encode(code, "ignore")) or sign
        for sign in name
    )


def plain(text: str) -> str:
    """Return a text in the spelling in which a reader compares: without case, accents' parts and invisible signs."""
    return unicodedata.normalize("NFKC", text).casefold().replace("\u200b", "")


def is_long_enough(name: str) -> bool:
    """Say whether a name is hidden in the middle of a word, and none of figures and points or colons only."""
    return len(re.sub("[ ,_.-]", "", name)) >= 4 and re.search("[g-z가-힣]", name.lower()) is not None
