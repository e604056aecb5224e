"""How the names of models are told to the gateways of clusters."""

import pytest

from modelplane.routing.served import LIMIT, list_served


@pytest.mark.parametrize(
    ("names", "header"),
    [
        ({}, ""),
        ({"a-0": ""}, ""),
        ({"a-0": "m"}, "m"),
        ({"a-0": "m", "a-1": "m", "b-0": "other/m"}, "m other/m=b-0"),
        ({"a-0": "m", "b-1": "n", "b-0": "n"}, "n m=a-0"),
        ({"a-0": "n", "b-0": "m"}, "m n=a-0"),
        ({"a-0": "m", "a-1": "m", "b-0": ""}, "m -=b-0"),
        ({"a-0": "", "a-1": "", "b-0": "m"}, "- m=b-0"),
    ],
)
def test_the_name_of_most_endpoints_comes_first_and_others_with_theirs(names: dict[str, str], header: str) -> None:
    assert list_served(names) == header


def test_what_a_header_has_no_room_for_is_not_told_in_part() -> None:
    most = {f"a-{number:03}": "m" for number in range(500)}
    assert list_served(most) == "m"
    few, many = ({f"{'b' * 60}-{number:03}": "n" for number in range(count)} for count in (60, 70))
    assert 3800 < len(list_served(most | few)) <= LIMIT
    assert list_served(most | many) == ""
