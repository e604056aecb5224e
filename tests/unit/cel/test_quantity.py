"""What a quantity is beyond its number: its form, its limits, sums."""

import pytest

from modelplane.cel import quantity
from modelplane.cel.quantity import Quantity, QuantityError, QuantityLimitError


@pytest.mark.parametrize(
    ("text", "integer"),
    [
        ("1", 1),
        ("80Gi", 85899345920),
        ("1e3", 1000),
        ("50k", 50000),
        ("0", 0),
        ("-5M", -5000000),
        ("1.0", None),
        ("1000m", None),
        ("0.5Gi", None),
        ("7Ei", None),
        ("9223372036854775807", None),
        ("9999999999999999999999G", None),
    ],
)
def test_only_the_compact_form_is_an_integer(text: str, integer: int | None) -> None:
    assert quantity.parse(text).integer() == integer


@pytest.mark.parametrize("text", ["1e401", "1e-401", "1e1000000000", "9" * 401, "1e9223372036854775807"])
def test_beyond_the_bounds_a_quantity_is_refused_as_a_limit(text: str) -> None:
    with pytest.raises(QuantityLimitError):
        quantity.parse(text)


#: Texts without digits. ParseQuantity of k8s.io/apimachinery v0.35.3 answered as the tests say for each.
STEMS = ("", "+", "-", ".", "+.", "-.")


@pytest.mark.parametrize("stem", STEMS)
@pytest.mark.parametrize(
    ("suffixes", "integer"), [("k M G T P E Ki Mi Gi Ti e0 e3 e10 E5", 0), ("n u m e-9", None)], ids=["whole", "fine"]
)
def test_a_text_without_digits_is_zero(stem: str, suffixes: str, integer: int | None) -> None:
    parsed = [quantity.parse(stem + suffix) for suffix in suffixes.split()]
    assert {(found.unscaled, found.integer()) for found in parsed} == {(0, integer)}


@pytest.mark.parametrize("stem", STEMS)
@pytest.mark.parametrize("suffix", ["Pi", "Ei", "e-10"])
def test_a_text_without_digits_is_no_quantity_where_the_suffix_leaves_the_compact_form(stem: str, suffix: str) -> None:
    with pytest.raises(QuantityError, match="has no digits"):
        quantity.parse(stem + suffix)


@pytest.mark.parametrize("text", ["", " 1", "1K", "1kB", "1e", "1e9223372036854775808", "\u0661", "1 ", "--1", ".e-10"])
def test_what_kubernetes_does_not_parse_is_refused(text: str) -> None:
    with pytest.raises(QuantityError):
        quantity.parse(text)


@pytest.mark.parametrize(
    ("left", "right", "total", "compact"),
    [
        ("1", "2", Quantity(3), True),
        ("1k", "500m", Quantity(1000500, -3), True),
        ("0", "5k", Quantity(5, 3), True),
        ("5k", "0", Quantity(5, 3), True),
        ("900000000000000000", "900000000000000000E", Quantity(9 * 10**35 + 9 * 10**17), False),
    ],
)
def test_a_sum_is_compact_where_it_fits(left: str, right: str, total: Quantity, *, compact: bool) -> None:
    added = quantity.add(quantity.parse(left), quantity.parse(right))
    assert (quantity.compare(added, total), added.compact) == (0, compact)


@pytest.mark.parametrize(
    ("text", "approximate"),
    [("1Gi", 1073741824.0), ("0.1", 0.1), ("1500m", 1.5), ("1e3", 1000.0), ("1.5Ti", 1.5 * 2**40)],
)
def test_the_approximation_is_that_of_go(text: str, approximate: float) -> None:
    assert quantity.parse(text).approximate() == approximate
