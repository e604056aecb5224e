"""Quantities against the answers of `resource.ParseQuantity` and `Quantity.Cmp`."""

import json
from fractions import Fraction
from pathlib import Path

from modelplane.cel import quantity

CASES = json.loads((Path(__file__).parents[1] / "data" / "quantities.json").read_text())


def value(text: str) -> Fraction | None:
    try:
        parsed = quantity.parse(text)
    except quantity.QuantityError:
        return None
    return Fraction(parsed.unscaled) * Fraction(10) ** parsed.exponent


def test_texts_parse_as_in_kubernetes() -> None:
    wrong = [
        case["text"]
        for case in CASES["parse"]
        if value(case["text"]) != (None if case["value"] is None else Fraction(case["value"]))
    ]
    assert wrong == []


def test_quantities_compare_as_in_kubernetes() -> None:
    wrong = [
        case
        for case in CASES["compare"]
        if quantity.compare(quantity.parse(case["a"]), quantity.parse(case["b"])) != case["cmp"]
    ]
    assert wrong == []
