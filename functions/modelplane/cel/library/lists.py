"""Functions on lists: Kubernetes' list library, the list extension and the set functions."""

from functools import cmp_to_key, reduce
from itertools import pairwise as neighbours

from modelplane.cel import comparison
from modelplane.cel.library.operators import natural, whole
from modelplane.cel.library.registry import function, method, pairwise, squared
from modelplane.cel.values import AbortError, EvaluationError, List, Uint, Value

_COMPARABLE = ("int", "uint", "double", "bool", "string", "bytes")
#: Longest list that `lists.range` returns.
_MAX_RANGE = 10_000


@method("isSorted", *(f"list<{kind}> -> bool" for kind in _COMPARABLE))
def _is_sorted(values: List) -> bool:
    items = _comparable(values, values.sequence())
    return all(comparison.order(a, b) <= 0 for a, b in neighbours(items))


@method("max", *(f"list<{kind}> -> {kind}" for kind in _COMPARABLE))
def _max(values: List) -> Value:
    return reduce(lambda a, b: b if comparison.order(a, b) < 0 else a, _not_empty(values))


@method("min", *(f"list<{kind}> -> {kind}" for kind in _COMPARABLE))
def _min(values: List) -> Value:
    return reduce(lambda a, b: b if comparison.order(a, b) > 0 else a, _not_empty(values))


@method("sum", *(f"list<{kind}> -> {kind}" for kind in ("int", "uint", "double")))
def _sum(values: List) -> Value:
    items = _of_one_type(values)
    kind = type(items[0]) if items else int
    if kind is int:
        return reduce(lambda a, b: whole(a + b), items, 0)
    if kind is Uint:
        return reduce(lambda a, b: natural(int(a) + int(b)), items, Uint(0))
    if kind is float:
        return reduce(lambda a, b: a + b, values.sequence(), 0.0)
    raise EvaluationError("no such overload: sum of values that are no numbers")


@method("indexOf", "list<A>, A -> int", cost=pairwise)
def _index_of(values: List, value: Value) -> int:
    return next((i for i, item in enumerate(values.sequence()) if not comparison.differ(item, value)), -1)


@method("lastIndexOf", "list<A>, A -> int", cost=pairwise)
def _last_index_of(values: List, value: Value) -> int:
    items = values.sequence()
    return next((i for i in reversed(range(len(items))) if not comparison.differ(items[i], value)), -1)


@method("slice", "list<A>, int, int -> list<A>")
def _slice(values: List, start: int, end: int) -> List:
    if not 0 <= start <= end <= len(values.items):
        raise EvaluationError(f"cannot slice({start}, {end}) of {len(values.items)} elements")
    return List(values.sequence()[start:end])


@method(
    "flatten",
    "list<list<A>> -> list<A>",
    "list<dyn>, int -> list<dyn>",
    cost=lambda values, depth=1: values.weight * max(depth, 1),
)
def _flatten(values: List, depth: int = 1) -> List:
    if depth < 0:
        raise EvaluationError("level must be non-negative")
    items: list[Value] = []
    ordered = values.ordered
    for item in values.items:
        if type(item) is List and depth:
            inner = _flatten(item, depth - 1)
            items += inner.items
            ordered = ordered and inner.ordered
        else:
            items.append(item)
    return List(tuple(items), ordered)


@method("sort", *(f"list<{kind}> -> list<{kind}>" for kind in _COMPARABLE), cost=squared)
def _sort(values: List) -> List:
    return List(tuple(sorted(_comparable(values, values.items), key=cmp_to_key(comparison.order))))


@method("reverse", "list<A> -> list<A>")
def _reverse(values: List) -> List:
    return List(values.items[::-1], values.ordered)


@method("distinct", "list<A> -> list<A>", cost=squared)
def _distinct(values: List) -> List:
    kept: list[Value] = []
    for item in values.items:
        if all(comparison.differ(item, other) for other in kept):
            kept.append(item)
    return List(tuple(kept), values.ordered)


@function("lists.range", "int -> list<int>", cost=lambda n: min(max(n, 1), _MAX_RANGE))
def _range(count: int) -> List:
    if count > _MAX_RANGE:
        raise AbortError(f"limit: a range of more than {_MAX_RANGE}")
    return List(tuple(range(count)))


@function("sets.contains", "list<A>, list<A> -> bool", cost=pairwise)
def _set_contains(values: List, part: List) -> bool:
    return all(comparison.contains(values.items, item) for item in part.items)


@function("sets.equivalent", "list<A>, list<A> -> bool", cost=lambda a, b: 2 * pairwise(a, b))
def _set_equivalent(left: List, right: List) -> bool:
    return all(
        comparison.contains(one.items, item) for one, two in ((left, right), (right, left)) for item in two.items
    )


@function("sets.intersects", "list<A>, list<A> -> bool", cost=pairwise)
def _set_intersects(left: List, right: List) -> bool:
    return any(comparison.contains(right.items, item) for item in left.items)


def _of_one_type(values: List) -> tuple[Value, ...]:
    """Return the items, all of one type. Kubernetes ignores errors between items of different types; we do not."""
    if len({type(item) for item in values.items}) > 1:
        raise AbortError("a list of values of different types")
    return values.items


def _comparable(values: List, items: tuple[Value, ...]) -> tuple[Value, ...]:
    """Return the items of a list, after checking that they are of one type that has an order."""
    for item in _of_one_type(values)[:1]:
        comparison.order(item, item)
    return items


def _not_empty(values: List) -> tuple[Value, ...]:
    if not values.items:
        raise EvaluationError("min or max of an empty list")
    return _comparable(values, values.items)
