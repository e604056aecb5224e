"""The loops of macros. Each round is charged with the size of its body, so that loops in loops end in time."""

from collections.abc import Callable, Iterator
from typing import Any

from modelplane.cel.values import EvaluationError, Frame, List, Map, Value, normal_key, not_bool, type_name

Code = Callable[[Frame], Value]
Slots = tuple[int, ...]


def quantify(over: Code, slots: Slots, predicate: Code, *, cost: int, decisive: bool) -> Code:
    """Return the code of `exists` (`decisive` true) or `all` (false), which absorb errors when one round decides."""

    def run(frame: Frame) -> bool:
        failed: EvaluationError | None = None
        for _ in _rounds(frame, over(frame), slots, cost):
            try:
                value = predicate(frame)
            except EvaluationError as error:
                failed = failed or error
                continue
            if value is decisive:
                return decisive
            if type(value) is not bool:
                failed = failed or not_bool(value)
        if failed is not None:
            raise failed
        return not decisive

    return run


def exists_one(over: Code, slots: Slots, predicate: Code, *, cost: int, decisive: bool) -> Code:
    """Return the code of `exists_one`, which absorbs nothing."""

    def run(frame: Frame) -> bool:
        count = 0
        for _ in _rounds(frame, over(frame), slots, cost):
            count += _holds(frame, predicate)
        return count == 1

    return run


def collect(over: Code, slots: Slots, keep: Code | None, result: Code, *, cost: int, to_map: bool) -> Code:
    """Return the code of `map`, `filter`, `transformList` and `transformMap`."""

    def run(frame: Frame) -> Value:
        source = over(frame)
        made: list[tuple[Value, Value]] = []
        for key in _rounds(frame, source, slots, cost):
            if keep is None or _holds(frame, keep):
                made.append((key, result(frame)))
        if to_map:
            collected: Any = Map({normal_key(key): (key, value) for key, value in made})
        else:
            known = type(source) is List and source.ordered
            collected = List(tuple([value for _, value in made]), ordered=known or len(made) < 2)
        frame.charge(collected.weight)
        return collected

    return run


def _holds(frame: Frame, predicate: Code) -> bool:
    value = predicate(frame)
    if type(value) is not bool:
        raise not_bool(value)
    return bool(value)


def _rounds(frame: Frame, source: Value, slots: Slots, cost: int) -> Iterator[Value]:
    """Set the variables for each element of a list or map in turn; yield its index or key."""
    kind = type(source)
    if kind is List:
        # With two variables the index is visible, with one it is not; then any order will do.
        pairs = enumerate(source.items if len(slots) == 1 else source.sequence())
    elif kind is Map:
        pairs = iter(source.entries.values())
    else:
        raise EvaluationError(f"cannot iterate over {type_name(source)}")
    variables = frame.variables
    for key, value in pairs:
        frame.charge(cost)
        if len(slots) == 2:
            variables[slots[0]], variables[slots[1]] = key, value
        else:
            variables[slots[0]] = value if kind is List else key
        yield key

