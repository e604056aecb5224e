"""Builds the tree of a selector as the parser reduces the rules of cel-python's grammar, one method a rule."""

from typing import Any

from modelplane.cel import macros
from modelplane.cel.library import FUNCTIONS, NOT_SUPPORTED
from modelplane.cel.source import MAX_DEPTH
from modelplane.cel.syntax import Call, Conditional, Ident, Index, ListOf, Literal, Logic, MapOf, Node, Select
from modelplane.cel.tokens import Token

_RESERVED = frozenset(
    {
        *("as", "break", "const", "continue", "else", "for", "function", "if", "import", "let", "loop", "package"),
        *("namespace", "return", "var", "void", "while"),
    }
)


class TreeError(Exception):
    """What CEL's parser refuses beyond its grammar, or what is not supported; `offset` is its position."""

    def __init__(self, offset: int, why: str) -> None:
        super().__init__(why)
        self.offset = offset
        self.why = why


class TreeBuilder:
    """Callbacks by rule name. Each gets the children of a rule: nodes, lists of nodes, and terminals.

    Stateless, as parsers in several threads share it.
    """

    def expr(self, children: list[Any]) -> Node:
        """Return `a ? b : c`."""
        if len(children) == 1:
            return _node(children[0])
        condition, sign, then, _, otherwise = children
        return _grown(Conditional(_offset(sign), condition, then, otherwise), condition, then, otherwise)

    def conditionalor(self, children: list[Any]) -> Node:
        """Return `a || b`."""
        return _logic(children, decisive=True)

    def conditionaland(self, children: list[Any]) -> Node:
        """Return `a && b`."""
        return _logic(children, decisive=False)

    def relation(self, children: list[Any]) -> Node:
        """Return `a < b`, also an addition or multiplication: the children are (left side, operator) and right side."""
        if len(children) == 1:
            return _node(children[0])
        (left, sign), right = children
        name = f"_{sign.value.written}_"
        return _grown(Call(_offset(sign), name, None, (left, right)), left, right)

    addition = multiplication = relation

    def relation_lt(self, children: list[Any]) -> list[Any]:
        """Return a left side with its operator."""
        return children

    relation_le = relation_gt = relation_ge = relation_eq = relation_ne = relation_in = relation_lt
    addition_add = addition_sub = relation_lt
    multiplication_mul = multiplication_div = multiplication_mod = relation_lt

    def unary(self, children: list[Any]) -> Node:
        """Return `!a` or `-a`."""
        if len(children) == 1:
            return _node(children[0])
        sign, operand = children
        name = f"{sign.value.written}_"
        if isinstance(operand, Call) and operand.function == name and not operand.grouped:
            # CEL drops two signs in a row: `!!x` is x of whatever type, while `!(!x)` is a bool or an error.
            return operand.arguments[0]
        return _grown(Call(_offset(sign), name, None, (operand,)), operand)

    def unary_not(self, children: list[Any]) -> Any:
        """Return the sign."""
        return children[0]

    unary_neg = unary_not

    def member(self, children: list[Any]) -> Node:
        """Return the one node."""
        return _node(children[0])

    primary = member

    def member_dot(self, children: list[Any]) -> Node:
        """Return `a.b` or `a.?b`."""
        operand, _, name = children
        return _grown(Select(_offset(name), operand, name.value.written, name.value.optional), operand)

    def member_dot_arg(self, children: list[Any]) -> Node:
        """Return `a.f(...)`."""
        operand, _, name, *rest = children
        if name.value.optional:
            raise TreeError(_offset(name), "unexpected '(' after an optional field")
        return _called(_offset(name), name.value.written, operand, _arguments(rest))

    def member_index(self, children: list[Any]) -> Node:
        """Return `a[b]` or `a[?b]`."""
        operand, bracket, key, _ = children
        return _grown(Index(_offset(bracket), operand, key, bracket.value.optional), operand, key)

    def member_object(self, children: list[Any]) -> Node:
        """Refuse `Message{...}`."""
        raise TreeError(_offset(children[1]), "messages are not supported")

    def dot_ident(self, children: list[Any]) -> Node:
        """Refuse `.name`."""
        raise TreeError(_offset(children[0]), "a leading dot is not supported")

    dot_ident_arg = dot_ident

    def ident(self, children: list[Any]) -> Node:
        """Return a name."""
        return Ident(_offset(children[0]), _unreserved(children[0]))

    def ident_arg(self, children: list[Any]) -> Node:
        """Return `f(...)`."""
        name, *rest = children
        return _called(_offset(name), _unreserved(name), None, _arguments(rest))

    def paren_expr(self, children: list[Any]) -> Node:
        """Return `a` of `(a)`, which counts as nesting although it makes no node."""
        inner = _node(children[1])
        inner.depth += 1
        inner.grouped = True
        return _checked(inner)

    def list_lit(self, children: list[Any]) -> Node:
        """Return `[a, b]`."""
        elements = _arguments(children)
        return _grown(ListOf(_offset(children[0]), elements), *elements)

    def map_lit(self, children: list[Any]) -> Node:
        """Return `{a: b}`."""
        nodes = children[1] if len(children) == 3 else []
        return _grown(MapOf(_offset(children[0]), tuple(zip(nodes[::2], nodes[1::2], strict=True))), *nodes)

    def exprlist(self, children: list[Any]) -> list[Any]:
        """Return the nodes between the commas (and colons)."""
        return children[::2]

    mapinits = exprlist

    def fieldinits(self, children: list[Any]) -> list[Any]:
        """Return None: messages are refused."""
        return children[:0]

    def literal(self, children: list[Any]) -> Node:
        """Return a constant."""
        return Literal(_offset(children[0]), children[0].value.value)


def _node(child: Any) -> Node:
    node: Node = child
    return node


def _offset(terminal: Any) -> int:
    token: Token = terminal.value
    return token.offset


def _arguments(children: list[Any]) -> tuple[Node, ...]:
    """Return the nodes of `( exprlist )`, which has no list when it is empty."""
    return tuple(children[1]) if len(children) == 3 else ()


def _unreserved(terminal: Any) -> str:
    token: Token = terminal.value
    if token.written in _RESERVED:
        raise TreeError(token.offset, f"reserved identifier: {token.written}")
    return token.written


def _logic(children: list[Any], *, decisive: bool) -> Node:
    """Join a chain into one node, which nests no deeper and is evaluated in order, as in CEL."""
    if len(children) == 1:
        return _node(children[0])
    left, sign, right = children
    parts = [each.terms if isinstance(each, Logic) and each.decisive is decisive else (each,) for each in (left, right)]
    return _grown(Logic(_offset(sign), decisive, parts[0] + parts[1]), *parts[0], *parts[1])


def _called(offset: int, name: str, target: Node | None, arguments: tuple[Node, ...]) -> Node:
    prefix = _qualified(target)
    if prefix and (f"{prefix}.{name}" in FUNCTIONS or f"{prefix}.{name}" in NOT_SUPPORTED):
        call = Call(offset, f"{prefix}.{name}", None, arguments)
    else:
        call = Call(offset, name, target, arguments)
    try:
        expanded = macros.expand(call)
    except macros.MacroError as error:
        raise TreeError(error.node.offset, error.why) from None
    children = arguments if call.target is None else (call.target, *arguments)
    if isinstance(expanded, Conditional):
        expanded.depth += 3  # optMap and optFlatMap stand for four nested nodes.
    return _grown(expanded, *children)


def _qualified(node: Node | None) -> str:
    """Return `a.b` for a chain of plain names, as functions may be called, else nothing."""
    if isinstance(node, Ident):
        return node.name
    if isinstance(node, Select) and not node.optional and not node.test:
        prefix = _qualified(node.operand)
        return f"{prefix}.{node.field}" if prefix else ""
    return ""


def _grown(node: Node, *children: Node) -> Node:
    node.depth += max((child.depth for child in children), default=0)
    node.size += sum(child.size for child in children)
    return _checked(node)


def _checked(node: Node) -> Node:
    if node.depth > MAX_DEPTH:
        raise TreeError(node.offset, f"limit: nested deeper than {MAX_DEPTH}")
    return node
