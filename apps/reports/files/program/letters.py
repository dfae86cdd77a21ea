"""What the fonts cannot show: letters that none has, and characters that PDF/A forbids."""

import unicodedata
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fontTools.ttLib import TTFont

# What stands where a letter was that no font has.
MISSING = "□"
# Where a long word may be broken.
BREAK = "\u200b"
_KEPT = f"\n\t{BREAK}"
# So many accents of a letter are set: no writing has more, and setting them takes their number squared.
MOST_MARKS = 30
# Control, format, private, surrogate and unassigned characters: they show nothing, or turn what follows round.
_HIDDEN = {"Cc", "Cf", "Cs", "Co", "Cn"}


def replaced(value: Any, fonts: Sequence[Path]) -> Any:
    """Return JSON values with every text such that one of the fonts has each of its letters."""
    letters: set[str] = set()
    _collect(value, letters)
    rare = {letter for letter in letters if not _is_common(letter)}
    if not rare:
        return value
    code_points = _letters_of(fonts)
    table: dict[int, str] = {}
    for letter in rare:
        if unicodedata.category(letter) in _HIDDEN:
            table[ord(letter)] = letter if letter in _KEPT else ""
        elif ord(letter) not in code_points and letter != " ":
            table[ord(letter)] = MISSING
    return _translated(value, table)


def _is_common(letter: str) -> bool:
    """Return whether NanumGothic surely has it: printable ASCII and Hangul syllables."""
    return " " <= letter <= "~" or letter == "\n" or "가" <= letter <= "힣"


def _collect(value: Any, letters: set[str]) -> None:
    if isinstance(value, str):
        letters.update(value)
    elif isinstance(value, dict):
        for part in value.values():
            _collect(part, letters)
    elif isinstance(value, list):
        for part in value:
            _collect(part, letters)


def _translated(value: Any, table: dict[int, str]) -> Any:
    if isinstance(value, str):
        # Syllables that came apart, as file names of some systems have them, are put together again.
        return _thinned(unicodedata.normalize("NFC", value).translate(table))
    if isinstance(value, dict):
        return {name: _translated(part, table) for name, part in value.items()}
    return [_translated(part, table) for part in value] if isinstance(value, list) else value


def _thinned(text: str) -> str:
    """Return a text with MOST_MARKS accents on each letter at most."""
    if text.isascii():
        return text
    letters, run = [], 0
    for letter in text:
        # Places where a word may be broken part no letter from its accents.
        run = run + (letter != BREAK) if letter == BREAK or unicodedata.category(letter)[0] == "M" else 0
        if run <= MOST_MARKS:
            letters.append(letter)
    return "".join(letters)


def _letters_of(fonts: Sequence[Path]) -> set[int]:
    code_points: set[int] = set()
    for path in fonts:
        with TTFont(path, lazy=True) as font:
            code_points |= set(font.getBestCmap())
    return code_points
