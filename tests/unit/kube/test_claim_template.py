"""A claim template's name says what it claims: the same content the same name, other content another."""

from typing import Any

import pytest

from modelplane.kube.claim import claim_template

BASE: dict[str, Any] = {"name": "gpu", "deviceClassName": "gpu.nvidia.com", "count": 1, "selectors": [{"cel": "a"}]}
OTHERS = [
    BASE | {"name": "nic"},
    BASE | {"deviceClassName": "other"},
    BASE | {"count": 2},
    BASE | {"selectors": [{"cel": "b"}]},
    BASE | {"selectors": [{"cel": "a"}, {"cel": "b"}]},
    BASE | {"selectors": []},
]


def _name(*requests: dict[str, Any], prefix: str = "w", namespace: str = "mp-t") -> str:
    return str(claim_template(prefix, namespace, {}, requests)["metadata"]["name"])


def test_a_count_that_is_not_given_is_one() -> None:
    implicit = {key: value for key, value in BASE.items() if key != "count"}
    assert _name(implicit) == _name(BASE)


@pytest.mark.parametrize("other", OTHERS)
def test_other_content_is_another_name(other: dict[str, Any]) -> None:
    assert _name(other) != _name(BASE)
    assert _name(BASE, other) != _name(other, BASE)


def test_the_name_belongs_to_its_workload_and_namespace() -> None:
    assert len({_name(BASE), _name(BASE, prefix="v"), _name(BASE, namespace="mp-u")}) == 3
    assert len(_name(BASE, prefix="p" * 49)) == 49


def test_selectors_are_copied_unchanged_and_left_out_when_there_are_none() -> None:
    template = claim_template("w", "mp-t", {}, [BASE, {"name": "nic", "deviceClassName": "c"}])
    assert template["spec"]["spec"]["devices"]["requests"] == [
        {
            "name": "gpu",
            "exactly": {"deviceClassName": "gpu.nvidia.com", "count": 1, "selectors": [{"cel": {"expression": "a"}}]},
        },
        {"name": "nic", "exactly": {"deviceClassName": "c", "count": 1}},
    ]
