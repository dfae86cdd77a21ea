"""Names of many nodes in one line: "kgfs[01-04,07], hexa01"."""

import itertools
import math
import re
from collections.abc import Iterable, Sequence

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

from apps.core.entries import MOST_ENTRIES

# Each is a row that is checked and stored by itself, some hundred a second.
MOST_NAMES = MOST_ENTRIES

_PIECES = re.compile(r"\[([^\[\]]*)\]")
_RANGE = re.compile(r"([0-9]{1,9})(?:-([0-9]{1,9}))?")
_NUMBERED = re.compile(r"(.*?)([0-9]{1,9})")


class TooManyNames(ValidationError):
    """A line stands for more names than `MOST_NAMES`."""


def expand_pattern(text: str) -> list[str]:
    """Return the names that a line stands for, in its order: ``a[08-10,12], b`` is a08 a09 a10 a12 b.

    Commas, semicolons or blanks stand between names; several brackets in a name multiply; a number is padded to
    the digits of the range's first. ValidationError says which part is wrong.
    """
    names: list[str] = []
    for part in _split(text):
        names += _expand_part(part, room=MOST_NAMES - len(names))
    return names


def count_names(text: str) -> int:
    """Return how many names a line stands for, more than `MOST_NAMES` for any number above; none are written out.

    What is wrong with it is said where it is expanded: a line with a slip counts as one name.
    """
    total = 0
    try:
        for part in _split(text):
            total += math.prod(len(options) for options in _choices(part, room=MOST_NAMES - total))
    except TooManyNames:
        return MOST_NAMES + 1
    except ValidationError:
        return 1
    return total


def compress_names(names: Iterable[str]) -> str:
    """Return the shortest line of which `expand_pattern` makes the names again, sorted."""
    return ", ".join(_pieces(names))


def told_ends(roles: Sequence[str], names: Sequence[str], arrow: str = " → ") -> str:
    """Return "source → destination (client: control)" of the nodes that play roles: data goes between the first two.

    `names` stand in the order of the data; whoever plays a third role only stands beside.
    """
    beside = ", ".join(f"{role}: {name}" for role, name in zip(roles[2:], names[2:], strict=True))
    return arrow.join(names[:2]) + (f" ({beside})" if beside else "")


def shorten_names(names: Iterable[str], *, most: int) -> str:
    """Return the same for a narrow place: of more than so many pieces the first, and how many names there are."""
    all_names = list(names)
    pieces = _pieces(all_names)
    return ", ".join(pieces) if len(pieces) <= most else f"{', '.join(pieces[:most])}, … ({len(set(all_names))})"


def _pieces(names: Iterable[str]) -> list[str]:
    runs: list[tuple[str, str, int]] = []
    for name in sorted(set(names), key=_by_number):
        prefix, digits = match.groups() if (match := _NUMBERED.fullmatch(name)) else (name, "")
        if runs and digits:
            last_prefix, first, count = runs[-1]
            if last_prefix == prefix and first and digits == str(int(first) + count).zfill(len(first)):
                runs[-1] = (prefix, first, count + 1)
                continue
        runs.append((prefix, digits, 1))
    return [_run(*run) for run in runs]


def _split(text: str) -> list[str]:
    """Return the parts between commas, semicolons and blanks that stand outside of brackets."""
    parts, inside = [""], False
    for character in text:
        inside = character == "[" or (inside and character != "]")
        if not inside and (character in ",;" or character.isspace()):
            parts.append("")
        else:
            parts[-1] += character
    return [part for part in parts if part]


def _run(prefix: str, first: str, count: int) -> str:
    return f"{prefix}[{first}-{str(int(first) + count - 1).zfill(len(first))}]" if count > 1 else prefix + first


def _by_number(name: str) -> tuple[str, int, str]:
    prefix, digits = match.groups() if (match := _NUMBERED.fullmatch(name)) else (name, "")
    return prefix, int(digits or 0), name


def _expand_part(part: str, room: int) -> list[str]:
    return ["".join(pieces) for pieces in itertools.product(*_choices(part, room))]


def _choices(part: str, room: int) -> list[list[str]]:
    """Return what may stand at each place of a name, one after the other; their product is at most `room`."""
    fixed = _PIECES.split(part)
    if any(character in piece for piece in fixed[::2] for character in "[]"):
        raise ValidationError(
            _("“%(part)s”: a bracket is open; write for example node[01-04].") % {"part": _short(part)}
        )
    choices: list[list[str]] = []
    total = 1
    for place, piece in enumerate(fixed):
        options = [piece] if place % 2 == 0 else _numbers(piece, part, room)
        total *= len(options)
        if total > room:
            raise _too_many(part)
        choices.append(options)
    return choices


def _numbers(piece: str, part: str, room: int) -> list[str]:
    numbers: list[str] = []
    for item in piece.split(","):
        match = _RANGE.fullmatch(item.strip())
        if match is None:
            raise ValidationError(
                _("“%(part)s”: between brackets stand numbers and ranges, such as [01-04,07].")
                % {"part": _short(part)}
            )
        first, last = match[1], match[2] or match[1]
        if int(last) < int(first):
            raise ValidationError(
                _("“%(part)s”: the range ends before it begins; write the lower number first.")
                % {"part": _short(part)}
            )
        if int(last) - int(first) >= room:
            raise _too_many(part)
        numbers += [str(number).zfill(len(first)) for number in range(int(first), int(last) + 1)]
    return numbers


def _too_many(part: str) -> TooManyNames:
    return TooManyNames(
        _("“%(part)s” stands for more than %(most)s names in all: write fewer at a time.")
        % {"part": _short(part), "most": MOST_NAMES}
    )


def _short(part: str) -> str:
    return part if len(part) <= 60 else part[:60] + "…"
