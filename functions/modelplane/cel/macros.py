"""The macros of CEL: calls whose arguments are not evaluated as arguments."""

from modelplane.cel.syntax import (
    Bind,
    Call,
    Collect,
    Conditional,
    Ident,
    Node,
    Quantifier,
    Select,
)

#: What CEL's own expansions call their accumulator.
_ACCUMULATOR = "__result__"


class MacroError(Exception):
    """A macro whose arguments have the wrong form. `node` is the argument."""

    def __init__(self, node: Node, why: str) -> None:
        super().__init__(why)
        self.node = node
        self.why = why


def expand(call: Call) -> Node:
    """Return the node of a macro call, and any other call as it is. Raises MacroError."""
    name, target, arguments = call.function, call.target, call.arguments
    if target is None:
        return _has(call) if name == "has" and len(arguments) == 1 else call
    if name in {"all", "exists", "exists_one"} and len(arguments) == 2:
        return Quantifier(call.offset, name, _names(arguments[:1]), target, arguments[1])
    if name in {"all", "exists", "exists_one", "existsOne"} and len(arguments) == 3:
        plain = "exists_one" if name == "existsOne" else name
        return Quantifier(call.offset, plain, _names(arguments[:2]), target, arguments[2])
    if name == "map" and len(arguments) in {2, 3}:
        return Collect(call.offset, _names(arguments[:1]), target, _filter(arguments[1:]), arguments[-1])
    if name == "filter" and len(arguments) == 2:
        return Collect(call.offset, _names(arguments[:1]), target, arguments[1], arguments[0])
    if name in {"transformList", "transformMap"} and len(arguments) in {3, 4}:
        to_map = name == "transformMap"
        return Collect(call.offset, _names(arguments[:2]), target, _filter(arguments[2:]), arguments[-1], to_map)
    if name in {"optMap", "optFlatMap"} and len(arguments) == 2:
        return _optional_map(call, target, *arguments)
    if name == "bind" and len(arguments) == 3 and isinstance(target, Ident) and target.name == "cel":
        return Bind(call.offset, _name(arguments[0]), arguments[1], arguments[2])
    if name == "transformMapEntry" and len(arguments) in {3, 4}:
        raise MacroError(call, "transformMapEntry is not supported")
    if name == "sortBy" and len(arguments) == 2:
        raise MacroError(call, "sortBy is not supported")
    return call


def _has(call: Call) -> Node:
    operand = call.arguments[0]
    if not isinstance(operand, Select) or operand.optional or operand.test:
        raise MacroError(operand, "invalid argument to has() macro")
    return Select(operand.offset, operand.operand, operand.field, test=True)


def _optional_map(call: Call, target: Node, variable: Node, body: Node) -> Node:
    at = call.offset
    value = Bind(at, _name(variable), Call(at, "value", target, ()), body)
    mapped: Node = value if call.function == "optFlatMap" else Call(at, "optional.of", None, (value,))
    return Conditional(at, Call(at, "hasValue", target, ()), mapped, Call(at, "optional.none", None, ()))


def _filter(arguments: tuple[Node, ...]) -> Node | None:
    return arguments[0] if len(arguments) == 2 else None


def _names(arguments: tuple[Node, ...]) -> tuple[str, ...]:
    names = tuple(_name(argument) for argument in arguments)
    if len(set(names)) < len(names):
        raise MacroError(arguments[-1], f"duplicate variable name: {names[-1]}")
    return names


def _name(argument: Node) -> str:
    if not isinstance(argument, Ident):
        raise MacroError(argument, "argument must be a simple name")
    if argument.name == _ACCUMULATOR:
        raise MacroError(argument, "iteration variable overwrites accumulator variable")
    return argument.name
