"""Cut the text of an exclusion into numbers with units, names, quoted texts and signs."""

import re
from dataclasses import dataclass

from apps.bench import units
from apps.bench.text import Message, _

LONGEST_EXCLUSION = 500
# Keeps the tree shallow enough to walk.
_MOST_TOKENS = 150

KEYWORDS = ("and", "or", "not", "in")

_QUOTED = re.compile(r"""("[^"]*"|'[^']*')""")
_QUOTES = str.maketrans({"“": '"', "”": '"', "„": '"', "‘": "'", "’": "'"})
_SIGNS = {"≤": "<=", "≥": ">=", "≠": "!=", "=": "==", "<>": "!=", "×": "*", "&&": "and", "||": "or"}
_TOKEN = re.compile(
    r"""\s*+(?:
        (?P<number>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3}(?![0-9]))?)
      | (?P<word>[^\W\d]\w*)
      | (?P<sign><=|>=|==|!=|<>|&&|\|\||[<>=≤≥≠+\-*×/(),])
      | (?P<other>\S)
    )""",
    re.VERBOSE,
)
_UNIT = re.compile(r"\s*([^\W\d_]+)(/[a-zA-Z]+)?(?![\w])")


class ExclusionError(ValueError):
    """An exclusion that can not be read or computed; ``message`` says why and what to write."""

    def __init__(self, message: Message) -> None:
        self.message = message
        super().__init__(str(message))


@dataclass(frozen=True)
class ExclusionToken:
    """A piece of an exclusion; `kind` is "quantity", "name", "text", "sign" or "end"."""

    kind: str
    text: str


def split_tokens(text: str) -> list[ExclusionToken]:
    """Return the tokens of an exclusion, closed by an "end"; ExclusionError for what is no part of the language."""
    if len(text) > LONGEST_EXCLUSION:
        raise _too_long()
    tokens: list[ExclusionToken] = []
    for part in _QUOTED.split(text.translate(_QUOTES)):
        if _QUOTED.fullmatch(part):
            tokens.append(ExclusionToken("text", part[1:-1]))
        else:
            tokens += _split_plain(units.normalise(part))
    if len(tokens) > _MOST_TOKENS:
        raise _too_long()
    return [*tokens, ExclusionToken("end", "")]


def _too_long() -> ExclusionError:
    return ExclusionError(Message(_("This exclusion is too long: write several shorter ones.")))


def _split_plain(text: str) -> list[ExclusionToken]:
    tokens = []
    position = 0
    while match := _TOKEN.match(text, position):
        position = match.end()
        if match["other"]:
            raise ExclusionError(
                Message(
                    _("“%(text)s” is no part of an exclusion: use names, numbers, comparisons, and, or, not."),
                    {"text": match["other"]},
                )
            )
        if match["number"]:
            unit, position = _read_unit(text, position)
            tokens.append(ExclusionToken("quantity", match["number"] + unit))
        elif match["word"]:
            word = match["word"]
            is_keyword = word.lower() in KEYWORDS
            tokens.append(ExclusionToken("sign", word.lower()) if is_keyword else ExclusionToken("name", word))
        else:
            tokens.append(ExclusionToken("sign", _SIGNS.get(match["sign"], match["sign"])))
    return tokens


def _read_unit(text: str, position: int) -> tuple[str, int]:
    """Return the unit that stands behind a number ("" if none) and where it ends."""
    match = _UNIT.match(text, position)
    if match is None or match[1].lower() in KEYWORDS:
        return "", position
    if match[2] and units.is_unit(match[1] + match[2]):
        return match[1] + match[2], match.end()
    # In "1 M/streams" the slash divides.
    if units.is_unit(match[1]):
        return match[1], match.end(1)
    raise ExclusionError(
        Message(
            _("“%(unit)s” is not a unit: use for example KiB, MiB, Mbit/s, ms or s."),
            {"unit": match[1] + (match[2] or "")},
        )
    )
