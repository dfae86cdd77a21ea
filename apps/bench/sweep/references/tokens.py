"""Cut the text of a formula into numbers, names, quoted names and signs."""

import re
from dataclasses import dataclass
from decimal import Decimal

from apps.bench import units
from apps.bench.text import Message, _

LONGEST_FORMULA = 500
_MOST_TOKENS = 150
_KINDS = ("size", "duration", "rate", "byte-rate")

_TOKEN = re.compile(
    r"""\s*+(?:
        (?P<number>(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?)(?:\s*(?P<unit>[^\W\d_]+(?:/[a-zA-Z]+)?))?
      | "(?P<quoted>[^"]*)"
      | (?P<name>[^\W\d][\w-]*)
      | (?P<sign>[-+*/(){},.])
      | (?P<other>\S)
    )""",
    re.VERBOSE,
)
_SIGNS = str.maketrans({"×": "*", "−": "-", "÷": "/", "“": '"', "”": '"', "„": '"'})


class FormulaError(ValueError):
    """A formula that can not be read or computed; ``message`` says why and what to write."""

    def __init__(self, message: Message) -> None:
        self.message = message
        super().__init__(str(message))


@dataclass(frozen=True)
class FormulaToken:
    """A piece of a formula; `kind` is "number" (with its value in base units), "name", "sign" or "end"."""

    kind: str
    text: str
    value: float = 0.0


def split_tokens(text: str) -> list[FormulaToken]:
    """Return the tokens of a formula without its “=”, closed by an "end"; FormulaError for what is none."""
    if len(text) > LONGEST_FORMULA:
        raise too_long()
    plain = text.translate(_SIGNS)
    tokens: list[FormulaToken] = []
    position = 0
    while plain[position:].strip():
        match = _TOKEN.match(plain, position)
        if match is None or match["other"]:
            wrong = match["other"] if match else plain[position:].strip()
            raise FormulaError(Message(_("“%(sign)s” has no place in a formula: take it out."), {"sign": wrong[:20]}))
        tokens.append(_token(match))
        position = match.end()
    if len(tokens) > _MOST_TOKENS:
        raise too_long()
    return [*tokens, FormulaToken("end", "")]


def too_long() -> FormulaError:
    """Return what is said of a formula nobody would write."""
    return FormulaError(
        Message(_("This formula is too long: use at most %(limit)s characters."), {"limit": LONGEST_FORMULA})
    )


def _token(match: re.Match[str]) -> FormulaToken:
    if match["number"]:
        return FormulaToken("number", match[0].strip(), _value_of(match["number"], match["unit"] or ""))
    if match["quoted"] is not None:
        return FormulaToken("name", match["quoted"].strip())
    return FormulaToken("name", match["name"]) if match["name"] else FormulaToken("sign", match["sign"])


def _value_of(number: str, unit: str) -> float:
    """Return a quantity in the base unit of its kind; a bare K, M or G could be bits or bytes and is refused."""
    if not unit:
        return _finite(Decimal(number), number)
    for kind in _KINDS if len(unit) > 1 or unit in ("B", "s", "h", "d") else ():
        try:
            return _finite(units.exact_value(f"{number} {unit}", kind), number)
        except units.UnitError:
            continue
    text = _("“%(text)s” has no unit that a formula knows: write for example 64 KiB, 4.8 ms or 1 Gbit/s.")
    raise FormulaError(Message(text, {"text": f"{number} {unit}"[:40]}))


def _finite(value: Decimal, text: str) -> float:
    settled = float(value)
    if settled in (float("inf"), float("-inf")):
        raise FormulaError(Message(_("“%(text)s” is too large a number."), {"text": text[:40]}))
    return settled
