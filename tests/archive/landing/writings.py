"""The ways in which people and programs write a name."""

import html
import json
import unicodedata
from collections.abc import Iterator
from urllib.parse import quote


def forms_of(name: str) -> Iterator[str]:
    """Yield the ways in which people and programs write a name."""
    yield from (name, name.upper(), name.lower(), name.title(), unicodedata.normalize("NFD", name))
    yield from (quote(name, safe=""), quote(name).lower(), name.replace(" ", "_"), name.replace(" ", "-"))
    yield from (name.replace(" ", "\u00a0"), name.replace("-", "‑"), "\u200b".join(name))
    yield "".join(chr(ord(sign) + 0xFEE0) if "!" <= sign <= "~" else sign for sign in name)
    yield "".join(f"%{byte:02X}" for byte in name.encode())
    yield from escaped(name)
    yield from respelt(name)


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
    yield name.replace("ü", "ue").replace("ö", "oe").replace("ä", "ae")
