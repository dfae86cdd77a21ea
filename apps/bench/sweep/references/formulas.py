"""Formulas read, checked, and turned into the list of values that a sweep takes."""

from collections.abc import Sequence
from dataclasses import dataclass

from apps.bench import units
from apps.bench.sweep.references.tokens import FormulaError, FormulaToken, split_tokens
from apps.bench.sweep.references.trees import (
    SUMMARIES,
    FormulaNode,
    Lookup,
    Numbers,
    Operation,
    Product,
    Reference,
    SummaryNode,
)
from apps.bench.sweep.spec import SweepParameter
from apps.bench.text import Message, _

_DEEPEST = 20
_EXAMPLE = "=bdp(max(Bottleneck.goodput), min(Baseline.rtt_min)) * {0.5, 1, 2}"


@dataclass(frozen=True)
class Formula:
    """A formula that has been read: what it refers to, and how many values it makes."""

    tree: FormulaNode
    references: tuple[Reference, ...]
    count: int

    def values(self, lookup: Lookup) -> list[float]:
        """Return its values in base units; FormulaError if one of them is no number, or something is missing."""
        return self.tree.values(lookup)


def is_formula(text: str) -> bool:
    """Say whether a parameter's text is a formula."""
    return text.lstrip().startswith("=")


def parse_formula(text: str) -> Formula:
    """Return the formula that a text (with its “=”) is; FormulaError says what is wrong with it."""
    reader = _Reader(split_tokens(text.strip().removeprefix("=")))
    tree = reader.read_sum()
    if reader.next.kind != "end":
        raise _unexpected(reader.next)
    lists = [part for part in tree.parts() if isinstance(part, Numbers) and len(part.numbers) > 1]
    if len(lists) > 1:
        raise FormulaError(Message(_("A formula has at most one list in braces: multiply the others by hand.")))
    references = dict.fromkeys(part.reference for part in tree.parts() if isinstance(part, SummaryNode))
    return Formula(tree, tuple(references), len(lists[0].numbers) if lists else 1)


def resolve_formula(text: str, parameter: SweepParameter, lookup: Lookup) -> str:
    """Return a formula's values as the list that a sweep reads, ``65536, 131072``; FormulaError if that fails.

    Kinds that are whole numbers of a base unit are rounded to it.
    """
    if parameter.kind not in units.NUMBER_KINDS:
        raise FormulaError(Message(_("%(name)s is no number, so no formula can give it."), {"name": parameter.name}))
    values = parse_formula(text).values(lookup)
    return ", ".join(str(round(value)) if parameter.kind in units.WHOLE_KINDS else repr(value) for value in values)


class _Reader:
    """Reads tokens by the grammar: sum, term, factor."""

    def __init__(self, tokens: Sequence[FormulaToken]) -> None:
        self._tokens = tokens
        self._at = 0
        self._depth = 0

    @property
    def next(self) -> FormulaToken:
        """Return the token to come."""
        return self._tokens[self._at]

    def read_sum(self) -> FormulaNode:
        """Read terms joined by + and -."""
        self._depth += 1
        if self._depth > _DEEPEST:
            raise FormulaError(Message(_("This formula has too many parentheses within each other.")))
        tree = self._read_term()
        while self.next.kind == "sign" and self.next.text in "+-":
            tree = Operation(self._take().text, tree, self._read_term())
        self._depth -= 1
        return tree

    def _read_term(self) -> FormulaNode:
        tree = self._read_factor()
        while self.next.kind == "sign" and self.next.text in "*/":
            tree = Operation(self._take().text, tree, self._read_factor())
        return tree

    def _read_factor(self) -> FormulaNode:
        token = self._take()
        if token.kind == "number":
            return Numbers((token.value,))
        if token.kind == "name":
            return self._read_call(token)
        if token.text == "(":
            inner = self.read_sum()
            self._need(")")
            return inner
        if token.text == "{":
            return self._read_list()
        raise _unexpected(token)

    def _read_list(self) -> FormulaNode:
        numbers = []
        while True:
            token = self._take()
            if token.kind != "number":
                raise _unexpected(token)
            numbers.append(token.value)
            token = self._take()
            if token.text == "}":
                return Numbers(tuple(dict.fromkeys(numbers)))
            if token.text != ",":
                raise _unexpected(token)

    def _read_call(self, name: FormulaToken) -> FormulaNode:
        if name.text != "bdp" and name.text not in SUMMARIES:
            functions = ", ".join([*SUMMARIES, "bdp"])
            text = _("“%(name)s” is no function of formulas; there are %(known)s, as in %(example)s.")
            raise FormulaError(Message(text, {"name": name.text[:40], "known": functions, "example": _EXAMPLE}))
        self._need("(")
        if name.text == "bdp":
            capacity = self.read_sum()
            self._need(",")
            call: FormulaNode = Product(capacity, self.read_sum())
        else:
            call = SummaryNode(name.text, self._read_reference())
        self._need(")")
        return call

    def _read_reference(self) -> Reference:
        experiment = self._take()
        if experiment.kind != "name" or not experiment.text:
            raise _unexpected(experiment)
        self._need(".")
        metric = self._take()
        if metric.kind != "name":
            raise _unexpected(metric)
        return Reference(experiment.text, metric.text)

    def _need(self, sign: str) -> None:
        token = self._take()
        if token.kind != "sign" or token.text != sign:
            raise _unexpected(token, sign)

    def _take(self) -> FormulaToken:
        token = self._tokens[self._at]
        if token.kind != "end":
            self._at += 1
        return token


def _unexpected(token: FormulaToken, expected: str = "") -> FormulaError:
    values = {"found": token.text[:40], "wanted": expected, "example": _EXAMPLE}
    if token.kind == "end":
        return FormulaError(Message(_("The formula ends too early; write for example %(example)s."), values))
    if expected:
        text = _("“%(wanted)s” was expected in the formula before “%(found)s”; write for example %(example)s.")
        return FormulaError(Message(text, values))
    text = _("“%(found)s” has no place there in the formula; write for example %(example)s.")
    return FormulaError(Message(text, values))
