"""Turns a checked tree into Python closures, which are then called with a device.

A closure takes a `Frame` (the work that is left, the device, the variables of macros) and returns a value, or raises
EvaluationError, which `&&`, `||`, `exists` and `all` absorb as in CEL, or AbortError, which nothing absorbs.
"""

from collections.abc import Callable
from typing import Any

from modelplane.cel import chain, loops
from modelplane.cel.calls import call
from modelplane.cel.checker import TYPE_IDENTS
from modelplane.cel.library import FUNCTIONS
from modelplane.cel.library.conversions import FOLDED
from modelplane.cel.library.patterns import WITH_PATTERN, compiled
from modelplane.cel.source import MAX_WORK, refuse
from modelplane.cel.syntax import (
    Bind,
    Call,
    Collect,
    Conditional,
    Ident,
    Index,
    ListOf,
    Literal,
    Logic,
    MapOf,
    Node,
    Quantifier,
    Select,
)
from modelplane.cel.values import (
    AbortError,
    EvaluationError,
    Frame,
    List,
    Map,
    TypeValue,
    Value,
    normal_key,
    not_bool,
    type_name,
)

Code = Callable[[Frame], Value]
_PENDING = object()
#: Functions that return the same value for the same text, which nothing changes: a version.
_VERSIONS = frozenset({"semver", "isSemver"})


class Compiler:
    """Compiles one selector. Raises SelectorError for constants that Kubernetes fails to compute when it compiles."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._scope: dict[str, Code] = {}
        self._slots = 0
        self._constants: dict[Node, Value] = {}
        self._methods: dict[type[Node], Callable[[Any], Code]] = {
            Literal: self._literal,
            Ident: self._ident,
            Select: self._chain,
            Index: self._chain,
            Call: self._call,
            Logic: self._logic,
            Conditional: self._conditional,
            ListOf: self._list,
            MapOf: self._map,
            Quantifier: self._quantifier,
            Collect: self._collect,
            Bind: self._bind,
        }

    @property
    def slots(self) -> int:
        """Return how many variables a frame needs to hold."""
        return self._slots

    def code(self, node: Node) -> Code:
        """Return the closure of a node. What Kubernetes computes when it compiles is computed now."""
        code = self._methods[type(node)](node)
        if not self._is_constant(node):
            return code
        try:
            value = code(Frame(Map({}), [], MAX_WORK))
        except (EvaluationError, AbortError) as error:
            raise refuse(self._text, node.offset, str(error)) from None
        self._constants[node] = value
        return _constant(value)

    def _is_constant(self, node: Node) -> bool:
        """Return whether cel-go's optimizer treats a node as a constant, after its operands."""
        if isinstance(node, Literal):
            return True
        if isinstance(node, Ident):
            return node.name not in self._scope and node.name != "device"
        if isinstance(node, ListOf):
            return all(element in self._constants for element in node.elements)
        if isinstance(node, MapOf):
            return all(key in self._constants and value in self._constants for key, value in node.entries)
        if isinstance(node, Call):
            return (node.function in FOLDED and node.arguments[0] in self._constants) or _in_nothing(node)
        return False

    def _literal(self, node: Literal) -> Code:
        return _constant(node.value)

    def _ident(self, node: Ident) -> Code:
        found = self._scope.get(node.name)
        if found is not None:
            return found
        if node.name == "device":
            return lambda frame: frame.device
        return _constant(TypeValue(TYPE_IDENTS[node.name].name))

    def _chain(self, node: Select | Index) -> Code:
        links: list[chain.Link] = []
        current: Node = node
        while isinstance(current, Select | Index):
            if isinstance(current, Index):
                links.append(self._indexed(current))
            else:
                links.append(chain.Link(_constant(current.field), current.optional, current.test, current.field))
            current = current.operand
            if isinstance(current, Select) and current.test:
                break
        return chain.follow(self.code(current), tuple(reversed(links)))

    def _indexed(self, node: Index) -> chain.Link:
        code = self.code(node.key)
        key = self._constants.get(node.key)
        if node.key in self._constants and not chain.is_key(key):
            raise refuse(self._text, node.key.offset, f"invalid key of type {type_name(key)}")
        return chain.Link(code, node.optional, name=key if type(key) is str else None)

    def _call(self, node: Call) -> Code:
        operands = node.arguments if node.target is None else (node.target, *node.arguments)
        codes = tuple(map(self.code, operands))
        if _in_nothing(node):
            return lambda _: False  # Kubernetes does not even evaluate the value that is looked up in `[]`.
        if node.function in WITH_PATTERN:
            self._check_pattern(operands[1])
        code = call(FUNCTIONS[node.function], codes)
        return _once(code) if node.function in _VERSIONS and self._constants.keys() >= set(operands) else code

    def _check_pattern(self, node: Node) -> None:
        pattern = self._constants.get(node)
        if type(pattern) is str:
            try:
                compiled(pattern)
            except (EvaluationError, AbortError) as error:
                raise refuse(self._text, node.offset, str(error)) from None

    def _logic(self, node: Logic) -> Code:
        terms = tuple(map(self.code, node.terms))
        return lambda frame: loops.decide(frame, terms, decisive=node.decisive)

    def _conditional(self, node: Conditional) -> Code:
        condition, then, otherwise = map(self.code, (node.condition, node.then, node.otherwise))

        def run(frame: Frame) -> Value:
            value = condition(frame)
            if type(value) is not bool:
                raise not_bool(value)
            return then(frame) if value else otherwise(frame)

        return run

    def _list(self, node: ListOf) -> Code:
        elements = tuple(map(self.code, node.elements))

        def run(frame: Frame) -> List:
            made = List(tuple([element(frame) for element in elements]))
            frame.charge(made.weight)
            return made

        return run

    def _map(self, node: MapOf) -> Code:
        entries = tuple((self.code(key), self.code(value)) for key, value in node.entries)

        def run(frame: Frame) -> Map:
            made: dict[Any, tuple[Value, Value]] = {}
            for key, value in entries:
                found = key(frame)
                if normal_key(found) in made or type(found) is float:
                    raise AbortError(f"a map literal with the key {found!r} twice, or of type double")
                made[normal_key(found)] = (found, value(frame))
            result = Map(made)
            frame.charge(result.weight)
            return result

        return run

    def _quantifier(self, node: Quantifier) -> Code:
        over = self.code(node.range)
        slots, predicate = self._inside(node.variables, lambda: self.code(node.predicate))
        loop = loops.Loop(over, slots, node.predicate.size)
        if node.name == "exists_one":
            return loops.exists_one(loop, predicate)
        return loops.quantify(loop, predicate, decisive=node.name == "exists")

    def _collect(self, node: Collect) -> Code:
        over = self.code(node.range)

        def inside() -> tuple[Code | None, Code]:
            return None if node.filter is None else self.code(node.filter), self.code(node.result)

        slots, (keep, result) = self._inside(node.variables, inside)
        cost = node.result.size + (0 if node.filter is None else node.filter.size)
        return loops.collect(loops.Loop(over, slots, cost), keep, result, to_map=node.to_map)

    def _inside(self, variables: tuple[str, ...], compile_body: Callable[[], Any]) -> tuple[tuple[int, ...], Any]:
        """Return new slots for the variables of a loop, and its body compiled with them in scope."""
        slots = tuple(self._slot() for _ in variables)
        outer = self._scope
        self._scope = outer | dict(zip(variables, map(_variable, slots), strict=True))
        body = compile_body()
        self._scope = outer
        return slots, body

    def _bind(self, node: Bind) -> Code:
        value = self.code(node.value)
        slot = self._slot()
        outer = self._scope
        self._scope = outer | {node.variable: _bound(slot, value)}
        body = self.code(node.body)
        self._scope = outer

        def run(frame: Frame) -> Value:
            frame.variables[slot] = _PENDING
            return body(frame)

        return run

    def _slot(self) -> int:
        self._slots += 1
        return self._slots - 1


def _constant(value: Value) -> Code:
    return lambda _: value


def _once(code: Code) -> Code:
    """Return the code of a call that always returns the same value; each call is charged the same work."""
    frame = Frame(Map({}), [], MAX_WORK)
    try:
        value = code(frame)
    except (EvaluationError, AbortError):
        return code  # An error when it is evaluated, as in Kubernetes, not when it is compiled.
    cost = MAX_WORK - frame.work

    def run(frame: Frame) -> Value:
        frame.charge(cost)
        return value

    return run


def _in_nothing(node: Call) -> bool:
    return node.function == "_in_" and isinstance(node.arguments[1], ListOf) and not node.arguments[1].elements


def _variable(slot: int) -> Code:
    return lambda frame: frame.variables[slot]


def _bound(slot: int, value: Code) -> Code:
    """Read a variable of `cel.bind`: its value, or its error, is computed when it is first read."""

    def read(frame: Frame) -> Value:
        found = frame.variables[slot]
        if found is _PENDING:
            try:
                found = value(frame)
            except EvaluationError as error:
                found = error
            if type(found) is List and not found.items:
                found = List((), growing=True)
            frame.variables[slot] = found
        if type(found) is EvaluationError:
            raise found
        return found

    return read
