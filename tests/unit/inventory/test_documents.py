"""A document is another cluster's word: what cannot be its inventory is named, and none of it counts."""

import json
from typing import Any

import pytest

from modelplane.observed.inventory import read_inventory
from unit.inventory.clusters import UID

GROUP = {"ready": True, "nodes": 1, "devices": [{"driver": "gpu.nvidia.com", "count": 8}]}
WHOLE: dict[str, Any] = {"version": 1, "clusterUID": UID, "at": 5, "settled": True, "pools": {"h100": [GROUP]}}


def with_group(**fields: Any) -> str:
    return json.dumps({**WHOLE, "pools": {"h100": [{**GROUP, **fields}]}})


#: Documents, and what is said of them.
REFUSED = {
    "nothing": ("", "nothing is published yet"),
    "no JSON": ("{", "is no JSON"),
    "deep JSON": ("[" * 90_000, "is no JSON"),
    "too large": (" " * 100_001, "has 100001 bytes, more than 100000"),
    "no object": (
        "[]",
        "has version null, and this version of Modelplane reads 1. Both are equal once the image of the inventory "
        "is that of the functions",
    ),
    "a newer version": (
        json.dumps({**WHOLE, "version": 2}),
        "has version 2, and this version of Modelplane reads 1. Both are equal once the image of the inventory is "
        "that of the functions",
    ),
    "another cluster's": (
        json.dumps({**WHOLE, "clusterUID": "other"}),
        f"is of the cluster with uid other, and this one has {UID}",
    ),
    "no pools": (json.dumps({**WHOLE, "pools": 3}), "has no field pools, or no field settled"),
    "pools that are no lists": (json.dumps({**WHOLE, "pools": {"h100": 3}}), "h100 is no list"),
    "half a node": (with_group(nodes=0.5), "pools[h100].nodes is 0.5, and a whole number up to 100000 is expected"),
    "minus a node": (with_group(nodes=-1), "pools[h100].nodes is -1, and a whole number up to 100000 is expected"),
    "a billion nodes": (
        with_group(nodes=10**9),
        "pools[h100].nodes is 1000000000, and a whole number up to 100000 is expected",
    ),
    "devices of no driver": (with_group(devices=[{"count": 1}]), "a node of pool h100 cannot be read"),
    "devices without a number": (with_group(devices=[{"driver": "d"}]), "a node of pool h100 cannot be read"),
    "a node that is neither Ready nor not": (with_group(ready="yes"), "a node of pool h100 cannot be read"),
}


@pytest.mark.parametrize(("document", "why"), REFUSED.values(), ids=REFUSED)
def test_a_document_that_cannot_be_the_clusters_inventory_is_named(document: str, why: str) -> None:
    named = "ConfigMap modelplane-inventory/modelplane-inventory, key inventory: "
    assert read_inventory({"data": {"inventory": document}}, UID) == named + why


def test_one_that_can_be_is_read() -> None:
    assert not isinstance(read_inventory({"data": {"inventory": json.dumps(WHOLE)}}, UID), str)
