"""Names that people tell teams and persons apart by: what may stand in them, and which look alike."""

import re
import unicodedata

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

# Marks that show nothing (Unicode's Default_Ignorable_Code_Point), and letters that are blank, beside those of whole
# categories.
_INVISIBLE = {0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0, *range(0x180B, 0x1810)}
_INVISIBLE |= {*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)}
# Control, format (also of direction), half, private and unassigned signs, and ends of lines and paragraphs.
_CATEGORIES = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
_WORD = re.compile(r"\w+")
# Korean, Chinese, Japanese and Latin are written together every day, and look like nothing but themselves.
_BESIDE_ANY = {"CJK", "HANGUL", "HIRAGANA", "KATAKANA", "BOPOMOFO", "IDEOGRAPHIC"}
# One of them may stand among Latin letters, for a quantity or a unit: mu (as the sign of micro is read), Delta,
# lambda, sigma, Omega (as the sign of ohm is read).
_SYMBOLS = set("\u03bc\u0394\u03bb\u03c3\u03a9")
# Small letters of a script, and of phonetics, that look like Latin ones.
LATIN_LIKE = dict(
    zip("аеорсухіјѕԁһԛԝкмтвнӏαεορνυχικτμσɑɡɩȷǀı", "aeopcyxijsdhqwkmtbhlaeopvuxiktuoagijli", strict=True)
)
# What looks alike within Latin, and a sign of mathematics that is read as the letter.
_ALIKE = dict.fromkeys("i1|", "l") | {"0": "o"}
_TWINS = str.maketrans(
    {sign: _ALIKE.get(latin, latin) for sign, latin in LATIN_LIKE.items()} | _ALIKE | {"∆": "δ", "ʟ": "l"}
)
# Letters of phonetics that look like the capital which they are named after.
_SMALL_CAPITAL = "LATIN LETTER SMALL CAPITAL "
_JOINER, _NON_JOINER, _AS_PICTURE = "\u200d", "\u200c", "\ufe0f"


def skeleton(name: str, longest: int) -> str:
    """Return what a name looks like, of `longest` signs at most: two of the same are taken for each other.

    I, l and 1 are one, whatever their case, and so are O and 0.
    """
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
    folded = "".join(plain(sign) for sign in folded if sign not in (_JOINER, _NON_JOINER, _AS_PICTURE))
    return " ".join(folded.translate(_TWINS).split())[:longest]


def plain(sign: str) -> str:
    """Return the sign that one is written for: a figure of any script, a dash of any length, a small capital."""
    category = unicodedata.category(sign)
    if category == "Nd":
        return str(unicodedata.decimal(sign))
    if category == "Pd" or sign == "\u2212":
        return "-"
    letter = unicodedata.name(sign, "").removeprefix(_SMALL_CAPITAL)
    return letter.lower() if len(letter) == 1 else sign


def is_unseen(sign: str) -> bool:
    """Return whether nobody sees a sign, or whether it only shapes or turns those beside it."""
    return unicodedata.category(sign) in _CATEGORIES or ord(sign) in _INVISIBLE


def check_seen(name: str) -> None:
    """Raise a ValidationError for a sign that nobody sees, or that turns the direction of what follows."""
    for place, sign in enumerate(name):
        if is_unseen(sign) and not _shapes(name, place):
            text = _("Leave out the sign %(sign)s: it cannot be seen, or turns the direction of what follows.")
            raise ValidationError(text % {"sign": f"U+{ord(sign):04X} {unicodedata.name(sign, '')}".strip()})


def check_seen_in(field: str, text: str) -> None:
    """Raise a ValidationError of the field for a sign that nobody sees."""
    try:
        check_seen(text)
    except ValidationError as error:
        raise ValidationError({field: error.messages}) from None


def check(name: str) -> None:
    """Raise a ValidationError for a sign that nobody sees, and for a word of letters that may be twins."""
    check_seen(name)
    for word in _WORD.findall(unicodedata.normalize("NFKC", name)):
        scripts = _scripts_of(word)
        if len(scripts) > 1:
            listed = ", ".join(sorted(script.capitalize() for script in scripts))
            text = _("“%(word)s” mixes letters of several scripts that look alike (%(scripts)s): write it in one.")
            raise ValidationError(text % {"word": word, "scripts": listed})


def _shapes(name: str, place: int) -> bool:
    """Return whether an unseen sign changes what stands beside it: emoji, or letters of the Arabic script."""
    sign, before, after = name[place], name[:place][-1:], name[place + 1 :][:1]
    if sign == _NON_JOINER:
        return _script_of(before) == _script_of(after) == "ARABIC"
    if sign == _AS_PICTURE:
        return _is_picture(before)
    if sign == _JOINER:
        return _is_picture(name[:place].rstrip(_AS_PICTURE)[-1:]) and _is_picture(after)
    return False


def _is_picture(sign: str) -> bool:
    """Return whether a sign is an emoji, or sets the colour of one's skin."""
    return bool(sign) and (unicodedata.category(sign) == "So" or 0x1F3FB <= ord(sign) <= 0x1F3FF)


def _scripts_of(word: str) -> set[str]:
    """Return the scripts of a word's letters and figures, without those that may stand beside any other."""
    letters = [sign for sign in word if unicodedata.category(sign) in ("Lu", "Ll", "Lt", "Lo")]
    figures = [sign for sign in word if unicodedata.category(sign) == "Nd" and not sign.isascii()]
    scripts = {_script_of(sign) for sign in (*letters, *figures)} - _BESIDE_ANY
    greek = [sign for sign in letters if _script_of(sign) == "GREEK"]
    if scripts == {"LATIN", "GREEK"} and len(greek) == 1 and greek[0] in _SYMBOLS:
        return {"LATIN"}
    return scripts


def _script_of(sign: str) -> str:
    """Return the script of a letter or figure, by the first word of its name; "" for no sign."""
    name = unicodedata.name(sign, "") if sign else ""
    return re.split(r"[ -]", name.removeprefix("EXTENDED "))[0]
