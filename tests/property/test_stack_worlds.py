"""A whole control plane through faults of a serving stack: nothing that serves or is installed is ever taken away."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from given.manifests import cluster, deployment, hardware
from modelplane.preview import ControlPlane, healthy
from property.stack_worlds import CLUSTER, EDITS, WEATHERS, Weather
from unit.preview.fakes import conditions_of

EXTERNAL_NAME = "crossplane.io/external-name"
KINDS = (
    "Release.helm.m.crossplane.io",
    "ProviderConfig.helm.m.crossplane.io",
    "Object.kubernetes.m.crossplane.io",
    "ClusterProviderConfig.kubernetes.m.crossplane.io",
    "ModelReplica",
    "ServingStack",
)


def composed(control: ControlPlane) -> dict[tuple[str, str], str]:
    """Return the external name of everything that is composed, by kind and name; "" for one without."""
    return {
        (kind, each["metadata"]["name"]): each["metadata"].get("annotations", {}).get(EXTERNAL_NAME, "")
        for kind in KINDS
        for each in control.list(kind)
    }


def published(control: ControlPlane) -> dict[str, Any]:
    """Return what the scheduler and the services need of the cluster."""
    found = control.get("InferenceCluster", None, CLUSTER)
    assert found is not None
    status = found["status"]
    return {
        "pools": [(pool["name"], pool["nodes"]) for pool in status["gpuPools"]],
        "config": status["providerConfigRef"],
        "address": status["gateway"]["address"],
    }


@settings(max_examples=12)
@given(st.lists(st.tuples(WEATHERS, EDITS), min_size=1, max_size=4))
def test_no_weather_deletes_what_is_composed_or_unpublishes_a_pool_that_serves(
    history: list[tuple[Weather, dict[str, str] | None]],
) -> None:
    control = ControlPlane((hardware(), cluster(CLUSTER, stack={"lws": "Managed"}), deployment()), world=healthy)
    assert control.settle()
    before, serving = composed(control), published(control)
    assert sum(kind.startswith("Release") for kind, _ in before) == 7
    for weather, edit in history:
        control.world = weather.world()
        if edit is not None:
            control.apply(cluster(CLUSTER, stack=edit))
        for _ in range(weather.rounds):
            with pytest.MonkeyPatch.context() as patch:
                patch.setenv("MODELPLANE_CHARTS", weather.charts)
                control.settle(1)
            now = composed(control)
            assert {key: now.get(key) for key in before} == before
            assert published(control) == serving
            for release in control.list("Release"):
                assert {"Delete", "*"}.isdisjoint(release["spec"]["managementPolicies"])
        before |= composed(control)
    control.world = healthy
    control.apply(cluster(CLUSTER, stack={"lws": "Managed"}))
    assert control.settle()
    found = control.get("InferenceCluster", None, CLUSTER)
    assert found is not None
    assert conditions_of(found)["BackendReady"][0] == "True"
