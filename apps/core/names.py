"""Names that people tell teams and persons apart by: what may stand in them, and which look alike."""

import re
import unicodedata

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

# Marks that show nothing, and letters that are blank, beside those of whole categories.
_INVISIBLE = {0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0, *range(0xFE00, 0xFE10)}
_INVISIBLE |= set(range(0xE0100, 0xE01F0))
# Control, format (also of direction), half, private and unassigned signs, and ends of lines and paragraphs.
_CATEGORIES = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
_WORD = re.compile(r"\w+")
# Scripts whose letters have twins in another of them; Korean, Chinese and Latin are written together every day.
_TWIN_SCRIPTS = ("LATIN", "CYRILLIC", "GREEK")
# Letters of a script that look like Latin ones, after their case is folded.
_TWINS = str.maketrans("аеорсухіјѕԁһԛԝкмтвнαεορνυχικτ", "aeopcyxijsdhqwkmtbhaeopvuxikt")


def skeleton(name: str, longest: int) -> str:
    """Return what a name looks like, of `longest` signs at most: two of the same are taken for each other."""
    plain = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
    return " ".join(plain.translate(_TWINS).split())[:longest]


def check(name: str) -> None:
    """Raise a ValidationError for a sign that nobody sees, and for a word of letters that have twins."""
    for sign in name:
        if unicodedata.category(sign) in _CATEGORIES or ord(sign) in _INVISIBLE:
            text = _("Leave out the sign %(sign)s: it cannot be seen, or turns the direction of what follows.")
            raise ValidationError(text % {"sign": f"U+{ord(sign):04X} {unicodedata.name(sign, '')}".strip()})
    for word in _WORD.findall(unicodedata.normalize("NFKC", name)):
        signs = [unicodedata.name(sign, "") for sign in word]
        scripts = {script for script in _TWIN_SCRIPTS if any(sign.startswith(script) for sign in signs)}
        if len(scripts) > 1:
            listed = ", ".join(sorted(script.capitalize() for script in scripts))
            text = _("“%(word)s” mixes letters of several scripts that look alike (%(scripts)s): write it in one.")
            raise ValidationError(text % {"word": word, "scripts": listed})
