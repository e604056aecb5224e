"""The macros of CEL: calls that are expanded instead of evaluating their arguments."""

from collections.abc import Callable

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

#: The name of the accumulator in CEL's own expansions.
_ACCUMULATOR = "__result__"

Arguments = tuple[Node, ...]


class MacroError(Exception):
    """A macro whose arguments have the wrong form. `node` is the argument."""

    def __init__(self, node: Node, why: str) -> None:
        super().__init__(why)
        self.node = node
        self.why = why


def expand(call: Call) -> Node:
    """Return the expansion of a macro call, and any other call unchanged. Raises MacroError."""
    if call.target is None:
        return _has(call) if call.function == "has" and len(call.arguments) == 1 else call
    macro = _MACROS.get((call.function, len(call.arguments)))
    return call if macro is None else macro(call, call.target, call.arguments)


def _has(call: Call) -> Node:
    operand = call.arguments[0]
    if not isinstance(operand, Select) or operand.optional or operand.test:
        raise MacroError(operand, "invalid argument to has() macro")
    return Select(operand.offset, operand.operand, operand.field, test=True)


def _quantifier(call: Call, target: Node, arguments: Arguments) -> Node:
    name = "exists_one" if call.function == "existsOne" else call.function
    return Quantifier(call.offset, name, _names(arguments[:-1]), target, arguments[-1])


def _map(call: Call, target: Node, arguments: Arguments) -> Node:
    return Collect(call.offset, _names(arguments[:1]), target, _filter(arguments[1:]), arguments[-1])


def _kept(call: Call, target: Node, arguments: Arguments) -> Node:
    return Collect(call.offset, _names(arguments[:1]), target, arguments[1], arguments[0])


def _transform(call: Call, target: Node, arguments: Arguments) -> Node:
    to_map = call.function == "transformMap"
    return Collect(call.offset, _names(arguments[:2]), target, _filter(arguments[2:]), arguments[-1], to_map)


def _bind(call: Call, target: Node, arguments: Arguments) -> Node:
    if not isinstance(target, Ident) or target.name != "cel":
        return call
    return Bind(call.offset, _name(arguments[0]), arguments[1], arguments[2])


def _not_supported(call: Call, _target: Node, _arguments: Arguments) -> Node:
    raise MacroError(call, f"{call.function!r} is not supported")


def _optional_map(call: Call, target: Node, arguments: Arguments) -> Node:
    at, (variable, body) = call.offset, arguments
    value = Bind(at, _name(variable), Call(at, "value", target, ()), body)
    mapped: Node = value if call.function == "optFlatMap" else Call(at, "optional.of", None, (value,))
    return Conditional(at, Call(at, "hasValue", target, ()), mapped, Call(at, "optional.none", None, ()))


def _filter(arguments: Arguments) -> Node | None:
    return arguments[0] if len(arguments) == 2 else None


def _names(arguments: Arguments) -> tuple[str, ...]:
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


#: Macros by name and number of arguments; all are called on a target.
_MACROS: dict[tuple[str, int], Callable[[Call, Node, Arguments], Node]] = {
    **{(name, count): _quantifier for name in ("all", "exists", "exists_one") for count in (2, 3)},
    ("existsOne", 3): _quantifier,
    ("map", 2): _map,
    ("map", 3): _map,
    ("filter", 2): _kept,
    **{(name, count): _transform for name in ("transformList", "transformMap") for count in (3, 4)},
    ("bind", 3): _bind,
    ("optMap", 2): _optional_map,
    ("optFlatMap", 2): _optional_map,
    ("transformMapEntry", 3): _not_supported,
    ("transformMapEntry", 4): _not_supported,
    ("sortBy", 2): _not_supported,
}
