"""A table answers by label as a search of everything would, whatever happened to it before."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from modelplane.reading.table import Place, Table

PLACES = st.tuples(st.sampled_from(["", "a", "b"]), st.sampled_from(["x", "y", "z"]))
LABELS = st.dictionaries(st.sampled_from(["k", "l"]), st.sampled_from(["1", "2"]))
#: Writing labels, or removing (None).
CHANGES = st.lists(st.tuples(PLACES, st.none() | LABELS), max_size=30)


def _obj(labels: dict[str, str]) -> dict[str, Any]:
    return {"metadata": {"labels": labels}}


@given(CHANGES, CHANGES, LABELS)
def test_what_is_listed_is_what_carries_the_labels_healthy_conditions(
    before: list[tuple[Place, Any]], after: list[tuple[Place, Any]], wanted: dict[str, str]
) -> None:
    table, kept = Table(), dict[Place, dict[str, str]]()
    for changes in (before, after):
        for place, labels in changes:
            if labels is not None:
                table.put(place, _obj(labels))
                kept[place] = labels
            elif kept.pop(place, None) is not None:
                table.remove(place)
        expected = [_obj(kept[place]) for place in sorted(kept) if wanted.items() <= kept[place].items()]
        assert list(table.labelled(wanted)) == list(table.copy().labelled(wanted)) == expected


def test_labels_that_no_server_would_take_match_nothing() -> None:
    table = Table()
    table.put(("", "x"), {"metadata": {"labels": {"k": ["v"], "l": "v"}}})
    table.put(("", "y"), {"metadata": {"labels": "none"}})
    assert list(table.labelled({"k": ["v"]})) == []  # type: ignore[dict-item]
    assert len(list(table.labelled({"l": "v"}))) == 1
