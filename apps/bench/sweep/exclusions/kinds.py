"""The kinds of quantity in an exclusion: what may be compared with what, and what a literal means beside it."""

from collections.abc import Sequence
from typing import TypeGuard

from apps.bench import units
from apps.bench.sweep.exclusions import grammar
from apps.bench.sweep.exclusions.tokens import ExclusionError
from apps.bench.sweep.spec import Parameters
from apps.bench.text import Message, _

SIZE, RATE, DURATION, NUMBER = "size", "rate", "duration", "number"
BOOLEAN, TEXT = "boolean", "text"

_OF_PARAMETER = {"byte-rate": RATE, "integer": NUMBER, "float": NUMBER, "choice": TEXT}
# What literals are read as; amounts of rate are bit/s throughout.
_READ_AS = {NUMBER: "float"}

# kind of left, sign, kind of right: kind of the result, and the factor between bits and bytes.
_PHYSICS: dict[tuple[str, str, str], tuple[str, float]] = {
    (RATE, "*", DURATION): (SIZE, 1 / 8),
    (DURATION, "*", RATE): (SIZE, 1 / 8),
    (SIZE, "/", DURATION): (RATE, 8),
    (SIZE, "/", RATE): (DURATION, 8),
}

# How a kind shows in a message, in any language.
_SHOWN = {SIZE: "B", RATE: "bit/s", DURATION: "s", NUMBER: "1, 2, 3", BOOLEAN: "yes/no", TEXT: "abc"}

Literal = grammar.Quantity | grammar.Name | grammar.QuotedText


def names_of(node: grammar.Node) -> frozenset[str]:
    """Return every name in the tree, parameters and bare texts alike."""
    match node:
        case grammar.Name(name):
            return frozenset((name,))
        case grammar.Quantity() | grammar.QuotedText():
            return frozenset()
        case grammar.Negative(operand) | grammar.Not(operand):
            return names_of(operand)
        case grammar.Arithmetic(_sign, left, right):
            return names_of(left) | names_of(right)
        case grammar.MembershipTest(operand, items, _negated):
            return names_of(operand).union(*map(names_of, items))
        case grammar.ComparisonChain(operands, _signs) | grammar.Junction(_signs, operands):
            return frozenset().union(*map(names_of, operands))


class Checker:
    """Infers kinds; a literal without a unit, or with a bare K, M or G, is of whatever kind it stands beside."""

    def __init__(self, parameters: Parameters) -> None:
        self.parameters = parameters

    def kind_of(self, node: grammar.Node) -> str | None:
        """Return the kind of a node, or None where what stands beside it decides."""
        match node:
            case grammar.Name(name):
                if name not in self.parameters:
                    return None
                kind = self.parameters[name].kind
                return _OF_PARAMETER.get(kind, kind)
            case grammar.Quantity(text):
                return _kind_of_unit(text)
            case grammar.QuotedText():
                return TEXT
            case grammar.Negative(operand):
                return self.kind_of(operand)
            case grammar.Arithmetic(sign, left, right):
                return self._kind_of_arithmetic(sign, left, right)
            case _:
                return BOOLEAN

    def common_kind(self, nodes: Sequence[grammar.Node]) -> str:
        """Return the one kind of all these nodes (numbers if nothing decides); ExclusionError if they differ."""
        node_kinds = [kind for node in nodes if (kind := self.kind_of(node)) is not None]
        for kind in node_kinds:
            self.expect(kind, node_kinds[0])
        if node_kinds:
            return node_kinds[0]
        for node in nodes:
            if isinstance(node, grammar.Name):
                raise self._unknown_name(node.text)
        return NUMBER

    def expect(self, kind: str, want: str) -> str:
        """Return `kind`; ExclusionError if it is not the kind wanted."""
        if kind == want:
            return kind
        raise ExclusionError(
            Message(
                _("A value in %(kind)s can not stand where one in %(want)s is needed: check the units."),
                {"kind": _SHOWN[kind], "want": _SHOWN[want]},
            )
        )

    def expect_condition(self, node: grammar.Node) -> None:
        """Refuse a node that is neither true nor false, such as a lone number."""
        kind = self.kind_of(node)
        if kind is None and isinstance(node, grammar.Name):
            raise self._unknown_name(node.text)
        if kind != BOOLEAN:
            raise ExclusionError(
                Message(
                    _("A value in %(kind)s is not a condition: compare it, as in streams > 4."),
                    {"kind": _SHOWN[kind or NUMBER]},
                )
            )

    def expect_amount(self, want: str) -> str:
        """Return `want` if it is a kind one can calculate with, else ExclusionError."""
        if want in (SIZE, RATE, DURATION, NUMBER):
            return want
        return self.expect(NUMBER, want)

    def operand_kinds(self, node: grammar.Arithmetic, want: str) -> tuple[str, str, float]:
        """Return the kinds of the two operands that give `want`, and the factor between bits and bytes."""
        left, right = self.kind_of(node.left), self.kind_of(node.right)
        self.expect(self._kind_of_arithmetic(node.sign, node.left, node.right) or want, want)
        if node.sign in "+-":
            return want, want, 1
        if left and right:
            _kind, scale = _PHYSICS.get((left, node.sign, right), (want, 1))
            return left, right, scale
        if node.sign == "/":
            return self._quotient_kinds(node, left, right, want)
        # One side is a plain factor, and it is not the one that carries the K or M.
        if left is None and (right == NUMBER or (right is None and _has_prefix(node.left))):
            return want, NUMBER, 1
        return (left or NUMBER), (right or (want if left in (None, NUMBER) else NUMBER)), 1

    def _quotient_kinds(
        self, node: grammar.Arithmetic, left: str | None, right: str | None, want: str
    ) -> tuple[str, str, float]:
        if right is None and left is not None and _has_prefix(node.right):
            return left, left, 1
        return (left or want), (right or NUMBER), 1

    def _kind_of_arithmetic(self, sign: str, left_node: grammar.Node, right_node: grammar.Node) -> str | None:
        left, right = self.kind_of(left_node), self.kind_of(right_node)
        for kind in (left, right):
            self.expect_amount(kind or NUMBER)
        if sign in "+-":
            return self.expect(left, right) if left and right else left or right
        if left and right:
            return self._kind_of_product(sign, left, right)
        if sign == "*":
            return None if (left or right) == NUMBER else left or right
        if left is None:
            # 1 / streams is a number; 1 / window is nothing that one could compare.
            self.expect(right or NUMBER, NUMBER)
            return None
        return NUMBER if _has_prefix(right_node) else left

    def _kind_of_product(self, sign: str, left: str, right: str) -> str:
        if (left, sign, right) in _PHYSICS:
            return _PHYSICS[left, sign, right][0]
        if right == NUMBER:
            return left
        if sign == "*" and left == NUMBER:
            return right
        if sign == "/" and left == right:
            return NUMBER
        raise ExclusionError(
            Message(
                _("%(left)s %(sign)s %(right)s has no meaning here: check what is multiplied or divided."),
                {"left": _SHOWN[left], "sign": sign, "right": _SHOWN[right]},
            )
        )

    def literal(self, node: Literal, want: str) -> units.Value:
        """Return the value of a literal that is to be of a kind; ExclusionError if it can not be."""
        if isinstance(node, grammar.Name) and want not in (TEXT, BOOLEAN):
            raise self._unknown_name(node.text)
        if isinstance(node, grammar.QuotedText):
            self.expect(TEXT, want)
        try:
            if want == TEXT:
                return node.text
            if isinstance(node, grammar.Name):
                return units.parse_quantity(node.text, BOOLEAN)
            self.expect(_kind_of_unit(node.text) or want, want)
            return units.parse_quantity(node.text, _READ_AS.get(want, want))
        except units.UnitError as error:
            if isinstance(node, grammar.Name):
                raise self._unknown_name(node.text) from error
            raise ExclusionError(error.message) from error

    def check_choices(self, nodes: Sequence[grammar.Node]) -> None:
        """Refuse texts compared with a choice that it does not offer: they would silently never match."""
        for node in nodes:
            choice = self.parameters.get(node.text) if isinstance(node, grammar.Name) else None
            if choice is None or not choice.choices:
                continue
            offered = [value for value, _label in choice.choices]
            for other in nodes:
                if self._is_literal(other) and other.text not in offered:
                    raise ExclusionError(
                        Message(
                            _("%(name)s is never “%(text)s”: choose from %(choices)s."),
                            {
                                "name": choice.name,
                                "text": other.text,
                                "choices": ", ".join(value or '""' for value in offered),
                            },
                        )
                    )

    def _is_literal(self, node: grammar.Node) -> TypeGuard[Literal]:
        if isinstance(node, grammar.Name):
            return node.text not in self.parameters
        return isinstance(node, grammar.Quantity | grammar.QuotedText)

    def _unknown_name(self, name: str) -> ExclusionError:
        names = ", ".join(self.parameters)
        return ExclusionError(
            Message(
                _("“%(name)s” is neither swept nor fixed here: use one of %(known)s."),
                {"name": name, "known": names or "–"},
            )
        )


def _kind_of_unit(text: str) -> str | None:
    """Return the kind that a literal's unit shows, or None for a bare number or a bare K, M or G."""
    if not units.has_unit(text) or _is_prefixed(text):
        return None
    for kind in (SIZE, RATE, DURATION):
        try:
            units.exact_value(text, kind)
        except units.UnitError:
            continue
        return kind
    return None


def _is_prefixed(text: str) -> bool:
    return text[-1:] in "kKmMgGtTpP" and text[-2:-1] in set("0123456789. ")


def _has_prefix(node: grammar.Node) -> bool:
    match node:
        case grammar.Quantity(text):
            return _is_prefixed(text)
        case grammar.Negative(operand):
            return _has_prefix(operand)
        case grammar.Arithmetic(_sign, left, right):
            return _has_prefix(left) or _has_prefix(right)
        case _:
            return False
