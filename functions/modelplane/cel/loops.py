"""The loops of macros. Each iteration is charged the size of its body, which bounds the time of nested loops."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from modelplane.cel.values import EvaluationError, Frame, List, Map, Value, normal_key, not_bool, type_name

Code = Callable[[Frame], Value]


@dataclass(frozen=True, slots=True)
class Loop:
    """What a macro iterates over, the slots of its variables, and the cost of an iteration."""

    over: Code
    slots: tuple[int, ...]
    cost: int

    def rounds(self, frame: Frame, source: Value) -> Iterator[Value]:
        """Set the variables for each element of a list or map in turn; yield its index or key."""
        kind = type(source)
        if kind is List:
            # With two variables the index can be seen; with one, the order does not matter.
            pairs = enumerate(source.items if len(self.slots) == 1 else source.sequence())
        elif kind is Map:
            pairs = iter(source.entries.values())
        else:
            raise EvaluationError(f"cannot iterate over {type_name(source)}")
        variables = frame.variables
        for key, value in pairs:
            frame.charge(self.cost)
            if len(self.slots) == 2:
                variables[self.slots[0]], variables[self.slots[1]] = key, value
            else:
                variables[self.slots[0]] = value if kind is List else key
            yield key


def decide(frame: Frame, terms: Iterable[Code], *, decisive: bool) -> bool:
    """Return `decisive` if one of the terms has this value, else its opposite; errors count only if no term decides.

    CEL's rule for `||` and `exists` (decisive true), and for `&&` and `all` (false).
    """
    failed: EvaluationError | None = None
    for term in terms:
        try:
            value = term(frame)
        except EvaluationError as error:
            failed = failed or error
            continue
        if value is decisive:
            return bool(value)
        if type(value) is not bool:
            failed = failed or not_bool(value)
    if failed is not None:
        raise failed
    return not decisive


def quantify(loop: Loop, predicate: Code, *, decisive: bool) -> Code:
    """Return the code of `exists` (`decisive` true) or `all` (false)."""
    return lambda frame: decide(frame, (predicate for _ in loop.rounds(frame, loop.over(frame))), decisive=decisive)


def exists_one(loop: Loop, predicate: Code) -> Code:
    """Return the code of `exists_one`, which absorbs nothing."""
    return lambda frame: sum(_holds(frame, predicate) for _ in loop.rounds(frame, loop.over(frame))) == 1


def collect(loop: Loop, keep: Code | None, result: Code, *, to_map: bool) -> Code:
    """Return the code of `map`, `filter`, `transformList` and `transformMap`."""

    def run(frame: Frame) -> Value:
        source = loop.over(frame)
        made = [(key, result(frame)) for key in loop.rounds(frame, source) if keep is None or _holds(frame, keep)]
        collected: List | Map
        if to_map:
            collected = Map({normal_key(key): (key, value) for key, value in made})
        else:
            ordered = len(made) < 2 or (type(source) is List and source.ordered)
            collected = List(tuple([value for _, value in made]), ordered)
        frame.charge(collected.weight)
        return collected

    return run


def _holds(frame: Frame, predicate: Code) -> bool:
    value = predicate(frame)
    if type(value) is not bool:
        raise not_bool(value)
    return bool(value)
