"""Work is bounded on any selector: it compiles and evaluates in time, or the limit is named."""

import gc
import time
from collections.abc import Callable, Iterator

import pytest
import re2  # type: ignore[import-untyped]

from bench.pace import pace
from modelplane import cel
from modelplane.model.fleet import Attribute, ClaimKind, Device

DEVICE = Device(
    name="gpu",
    driver="gpu.nvidia.com",
    claim=ClaimKind.DRA,
    attributes=tuple(Attribute(f"a{i}", "string", "x" * 250) for i in range(16)),
    capacity=tuple((f"c{i}", "1.5Ti") for i in range(16)),
)
ATTRIBUTES = 'device.attributes["gpu.nvidia.com"]'
NAMES = "abcdefghijklmnopqrst"


def nested(make: str, first: str, body: str) -> str:
    """Return 20 nested cel.bind, each of a value twice as large as the one before."""
    values = [first, *(make.format(name) for name in NAMES[:-1])]
    binds = "".join(f"cel.bind({name}, {value}, " for name, value in zip(NAMES, values, strict=True))
    return binds + body + ")" * len(NAMES)


TEN = "[0,1,2,3,4,5,6,7,8,9]"
NASTY = {
    "parentheses": "(" * 4000 + "true" + ")" * 4000,
    "few parentheses": "(" * 70 + "true" + ")" * 70,
    "or": "||".join(["true"] * 1700),
    "plus": "+".join(["1"] * 5000) + "==1",
    "not": "!" * 10_000 + "true",
    "minus": "-" * 10_000 + "1 == 1",
    "lists": "[" * 3000 + "]" * 3000,
    "long list": "[" + ",".join(["1"] * 480) + "].all(x, x == 1)",
    "nested comprehensions": f"{TEN}.all(a, {TEN}.all(b, {TEN}.all(c, {TEN}.all(d, true))))",
    "comprehension over a range": "lists.range(9000).all(x, x >= 0)",
    "range in range": "lists.range(140).all(x, lists.range(140).all(y, true))",
    "doubled text": nested("{0}+{0}", '"' + "x" * 900 + '"', "t.size() > 0"),
    "doubled list": nested("[{0},{0}]", "[1]", "t == t"),
    "doubled map": nested("{{1:{0},2:{0}}}", "{1:1}", "t == t"),
    "chained optMap": f"{ATTRIBUTES}.?a1" + ".optMap(v, v)" * 30 + ".hasValue()",
    "short chain of optMap": f"{ATTRIBUTES}.?a1" + ".optMap(v, v)" * 10 + ".hasValue()",
    "backtracking pattern": f'"{"a" * 1900}".matches("(a+)+$b")',
    "alternatives in a pattern": f'"{"a" * 1900}".matches("{"a?" * 200}{"a" * 90}b")',
    "large class in a pattern": r'"a".matches("(\\pL{500})")',
    "long text for a pattern": f'"{"a" * 5000}".matches("a")',
    "long pattern": f'"a".matches("{"a" * 5000}")',
    "patterns made at run time": "["
    + ",".join(f'"{i}{"(a|b)*c{5}" * 8}"' for i in range(90))
    + "].all(x, 'c'.matches(x))",
    "large exponent": 'quantity("1e1000000000").isInteger()',
    "small exponent": 'quantity("1e-1000000000").isInteger()',
    "long quantity": f'quantity("{"9" * 9000}").isInteger()',
    "long integer": "1" * 10_000 + " == 1",
    "long double": "0." + "1" * 10_000 + " == 1.0",
    "long version": f'semver("{"1" * 4000}.{"2" * 3000}.3").major() == 1',
    "long prerelease": f'isSemver("1.2.3-{"a." * 4500}a")',
    "split": f'"{"a," * 4500}".split(",").all(x, x != "b")',
    "replace": f'"{"a" * 3000}".replace("a", "{"b" * 6000}").size() == 1',
    "join": f'lists.range(4000).map(x, "{"y" * 3000}").join("{"z" * 3000}").size() == 1',
    "indexOf": f'"{"a" * 4500}b".indexOf("{"a" * 4500}c") == 1',
    "sort": "lists.range(5000).sort().size() == 1",
    "sets": "sets.contains(lists.range(300), lists.range(300))",
    "attributes twice": f"{ATTRIBUTES}.all(k, {ATTRIBUTES}.all(j, {ATTRIBUTES}[k] == {ATTRIBUTES}[j]))",
    "quotes": '"' * 10_000,
    "escapes": '"' + "\\u0041" * 1700 + '" == "a"',
    "comments": "//\n" * 3000 + "true",
    "spaces": " " * 10_236 + "true",
    "fields": "device" + ".a" * 4000,
    "calls": "device.driver" + ".trim()" * 60 + ' == ""',
    "unclosed": "f(" * 3000,
}


def quickest(work: Callable[[], object], limit: float) -> float:
    """Return the processor seconds of some work, those of the quickest of three times where one is over the limit.

    A machine that was taken away meanwhile counts as processor time; nothing but the work itself takes long each time.
    Seconds are those of the machine that limits were set on, which may be faster than this one.
    """
    spent = []
    for _ in range(3):
        re2.purge()
        started = time.thread_time()
        work()
        spent.append(time.thread_time() - started)
        if min(spent) < limit:
            return min(spent)
    return min(spent) / pace().processor


def compiled(text: str) -> cel.Selector | None:
    """Return the selector of a text, made anew; None where it is refused."""
    try:
        return cel.compile(text)
    except cel.SelectorError:
        return None


@pytest.fixture
def _no_collection() -> Iterator[None]:
    """Keep what the process made before from being collected on this test's time."""
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("_no_collection")
@pytest.mark.parametrize("text", NASTY.values(), ids=NASTY.keys())
def test_a_nasty_selector_compiles_and_evaluates_in_time(text: str) -> None:
    cel.compile('"a".matches("a")')  # the grammar and RE2 are loaded once
    assert quickest(lambda: compiled(text), 0.1) < 0.1
    selector = compiled(text)
    if selector is not None:
        assert quickest(lambda: selector.evaluate(DEVICE), 0.05) < 0.05


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("true" + " " * 10_237, "bytes"),
        ('"' + "\u00e9" * 5120 + '" == ""', "bytes"),
        ("||".join(["true"] * 501), "tokens"),
        ("(" * 81 + "true" + ")" * 81, "nested deeper"),
        ("1+" * 100 + "1 == 101", "nested deeper"),
        (f"{TEN}.all(a, {TEN}.all(b, {TEN}.all(c, true)))", "comprehension"),
        (f"{ATTRIBUTES}.?a1" + ".optMap(v, v)" * 11 + ".hasValue()", "macros"),
        (f'"a".matches("{"a" * 501}")', "regular expression"),
    ],
)
def test_a_limit_is_named_when_a_selector_is_refused(text: str, limit: str) -> None:
    with pytest.raises(cel.SelectorError) as caught:
        cel.compile(text)
    assert caught.value.why.startswith("limit: ")
    assert limit in caught.value.why


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("lists.range(140).all(x, lists.range(140).size() > 0)", "too much work"),
        ("lists.range(10001).size() == 1", "a range of more than"),
        ('isQuantity("1e500")', "exponent"),
        (f'"{"a" * 2001}".matches("a")', "characters"),
    ],
)
@pytest.mark.parametrize("wrap", ["{}", "{} || true", "!({})", "[1].exists(x, {}) || true"])
def test_a_limit_met_at_run_time_is_an_error_that_nothing_absorbs(text: str, limit: str, wrap: str) -> None:
    verdict = cel.compile(wrap.format(text)).evaluate(DEVICE)
    assert verdict.outcome is cel.Outcome.ERROR
    assert limit in (verdict.why or "")
