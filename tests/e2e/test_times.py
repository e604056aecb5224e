"""How long things take with the settings of an installation; all of it is printed."""

import time
from collections.abc import Callable, Iterable

import pytest

from e2e.fleet import SOON, Fleet
from modelplane.model.names import tenant_namespace
from modelplane_dev.plane.api import Api, Kind
from modelplane_dev.plane.waiting import eventually

WORKLOAD = Kind("apps/v1", "Deployment")
#: Seconds from a deployment's creation to its objects on the cluster, and from a Ready replica to a ready endpoint: 5
#: and 1 on a busy machine of two cores, 27 and 1 on a starved one. What waits for a look that is due once a minute is
#: half a minute late on average.
OBJECTS, ENDPOINT = 45.0, 30.0
#: How many deployments are made, and how many of them may take longer: a machine that stands still for seconds makes
#: one late. Of such as wait for a look once a minute, all but one of six are within 30 seconds once in nine times.
MADE, LATE = 6, 1


def _seconds(check: Callable[[], None]) -> float:
    """Return how long it takes until a check passes."""
    started = time.monotonic()
    eventually(check, within=SOON, every=0.05)
    return time.monotonic() - started


@pytest.mark.alone
def test_objects_and_endpoints_follow_within_seconds(fleet: Fleet) -> None:
    cluster = fleet.add_cluster("east")
    site, tenant = fleet.clusters[cluster].cluster.api, tenant_namespace(fleet.tag)
    times = [_follow(fleet, site, tenant, f"d{number}") for number in range(MADE)]
    objects, endpoints = (sorted(each) for each in zip(*times, strict=True))
    fleet.figures.append(
        f"applied to objects: {_listed(objects)}; replica Ready to endpoint ready: {_listed(endpoints)}"
    )
    assert objects[-1 - LATE] < OBJECTS, objects
    assert endpoints[-1 - LATE] < ENDPOINT, endpoints


def _listed(seconds: Iterable[float]) -> str:
    return ", ".join(f"{each:.1f} s" for each in seconds)


def _follow(fleet: Fleet, site: Api, tenant: str, name: str) -> tuple[float, float]:
    """Deploy; return the seconds until the objects are on the cluster, and from a Ready replica to a ready endpoint."""

    def has_objects() -> None:
        assert any(found["metadata"]["name"].startswith(name) for found in site.list(WORKLOAD, tenant))

    def replica_is_ready() -> None:
        assert fleet.replicas(name)
        fleet.assert_condition(fleet.replicas(name)[0], "Ready")

    def endpoint_is_ready() -> None:
        assert [endpoint["spec"]["ready"] for endpoint in fleet.endpoints(name)] == [True]

    fleet.deploy(name)
    objects = _seconds(has_objects)
    _seconds(replica_is_ready)
    return objects, _seconds(endpoint_is_ready)
