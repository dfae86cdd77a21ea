"""Build the tree of an exclusion from its tokens."""

from collections.abc import Callable
from dataclasses import dataclass

from apps.bench.sweep.exclusions.tokens import ExclusionError, ExclusionToken, split_tokens
from apps.bench.text import Message, _

DEEPEST = 30

COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")


@dataclass(frozen=True)
class Quantity:
    """A number as written, with its unit if it has one."""

    text: str


@dataclass(frozen=True)
class Name:
    """A parameter, or a text written without quotes."""

    text: str


@dataclass(frozen=True)
class QuotedText:
    """A text in quotes."""

    text: str


@dataclass(frozen=True)
class Negative:
    """Minus an operand."""

    operand: "Node"


@dataclass(frozen=True)
class Arithmetic:
    """One of + - * / between two operands."""

    sign: str
    left: "Node"
    right: "Node"


@dataclass(frozen=True)
class ComparisonChain:
    """A chain of comparisons: ``operands[i] signs[i] operands[i + 1]`` for every i."""

    operands: "tuple[Node, ...]"
    signs: tuple[str, ...]


@dataclass(frozen=True)
class MembershipTest:
    """Whether an operand equals one of the items, or none of them if negated."""

    operand: "Node"
    items: "tuple[Node, ...]"
    is_negated: bool


@dataclass(frozen=True)
class Not:
    """The opposite of a condition."""

    operand: "Node"


@dataclass(frozen=True)
class Junction:
    """Conditions joined by "and" or by "or"."""

    sign: str
    operands: "tuple[Node, ...]"


_LEAVES: dict[str, type[Quantity] | type[Name] | type[QuotedText]] = {
    "quantity": Quantity,
    "name": Name,
    "text": QuotedText,
}

Node = Quantity | Name | QuotedText | Negative | Arithmetic | ComparisonChain | MembershipTest | Not | Junction


def parse_exclusion(text: str) -> Node:
    """Return the tree of an exclusion; ExclusionError names the place where it can not be read."""
    parser = _Parser(split_tokens(text))
    if parser.next.kind == "end":
        raise ExclusionError(Message(_("Nothing was entered: write a condition such as streams > 4, or remove it.")))
    node = parser.read_either()
    if parser.next.kind != "end":
        raise parser.unexpected(_("“%(near)s” does not fit here: join conditions by and, or."))
    return node


class _Parser:
    """A recursive descent over the tokens, one method a precedence, loosest first."""

    def __init__(self, tokens: list[ExclusionToken]) -> None:
        self._tokens = tokens
        self._position = 0
        self._depth = 0

    @property
    def next(self) -> ExclusionToken:
        return self._tokens[self._position]

    def unexpected(self, msgid: str) -> ExclusionError:
        return ExclusionError(Message(msgid, {"near": self.next.text}))

    def read_either(self) -> Node:
        self._depth += 1
        if self._depth > DEEPEST:
            raise ExclusionError(Message(_("This exclusion is nested too deeply: write several exclusions.")))
        node = self._read_junction("or", lambda: self._read_junction("and", self._read_negation))
        self._depth -= 1
        return node

    def _read_junction(self, sign: str, read_operand: Callable[[], Node]) -> Node:
        operands = [read_operand()]
        while self._take(sign):
            operands.append(read_operand())
        return Junction(sign, tuple(operands)) if len(operands) > 1 else operands[0]

    def _read_negation(self) -> Node:
        is_negated = False
        has_not = False
        while self._take("not"):
            has_not, is_negated = True, not is_negated
        node = self._read_comparison()
        if has_not:
            node = Not(node) if is_negated else Not(Not(node))
        return node

    def _read_comparison(self) -> Node:
        operands = [self._read_sum()]
        signs = []
        while self.next.kind == "sign" and self.next.text in COMPARISONS:
            signs.append(self._advance().text)
            operands.append(self._read_sum())
        if signs:
            return ComparisonChain(tuple(operands), tuple(signs))
        is_negated = self._take("not")
        if self._take("in"):
            return MembershipTest(operands[0], self._read_items(), is_negated)
        if is_negated:
            raise self.unexpected(
                _("Write “in” and a list in parentheses after “not”, as in cc not in (cubic, bbr).")
            )
        return operands[0]

    def _read_items(self) -> tuple[Node, ...]:
        if not self._take("("):
            raise self.unexpected(_("Put the list after “in” into parentheses, as in streams in (1, 2)."))
        items = [self._read_sum()]
        while self._take(","):
            items.append(self._read_sum())
        self._close()
        return tuple(items)

    def _read_sum(self) -> Node:
        node = self._read_product()
        while self.next.kind == "sign" and self.next.text in ("+", "-"):
            node = Arithmetic(self._advance().text, node, self._read_product())
        return node

    def _read_product(self) -> Node:
        node = self._read_operand()
        while self.next.kind == "sign" and self.next.text in ("*", "/"):
            node = Arithmetic(self._advance().text, node, self._read_operand())
        return node

    def _read_operand(self) -> Node:
        if self._take("-"):
            if self.next.text == "-":
                raise self.unexpected(_("“%(near)s” does not fit here: write one minus sign."))
            return Negative(self._read_operand())
        if self._take("("):
            node = self.read_either()
            self._close()
            return node
        token = self.next
        leaf = _LEAVES.get(token.kind)
        if leaf is None:
            if token.kind == "end":
                raise ExclusionError(Message(_("The condition breaks off: finish it, as in streams > 4.")))
            raise self.unexpected(_("“%(near)s” does not fit here: write a name or a number before and after it."))
        self._advance()
        return leaf(token.text)

    def _close(self) -> None:
        if not self._take(")"):
            raise self.unexpected(_("A parenthesis is not closed: add “)”."))

    def _take(self, sign: str) -> bool:
        """Step over a sign or keyword if it comes next, and tell whether it did."""
        is_next = self.next.kind == "sign" and self.next.text == sign
        if is_next:
            self._position += 1
        return is_next

    def _advance(self) -> ExclusionToken:
        token = self.next
        self._position += 1
        return token
