"""The tree of a selector, which the parser builds, the checker types and the evaluator compiles."""

from dataclasses import dataclass, field

from modelplane.cel.values import Value


@dataclass(slots=True, eq=False)
class Node:
    """An expression. `offset` is its position in the text, `depth` how deep it nests, `size` its number of nodes.

    `grouped`: it is in parentheses. Nodes are compared by identity: a macro may use one operand twice.
    """

    offset: int
    depth: int = field(default=1, init=False)
    size: int = field(default=1, init=False)
    grouped: bool = field(default=False, init=False)


@dataclass(slots=True, eq=False)
class Literal(Node):
    """A constant."""

    value: Value


@dataclass(slots=True, eq=False)
class Ident(Node):
    """A name: `device`, a variable of a macro, or a type."""

    name: str


@dataclass(slots=True, eq=False)
class Select(Node):
    """`operand.field`; with `optional` `operand.?field`; with `test` `has(operand.field)`."""

    operand: Node
    field: str
    optional: bool = False
    test: bool = False


@dataclass(slots=True, eq=False)
class Index(Node):
    """`operand[key]`; with `optional` `operand[?key]`."""

    operand: Node
    key: Node
    optional: bool = False


@dataclass(slots=True, eq=False)
class Call(Node):
    """`function(...)`, `target.function(...)`, or an operator under CEL's name for it, such as `_+_`."""

    function: str
    target: Node | None
    arguments: tuple[Node, ...]


@dataclass(slots=True, eq=False)
class Logic(Node):
    """A chain of `&&` (`decisive` False: the value that ends it) or of `||` (True)."""

    decisive: bool
    terms: tuple[Node, ...]


@dataclass(slots=True, eq=False)
class Conditional(Node):
    """`condition ? then : otherwise`."""

    condition: Node
    then: Node
    otherwise: Node


@dataclass(slots=True, eq=False)
class ListOf(Node):
    """A list literal."""

    elements: tuple[Node, ...]


@dataclass(slots=True, eq=False)
class MapOf(Node):
    """A map literal: keys and values."""

    entries: tuple[tuple[Node, Node], ...]


@dataclass(slots=True, eq=False)
class Quantifier(Node):
    """`all`, `exists` or `exists_one`. Two `variables` are an index or key, and its value."""

    name: str
    variables: tuple[str, ...]
    range: Node
    predicate: Node


@dataclass(slots=True, eq=False)
class Collect(Node):
    """`map`, `filter`, `transformList` (`to_map` false) or `transformMap`: `result` of what passes `filter`."""

    variables: tuple[str, ...]
    range: Node
    filter: Node | None
    result: Node
    to_map: bool = False


@dataclass(slots=True, eq=False)
class Bind(Node):
    """`cel.bind(variable, value, body)`; the value is computed when the body first reads it."""

    variable: str
    value: Node
    body: Node
