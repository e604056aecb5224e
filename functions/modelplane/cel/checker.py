"""Static types: refuses what Kubernetes' CEL checker refuses, and names what this engine does not have.

The rules are CEL's: an overload is chosen by the types of the arguments, several that fit give `dyn`, and a type
variable stays bound. An attribute is of type `any`: it fits everywhere, and its type is known only at run time.
"""

from collections.abc import Callable
from typing import Any

from modelplane.cel import types
from modelplane.cel.hints import remedy
from modelplane.cel.library import FUNCTIONS, NOT_SUPPORTED
from modelplane.cel.source import MAX_CHECKED, MAX_COMPREHENSIONS, refuse
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
from modelplane.cel.types import ANY, BOOL, BYTES, DOUBLE, DYN, INT, NULL, STRING, UINT, Bindings, Type
from modelplane.cel.values import Uint
from modelplane.cel.verdict import SelectorError

_LITERALS = {bool: BOOL, int: INT, Uint: UINT, float: DOUBLE, str: STRING, bytes: BYTES, type(None): NULL}
_ATTRIBUTES = types.map_of(STRING, types.map_of(STRING, ANY))
_CAPACITY = types.map_of(STRING, types.map_of(STRING, types.QUANTITY))
_FIELDS = {"driver": STRING, "attributes": _ATTRIBUTES, "capacity": _CAPACITY, "allowMultipleAllocations": BOOL}
_KEYS = frozenset({"bool", "int", "uint", "string", "dyn", "any"})
_INDEXES = _KEYS | {"double"}
#: The types that expressions can name.
TYPE_IDENTS: dict[str, Type] = {
    **{kind.name: kind for kind in (BOOL, INT, UINT, DOUBLE, STRING, BYTES, NULL)},
    "list": types.list_of(DYN),
    "map": types.map_of(DYN, DYN),
    "type": types.type_of(DYN),
    "optional_type": types.optional_of(DYN),
}


def check(text: str, root: Node) -> None:
    """Refuse a tree that Kubernetes would not compile, or would not take as a selector. Raises SelectorError."""
    checker = _Checker(text)
    kind = checker.resolved(root)
    checker.finish()
    result = checker.bindings.resolve(kind, open_is_dyn=True)
    if result not in (BOOL, ANY):
        raise refuse(text, root.offset, f"must evaluate to bool or the unknown type, not {result}")


class _Checker:
    def __init__(self, text: str) -> None:
        self.bindings = Bindings()
        self._text = text
        self._scope: dict[str, Type] = {}
        self._count = 0
        self._loops = 0
        self._uniform: list[tuple[Node, Type, Type]] = []
        self._variables: list[tuple[Node, Type]] = []
        self._presence: set[Node] = set()
        self._methods: dict[type[Node], Callable[[Any], Type]] = {
            Literal: lambda node: _LITERALS[type(node.value)],
            Ident: self._ident,
            Select: self._select,
            Index: self._index,
            Call: self._call,
            Logic: self._logic,
            Conditional: self._conditional,
            ListOf: self._list,
            MapOf: self._map,
            Quantifier: self._quantifier,
            Collect: self._collect,
            Bind: self._bind,
        }

    def resolved(self, node: Node) -> Type:
        """Return a node's type, as far as it is known by now."""
        self._count += 1
        if self._count > MAX_CHECKED:
            raise refuse(self._text, node.offset, f"limit: macros expand to more than {MAX_CHECKED} nodes")
        return self.bindings.resolve(self._methods[type(node)](node))

    def finish(self) -> None:
        """Refuse what is known only at the end.

        That is a list or map literal with elements of different types, `any` included, and a variable that holds a
        type: Kubernetes looks such a variable's name up among the types, and fails.
        """
        for node, one, other in self._uniform:
            first, second = (self.bindings.resolve(kind, open_is_dyn=True) for kind in (one, other))
            if first != second:
                raise refuse(self._text, node.offset, f"expected type {first} but found {second}")
        for node, kind in self._variables:
            if self.bindings.resolve(kind).name == "type":
                raise refuse(self._text, node.offset, "reference to undefined type: a variable that holds a type")

    def _ident(self, node: Ident) -> Type:
        found = self._scope.get(node.name)
        if found is not None:
            self._variables.append((node, found))
            return found
        if node.name == "device":
            return types.DEVICE
        if node.name in TYPE_IDENTS:
            return types.type_of(TYPE_IDENTS[node.name])
        raise self._undeclared(node, node.name)

    def _select(self, node: Select) -> Type:
        operand = self.resolved(node.operand)
        wrapped = operand.name == "optional_type"
        kind = operand.params[0] if wrapped else operand
        if kind.name == "map":
            result = kind.params[1]
        elif kind == types.DEVICE:
            if node.field not in _FIELDS:
                raise refuse(self._text, node.offset, f"undefined field {node.field!r}")
            result = _FIELDS[node.field]
        elif kind.variable or types.is_dynamic(kind):
            self.bindings.assign((kind,), (DYN,))
            result = DYN
        else:
            raise refuse(self._text, node.offset, f"type {kind} does not support field selection")
        if node.test:
            if wrapped:
                self._presence.add(node)
            return BOOL
        return types.optional_of(result) if wrapped or node.optional else result

    def _index(self, node: Index) -> Type:
        given = self.resolved(node.operand), self.resolved(node.key)
        if not given[1].variable and given[1].name not in _INDEXES:
            raise refuse(self._text, node.key.offset, f"invalid key of type {given[1]}")
        kind = self._overload(node, "_[?_]" if node.optional else "_[_]", given)
        self._check_presence(node.key)
        return kind

    def _call(self, node: Call) -> Type:
        if node.function not in FUNCTIONS:
            raise self._undeclared(node, node.function)
        # The arguments are resolved before the target, which is checked with the variables that they bind.
        given = tuple(map(self.resolved, node.arguments))
        if node.target is not None:
            given = (self.resolved(node.target), *given)
        return self._overload(node, node.function, given, member=node.target is not None)

    def _overload(self, node: Node, name: str, given: tuple[Type, ...], *, member: bool = False) -> Type:
        """Return the result of the overloads that fit: their common type, or `dyn`. Raises SelectorError for none."""
        result: Type | None = None
        for overload in FUNCTIONS[name].overloads:
            if overload.member is not member:
                continue
            fresh: dict[Type, Type] = {}
            params = tuple(self._instance(param, fresh) for param in overload.params)
            if not self.bindings.assign(params, given):
                continue
            kind = self.bindings.resolve(self._instance(overload.result, fresh))
            if result is None:
                result = kind
            elif not types.is_dynamic(result) and kind != result:
                result = DYN
        if result is None:
            shown = ", ".join(str(self.bindings.resolve(kind, open_is_dyn=True)) for kind in given)
            why = f"found no matching overload for {name!r} applied to ({shown})"
            raise refuse(self._text, node.offset, f"{why}{remedy(name, given)}")
        return result

    def _instance(self, kind: Type, fresh: dict[Type, Type]) -> Type:
        if kind.variable:
            if kind not in fresh:
                fresh[kind] = self.bindings.fresh()
            return fresh[kind]
        return Type(kind.name, tuple(self._instance(param, fresh) for param in kind.params)) if kind.params else kind

    def _logic(self, node: Logic) -> Type:
        for term in node.terms:
            self._boolean(term)
        return BOOL

    def _boolean(self, node: Node) -> None:
        kind = self.resolved(node)
        if not self.bindings.assign((BOOL,), (kind,)):
            raise refuse(self._text, node.offset, f"expected type bool but found {kind}")

    def _conditional(self, node: Conditional) -> Type:
        self._boolean(node.condition)
        one, other = self.resolved(node.then), self.resolved(node.otherwise)
        self._check_presence(node.then, node.otherwise)
        return self._either(node, one, other)

    def _check_presence(self, *nodes: Node) -> None:
        """Refuse `has(a.?b.c)` as a branch or a key, where it is an optional instead of a bool in Kubernetes."""
        for node in nodes:
            if node in self._presence:
                raise refuse(self._text, node.offset, "has() of an optional is not supported here")

    def _either(self, node: Node, one: Type, other: Type) -> Type:
        common = self.bindings.fresh()
        if not self.bindings.assign((common, common), (one, other)):
            raise refuse(self._text, node.offset, f"found no common type of {one} and {other}")
        return self.bindings.resolve(common)

    def _list(self, node: ListOf) -> Type:
        return types.list_of(self._joined(node.elements))

    def _map(self, node: MapOf) -> Type:
        key = self._joined(tuple(key for key, _ in node.entries))
        shown = self.bindings.resolve(key, open_is_dyn=True)
        if shown.name not in _KEYS:
            raise refuse(self._text, node.offset, f"map keys of type {shown} are not supported")
        return types.map_of(key, self._joined(tuple(value for _, value in node.entries)))

    def _joined(self, nodes: tuple[Node, ...]) -> Type:
        """Return the common type of a literal's elements, a new variable if it has none."""
        kinds = [self.resolved(node) for node in nodes]
        if not kinds:
            return self.bindings.fresh()
        joined = kinds[0]
        for node, kind in zip(nodes[1:], kinds[1:], strict=True):
            if not self.bindings.assign((kind,), (joined,)):
                raise refuse(self._text, node.offset, f"expected type {joined} but found {kind}")
            joined = types.more_general(joined, kind)
            self._uniform.append((node, kinds[0], kind))
        return joined

    def _iterated(self, node: Node, variables: tuple[str, ...]) -> dict[str, Type]:
        """Return the types of a macro's variables over a range."""
        kind = self.resolved(node)
        if kind.name == "list":
            found = (INT, *kind.params) if len(variables) == 2 else kind.params
        elif kind.name == "map":
            found = kind.params
        elif kind.variable or kind == DYN:
            self.bindings.assign((kind,), (DYN,))
            found = (DYN, DYN)
        else:
            raise refuse(self._text, node.offset, f"expression of type {kind} cannot be the range of a comprehension")
        return dict(zip(variables, found, strict=False))

    def _within(self, node: Quantifier | Collect, inside: Callable[[], Type]) -> Type:
        """Return the result of `inside` with the macro's variables in scope. Refuses macros nested too deeply."""
        variables = self._iterated(node.range, node.variables)
        if self._loops == MAX_COMPREHENSIONS:
            why = f"limit: comprehension nested deeper than {MAX_COMPREHENSIONS}"
            raise refuse(self._text, node.offset, why)
        self._loops += 1
        kind = self._scoped(variables, inside)
        self._loops -= 1
        return kind

    def _scoped(self, variables: dict[str, Type], inside: Callable[[], Type]) -> Type:
        outer = self._scope
        self._scope = outer | variables
        kind = inside()
        self._scope = outer
        return kind

    def _quantifier(self, node: Quantifier) -> Type:
        def inside() -> Type:
            self._boolean(node.predicate)
            return BOOL

        return self._within(node, inside)

    def _collect(self, node: Collect) -> Type:
        def inside() -> Type:
            if node.filter is not None:
                self._boolean(node.filter)
            kind = self.resolved(node.result)
            key = self._scope[node.variables[0]]
            return types.map_of(key, kind) if node.to_map else types.list_of(kind)

        return self._within(node, inside)

    def _bind(self, node: Bind) -> Type:
        kind = self.resolved(node.value)
        self._variables.append((node, kind))
        return self._scoped({node.variable: kind}, lambda: self.resolved(node.body))

    def _undeclared(self, node: Node, name: str) -> SelectorError:
        missing = "is not supported" if name in NOT_SUPPORTED else "is not declared"
        return refuse(self._text, node.offset, f"{name!r} {missing}")
