"""The series of a fleet are what `modelplane get -o json` says of it, and no text of a user becomes a line."""

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from given.manifests import cluster, deployment, hardware
from modelplane.observe.exposition import expose
from modelplane.preview import ControlPlane
from modelplane.reading.export import Export
from modelplane.reading.fleet import as_json, read_fleet
from modelplane.reading.manifests import LocatedObject, Source, read_manifests
from modelplane.reading.series import read_series
from modelplane_dev.folders import ROOT

_SOURCE = Source("a test", lambda: None)
NOW = "2026-01-01T01:00:00Z"

Labels = frozenset[tuple[str, str]]
Samples = dict[Labels, float]


def _export(objects: Iterable[Any]) -> Export:
    return Export(LocatedObject(obj, _SOURCE) for obj in objects)


def _scraped(reader: Export) -> dict[str, Samples]:
    """Return the samples of each metric, as Prometheus's own parser reads them."""
    text = expose(read_series(reader, read_fleet(reader, NOW))).decode()
    found: dict[str, Samples] = {}
    for family in text_string_to_metric_families(text):
        for each in family.samples:
            by = frozenset(each.labels.items())
            assert by not in found.setdefault(each.name, {}), f"{each.name} has a series twice"
            found[each.name][by] = each.value
    return found


def _labels(**labels: str) -> Labels:
    return frozenset(labels.items())


@lru_cache(1)
def _examples() -> Export:
    """Return the settled fleet of the examples."""
    control = ControlPlane([each.obj for each in read_manifests([str(ROOT / "examples")], None)])  # type: ignore[arg-type]
    assert control.settle()
    return _export(control.view().everything())


def test_pools_and_their_devices_are_those_that_get_shows() -> None:
    found, shown = _scraped(_examples()), as_json(read_fleet(_examples(), NOW))
    nodes, free, devices, claimed = {}, {}, {}, {}
    for cluster_ in shown["clusters"]:
        for pool in cluster_["pools"]:
            of_pool = {"cluster": cluster_["name"], "pool": pool["name"]}
            nodes[_labels(**of_pool)], free[_labels(**of_pool)] = pool["nodes"], pool["nodesFree"]
            for name, count in pool["devices"].items():
                devices[_labels(**of_pool, device=name)] = count["total"]
                claimed[_labels(**of_pool, device=name)] = count["claimed"]
    assert found["modelplane_pool_nodes"] == nodes
    assert found["modelplane_pool_nodes_free"] == free
    assert found["modelplane_pool_devices"] == devices
    assert found["modelplane_pool_devices_committed"] == claimed
    assert sum(claimed.values()) > 0


def test_replicas_of_deployments_are_those_that_get_shows() -> None:
    found, shown = _scraped(_examples()), as_json(read_fleet(_examples(), NOW))
    states = {}
    for each in shown["deployments"]:
        staying = sum(not placed["leaving"] for placed in each["placed"])
        counts = {
            "desired": each["replicas"],
            "placed": staying,
            "unplaced": each["unplaced"],
            "serving": each["serving"],
            "ready": sum(placed["ready"] for placed in each["placed"]),
            "leaving": len(each["placed"]) - staying,
        }
        for state, count in counts.items():
            states[_labels(namespace=each["namespace"], deployment=each["name"], state=state)] = count
    assert found["modelplane_deployment_replicas"] == states


def test_services_are_those_that_get_shows() -> None:
    found, shown = _scraped(_examples()), as_json(read_fleet(_examples(), NOW))
    endpoints = {
        _labels(namespace=each["namespace"], service=each["name"], state=state): each["endpoints"][state]
        for each in shown["services"]
        for state in ("ready", "total")
    }
    assert found["modelplane_service_endpoints"] == endpoints


def _waiting(**scheduled: str) -> Any:
    """Return a deployment of two replicas that wants four devices for each, one of which is not placed."""
    message = {"reason": "NoDevice", "message": 'of pool "a"\nforged 1'}
    reasons = [{**message, "count": 3}, {**message, "count": 2}, {"reason": "NoRoom", "count": 1, "message": "full"}]
    placed = [{"name": "a", "cluster": "east", "index": 0, "ready": True, "serving": True}]
    condition = {"type": "ReplicasScheduled", "status": "False", "reason": "NoDevice", "message": "x", **scheduled}
    return {
        **deployment(replicas=2, gpus=4),
        "status": {"placements": placed, "reasons": reasons, "conditions": [condition]},
    }


def test_a_reason_that_stands_several_times_is_summed() -> None:
    found = _scraped(_export([_waiting()]))["modelplane_deployment_refused_clusters"]
    assert sorted((dict(by)["reason"], count) for by, count in found.items()) == [("NoDevice", 5), ("NoRoom", 1)]


def test_what_is_not_placed_demands_its_devices() -> None:
    (count,) = _scraped(_export([_waiting()]))["modelplane_deployment_demand_devices"].values()
    assert count == 4
    placed = deployment(replicas=0, gpus=4)
    assert "modelplane_deployment_demand_devices" not in _scraped(_export([placed]))


@pytest.mark.parametrize(
    ("scheduled", "pending"),
    [
        ({"lastTransitionTime": "2026-01-01T00:59:00Z"}, [60.0]),
        ({"lastTransitionTime": "2026-01-01T02:00:00Z"}, [0.0]),
        ({"lastTransitionTime": "2026-01-01T00:59:00Z", "status": "True"}, []),
        ({}, []),
    ],
)
def test_pending_is_the_time_since_a_replica_is_not_placed(scheduled: dict[str, str], pending: list[float]) -> None:
    found = _scraped(_export([_waiting(**scheduled)])).get("modelplane_deployment_pending_seconds", {})
    assert list(found.values()) == pending


def test_a_hostile_value_is_a_value_and_never_a_line() -> None:
    hostile = 'a"} 7\nmodelplane_forged{x="\\'
    found = _scraped(_export([_waiting(reason=hostile)]))
    assert "modelplane_forged" not in found
    assert hostile in {dict(by)["reason"] for by in found["modelplane_condition"]}


def test_a_ready_replica_has_few_series() -> None:
    few, many = (ControlPlane([hardware(), cluster("east", nodes=8), deployment(replicas=count)]) for count in (1, 5))
    assert few.settle()
    assert many.settle()
    of_few, of_many = (sum(map(len, _scraped(_export(each.view().everything())).values())) for each in (few, many))
    assert (of_many - of_few) / 4 <= 15
