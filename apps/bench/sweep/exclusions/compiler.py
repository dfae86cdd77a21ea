"""Check the quantities of an exclusion and turn its tree into a function of a point."""

import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from apps.bench import units
from apps.bench.sweep.exclusions import grammar, kinds
from apps.bench.sweep.exclusions.tokens import ExclusionError
from apps.bench.sweep.spec import Parameters
from apps.bench.text import Message, _

Environment = Mapping[str, Any]
Function = Callable[[Environment], Any]

# Products and quotients of measured quantities are equal if they agree this closely.
_CLOSE = 1e-12


@dataclass(frozen=True)
class Exclusion:
    """A condition ready to be asked of points; `names` are the parameters it needs and their kinds."""

    text: str
    names: Mapping[str, str]
    _function: Function

    def excludes(self, values: Environment) -> bool:
        """Return whether the values of its names leave a point out; ExclusionError if it can not be computed."""
        try:
            return bool(self._function(values))
        except (ZeroDivisionError, OverflowError) as error:
            where = ", ".join(
                f"{name} = {units.canonical_text(values[name], kind)}" for name, kind in self.names.items()
            )
            raise ExclusionError(
                Message(
                    _("This can not be computed where %(where)s: a division by zero, or a number too large."),
                    {"where": where or self.text},
                )
            ) from error


def compile_exclusion(text: str, parameters: Parameters) -> Exclusion:
    """Return the exclusion of a text over these parameters (those swept and those fixed); or ExclusionError."""
    tree = grammar.parse_exclusion(text)
    compiler = _Compiler(kinds.Checker(parameters))
    names = {name: parameters[name].kind for name in sorted(kinds.names_of(tree)) if name in parameters}
    return Exclusion(text, names, compiler.build_condition(tree))


class _Compiler:
    def __init__(self, checker: kinds.Checker) -> None:
        self._checker = checker

    def build_condition(self, node: grammar.Node) -> Function:
        """Return the function of a node that must be true or false."""
        self._checker.expect_condition(node)
        return self.build(node, kinds.BOOLEAN)

    def build(self, node: grammar.Node, want: str) -> Function:
        """Return the function of a node whose value is to be of the kind `want`."""
        match node:
            case grammar.Junction(sign, operands):
                self._checker.expect(kinds.BOOLEAN, want)
                return _joined(sign, [self.build_condition(operand) for operand in operands])
            case grammar.Not(operand):
                self._checker.expect(kinds.BOOLEAN, want)
                function = self.build_condition(operand)
                return lambda point: not function(point)
            case grammar.ComparisonChain(operands, signs):
                self._checker.expect(kinds.BOOLEAN, want)
                return self._build_comparison(operands, signs)
            case grammar.MembershipTest(operand, items, is_negated):
                self._checker.expect(kinds.BOOLEAN, want)
                return self._build_membership(operand, items, is_negated)
            case grammar.Arithmetic():
                return self._build_arithmetic(node, want)
            case grammar.Negative(operand):
                function = self.build(operand, self._checker.expect_amount(want))
                return lambda point: -function(point)
            case grammar.Name(name) if name in self._checker.parameters:
                self._checker.expect(self._checker.kind_of(node) or want, want)
                return _named(name, self._checker.parameters[name].kind)
            case grammar.Name() | grammar.Quantity() | grammar.QuotedText():
                value = self._checker.literal(node, want)
                return lambda point: value

    def _build_comparison(self, operands: tuple[grammar.Node, ...], signs: tuple[str, ...]) -> Function:
        kind = self._checker.common_kind(operands)
        if kind in (kinds.TEXT, kinds.BOOLEAN) and any(sign not in ("==", "!=") for sign in signs):
            raise ExclusionError(
                Message(_("Texts and yes/no values are only equal or not: compare them by == or !=."))
            )
        self._checker.check_choices(operands)
        functions = [self.build(operand, kind) for operand in operands]
        links = [
            (_COMPARE[sign], left, right)
            for sign, left, right in zip(signs, functions[:-1], functions[1:], strict=True)
        ]
        if len(links) == 1:
            compare, left, right = links[0]
            return lambda point: compare(left(point), right(point))
        return lambda point: all(compare(left(point), right(point)) for compare, left, right in links)

    def _build_membership(self, operand: grammar.Node, items: tuple[grammar.Node, ...], is_negated: bool) -> Function:
        kind = self._checker.common_kind((operand, *items))
        self._checker.check_choices((operand, *items))
        function = self.build(operand, kind)
        members = [self.build(item, kind) for item in items]

        def is_member(point: Environment) -> bool:
            value = function(point)
            return any(_equal(value, member(point)) for member in members) is not is_negated

        return is_member

    def _build_arithmetic(self, node: grammar.Arithmetic, want: str) -> Function:
        want = self._checker.expect_amount(want)
        left_kind, right_kind, scale = self._checker.operand_kinds(node, want)
        left, right = self.build(node.left, left_kind), self.build(node.right, right_kind)
        compute = _COMPUTE[node.sign]
        if scale == 1:
            return lambda point: compute(left(point), right(point))
        return lambda point: compute(left(point), right(point)) * scale


def _named(name: str, kind: str) -> Function:
    if kind == "byte-rate":
        return lambda point: point[name] * 8
    return operator.itemgetter(name)


def _joined(sign: str, functions: list[Function]) -> Function:
    if sign == "and":
        return lambda point: all(function(point) for function in functions)
    return lambda point: any(function(point) for function in functions)


def _equal(left: Any, right: Any) -> bool:
    if left == right:
        return True
    if isinstance(left, float) or isinstance(right, float):
        return math.isclose(left, right, rel_tol=_CLOSE)
    return False


_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "==": _equal,
    "!=": lambda left, right: not _equal(left, right),
    "<": lambda left, right: left < right and not _equal(left, right),
    ">": lambda left, right: left > right and not _equal(left, right),
    "<=": lambda left, right: left < right or _equal(left, right),
    ">=": lambda left, right: left > right or _equal(left, right),
}

_COMPUTE: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
}
