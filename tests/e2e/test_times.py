"""How long things take with the settings of an installation; all of it is printed."""

import time
from collections.abc import Callable

import pytest

from e2e.fleet import SOON, Fleet
from modelplane.model.names import tenant_namespace
from modelplane_dev.plane.api import Kind
from modelplane_dev.plane.waiting import eventually

WORKLOAD = Kind("apps/v1", "Deployment")
#: Seconds from a deployment's creation to its objects on the cluster, and from a Ready replica to a ready endpoint: 5
#: and 1 on a busy machine of two cores. What waits for a look that is due once a minute takes half a minute on average.
OBJECTS, ENDPOINT = 25.0, 15.0


def _seconds(check: Callable[[], None]) -> float:
    """Return how long it takes until a check passes."""
    started = time.monotonic()
    eventually(check, within=SOON, every=0.05)
    return time.monotonic() - started


@pytest.mark.alone
def test_objects_and_endpoints_follow_within_seconds(fleet: Fleet) -> None:
    cluster = fleet.add_cluster("east")
    site, tenant = fleet.clusters[cluster].cluster.api, tenant_namespace(fleet.tag)

    def has_objects() -> None:
        assert site.list(WORKLOAD, tenant)

    def replica_is_ready() -> None:
        assert fleet.replicas("llama")
        fleet.assert_condition(fleet.replicas("llama")[0], "Ready")

    def endpoint_is_ready() -> None:
        assert [endpoint["spec"]["ready"] for endpoint in fleet.endpoints("llama")] == [True]

    fleet.deploy("llama")
    objects = _seconds(has_objects)
    _seconds(replica_is_ready)
    endpoint = _seconds(endpoint_is_ready)
    fleet.figures.append(f"applied to objects {objects:.1f} s, replica Ready to endpoint ready {endpoint:.1f} s")
    assert objects < OBJECTS
    assert endpoint < ENDPOINT
