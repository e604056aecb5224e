"""The types that selectors are checked with, and which may be used where another is expected.

Assignability is CEL's: type variables are bound as arguments are matched, `dyn` and `any` (the type of an attribute)
fit everything, and a variable stays bound for the rest of the expression.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Type:
    """A type: its name and its parameters. A `variable` stands for a type that is not known yet."""

    name: str
    params: tuple["Type", ...] = ()
    variable: bool = False

    def __str__(self) -> str:
        return f"{self.name}({', '.join(map(str, self.params))})" if self.params else self.name


BOOL, INT, UINT, DOUBLE, STRING, BYTES = map(Type, ("bool", "int", "uint", "double", "string", "bytes"))
NULL, DYN, ANY = map(Type, ("null_type", "dyn", "any"))
QUANTITY, SEMVER, DEVICE = map(Type, ("kubernetes.Quantity", "kubernetes.Semver", "device"))
_NULLABLE = frozenset({NULL.name, QUANTITY.name, SEMVER.name, DEVICE.name, "optional_type"})


def list_of(element: Type) -> Type:
    """Return the type of lists of a type."""
    return Type("list", (element,))


def map_of(key: Type, value: Type) -> Type:
    """Return the type of maps."""
    return Type("map", (key, value))


def optional_of(value: Type) -> Type:
    """Return the type of optionals of a type."""
    return Type("optional_type", (value,))


def type_of(described: Type) -> Type:
    """Return the type of the type itself as a value."""
    return Type("type", (described,))


def is_dynamic(kind: Type) -> bool:
    """Return whether the type of such a value is known only at run time."""
    return kind.name in {"dyn", "any"}


class Bindings:
    """The types that are bound to the type variables of one expression."""

    def __init__(self) -> None:
        self._bound: dict[Type, Type] = {}
        self._undo: list[tuple[Type, Type | None]] = []
        self._count = 0

    def fresh(self) -> Type:
        """Return a new type variable."""
        self._count += 1
        return Type(f"_{self._count}", variable=True)

    def assign(self, to: tuple[Type, ...], given: tuple[Type, ...]) -> bool:
        """Return whether each given type fits the one expected; variables are bound only if all do."""
        self._undo.clear()
        if len(to) == len(given) and all(map(self._fits, given, to)):
            return True
        for variable, before in reversed(self._undo):
            if before is None:
                del self._bound[variable]
            else:
                self._bound[variable] = before
        return False

    def resolve(self, kind: Type, *, open_is_dyn: bool = False) -> Type:
        """Return a type with its bound variables replaced; `open_is_dyn` replaces the unbound ones by `dyn`."""
        if kind.variable:
            bound = self._bound.get(kind)
            if bound is not None:
                return self.resolve(bound, open_is_dyn=open_is_dyn)
            return DYN if open_is_dyn else kind
        if not kind.params:
            return kind
        return Type(kind.name, tuple(self.resolve(param, open_is_dyn=open_is_dyn) for param in kind.params))

    def _bind(self, variable: Type, kind: Type) -> None:
        self._undo.append((variable, self._bound.get(variable)))
        self._bound[variable] = kind

    def _fits(self, one: Type, other: Type) -> bool:
        if other.variable:
            fits, bound = self._substitutes(one, other)
            if fits or bound:
                return fits
        if one.variable:
            return self._substitutes(other, one)[0]
        if is_dynamic(one) or is_dynamic(other):
            return True
        if NULL in (one, other):
            return one.name in _NULLABLE and other.name in _NULLABLE
        if one.name != other.name:
            return False
        return one.name == "type" or (
            len(one.params) == len(other.params) and all(map(self._fits, one.params, other.params))
        )

    def _substitutes(self, kind: Type, variable: Type) -> tuple[bool, bool]:
        """Return whether a variable can be bound to `kind`, and whether it was bound before."""
        if kind == variable:
            return True, True
        bound = self._bound.get(variable)
        if bound is None:
            if self._occurs(variable, kind):
                return False, False
            self._bind(variable, kind)
            return True, False
        if kind == bound:
            return True, True
        if not self._fits(kind, bound):
            return False, True
        general = kind if _at_most_as_specific(kind, bound) else bound
        if not self._occurs(variable, general):
            self._bind(variable, general)
        return True, True

    def _occurs(self, variable: Type, kind: Type) -> bool:
        if kind == variable:
            return True
        if kind.variable:
            bound = self._bound.get(kind)
            return bound is not None and self._occurs(variable, bound)
        return any(self._occurs(variable, param) for param in kind.params)


def more_general(one: Type, other: Type) -> Type:
    """Return the less specific of two types that fit each other."""
    return one if _at_most_as_specific(one, other) else other


def _at_most_as_specific(one: Type, other: Type) -> bool:
    if is_dynamic(one) or one.variable:
        return True
    if is_dynamic(other) or other.variable or one.name != other.name:
        return False
    return one.name == "type" or all(map(_at_most_as_specific, one.params, other.params))
