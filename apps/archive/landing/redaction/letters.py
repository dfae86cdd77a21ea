"""Letters as names are compared in: what each sign is written for, whatever its marks, its script and its case."""

import functools
import re
import unicodedata

from apps.core import names

_BLANKS = dict.fromkeys("\t\v\f\x85\u00a0\u2028\u2029", " ")
_KEPT = "\n\r"
# Letters whose strokes no composition tells, and what ends a part of a host's name, too.
_LETTERS = str.maketrans(
    {"ı": "i", "ø": "o", "đ": "d", "ł": "l", "æ": "ae", "œ": "oe", "þ": "th", "ð": "d", "ħ": "h", "。": "."}
    # Points of half a line's height; the Korean one is decomposed into a vowel of old writings.
    | dict.fromkeys("•‧∙⋅・\u119e", "·")
)
# A letter in a frame, upside down in colour, as part of a flag, or with what is no mark of its own.
_NAMED = re.compile(
    r"(?:(?:NEGATIVE )?(?:SQUARED|CIRCLED|PARENTHESIZED) )?LATIN (CAPITAL|SMALL) LETTER ([A-Z])(?: WITH [A-Z -]+)?"
    r"|REGIONAL INDICATOR SYMBOL LETTER ([A-Z])"
)
# Of these the voice of a Japanese letter makes another one.
_VOICES = "\u3099\u309a"
# Capitals of Greek and Cyrillic whose small letter looks like another one, or like none.
_CAPITALS = dict(zip("ΒΖΗΝΥЅЈВН", "bzhnysjbh", strict=True))
# Latin, phonetic, Greek and Cyrillic letters in one word.
_WORD = re.compile("[a-zß-ʯͰ-ԯ]+")
_LATIN = re.compile("[a-zß-ɏ]")
_MICRO = "μ"
_LONGEST_UNIT = 2
_CAPITAL, _SMALL, _FIGURE, _OTHER = "Uld."
# Between a small letter and a capital, before a word's capital, after more than one, and beside a figure.
_BREAK = re.compile(r"(?<=l)(?=U)|(?<=U)(?=Ul)|(?<=UU)(?=l)|(?<=[lU])(?=d)|(?<=d)(?=[lU])")


class _Shapes(dict[int, str]):
    """Which shape each sign has, by its number."""

    def __missing__(self, number: int) -> str:
        sign = chr(number)
        shape = _FIGURE if sign.isdigit() else _CAPITAL if sign.isupper() else _SMALL if sign.islower() else _OTHER
        self[number] = shape
        return shape


_SHAPES = _Shapes()


@functools.lru_cache(maxsize=20_000)
def letters_of(sign: str) -> tuple[tuple[str, str], ...] | None:
    """Return the letters of one sign, each small and with its case; none of a mark, None of what nobody sees."""
    if sign in _KEPT:
        return ((sign, sign),)
    if blank := _BLANKS.get(sign):
        return ((blank, blank),)
    if names.is_unseen(sign):
        return None
    # In brackets it would be decomposed into these as well.
    framed = _unframed(sign)
    parts = (part for part in unicodedata.normalize("NFKD", framed) if part in _VOICES or not _is_mark(part))
    letters = []
    for part in unicodedata.normalize("NFC", "".join(parts)):
        cased = _written_for(part)
        letters += [(small, cased) for small in cased.casefold().translate(_LETTERS)]
    return tuple(letters)


def breaks_in(cased: str) -> frozenset[int]:
    """Return where words begin within what is written without a blank: by a change of case, or beside a figure."""
    return frozenset(match.start() for match in _BREAK.finditer(cased.translate(_SHAPES)))


def latin_in(text: str, cased: str) -> str:
    """Return a folded text with Latin letters for those that look like them, in words that have no others."""
    if text.isascii():
        return text
    return _WORD.sub(lambda match: _latin_word(match.group(), cased[match.start() : match.end()]), text)


def _latin_word(word: str, cased: str) -> str:
    if word[0] == _MICRO and len(word) <= _LONGEST_UNIT:
        return word
    is_mixed = any(map(_LATIN.match, word))
    letters = []
    for small, sign in zip(word, cased, strict=True):
        like = (_CAPITALS.get(sign) if is_mixed else None) or names.LATIN_LIKE.get(small, small)
        if not _LATIN.match(like):
            return word
        letters.append(like)
    return "".join(letters)


def _is_mark(sign: str) -> bool:
    return unicodedata.category(sign) in ("Mn", "Me")


def _unframed(sign: str) -> str:
    """Return the letter or the figures in a frame, and what has none as it is."""
    category = unicodedata.category(sign)
    if category == "No" and (number := unicodedata.numeric(sign)).is_integer():
        return str(int(number))
    return _written_for(sign) if category == "So" else sign


def _written_for(sign: str) -> str:
    """Return the letter that a sign is written for, in its case."""
    if sign.isascii():
        return sign
    match = _NAMED.fullmatch(unicodedata.name(sign, ""))
    if match is None:
        return names.plain(sign)
    letter = match[2] or match[3]
    return letter.lower() if match[1] == "SMALL" else letter
