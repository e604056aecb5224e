"""A source is a module behind one interface: what it gives is composed, awaited and published alike."""

from typing import Any

import pytest

from modelplane.api.inferencecluster import InferenceClusterSpec
from modelplane.compose_cluster.inference_cluster import compose
from modelplane.compose_cluster.sources import SOURCES, Kubeconfig, PoolState, Provision, Resource, SecretKey
from modelplane.composing.orphan import may_delete
from modelplane.model.conditions import Status
from modelplane.model.observation import Malformed
from modelplane.reading.definitions import xrds
from modelplane.step import Request, Result
from unit.compose_cluster import clusters as given
from unit.compose_cluster import test_own_gateway as own_gateway

CONFIG = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "network"}}
KUBECONFIG = Kubeconfig(SecretKey("made", "config"), ("GoogleApplicationCredentials", SecretKey("identity", "key")))


def run(provision: Provision | Malformed, observed: dict[str, Any] | None = None, **required: Any) -> Result:
    """Run the step with a source that gives `provision`, under the one name that the XRD admits."""

    def source(request: Request, spec: InferenceClusterSpec) -> Provision | Malformed:
        return provision

    seen = {name: given.obj(body) for name, body in (observed or {}).items()}
    answers = {"class-l4": (given.obj(given.device_class()),), "residents-eu-1": ()}
    answers |= {name: tuple(map(given.obj, found)) for name, found in required.items()}
    return compose(Request(given.obj(given.cluster()), seen, required=answers), {"Existing": source})


@pytest.mark.proves("P141")
def test_the_definition_admits_the_sources_that_are_composed() -> None:
    schema = xrds()["InferenceCluster"]["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    source = schema["properties"]["spec"]["properties"]["cluster"]["properties"]["source"]
    assert set(source["enum"]) == set(SOURCES)


@pytest.mark.parametrize("ready", [False, True])
def test_what_a_source_composes_is_as_ready_as_the_source_says(ready: bool) -> None:
    result = run(Provision(KUBECONFIG, {"l4": PoolState(2)}, resources={"network": Resource(CONFIG, ready)}))
    assert result.desired["network"].build() == CONFIG
    assert result.desired["network"].ready is ready


def test_no_resource_is_ready_before_it_is_observed() -> None:
    result = run(Provision(KUBECONFIG, {"l4": PoolState(2)}))
    assert {name: desired.ready for name, desired in result.desired.items()} == {
        "provider-config": False,
        "class-in-use-l4": False,
    }
    seen = run(Provision(KUBECONFIG, {"l4": PoolState(2)}), given.bodies(result))
    assert {name: desired.ready for name, desired in seen.desired.items()} == {
        "provider-config": True,
        "class-in-use-l4": True,
        "kube-system": False,
        "gateway": False,
    }
    reached = run(Provision(KUBECONFIG, {"l4": PoolState(2)}), given.reached() | given.bodies(result))
    assert all(desired.ready for desired in reached.desired.values())


def test_the_kubeconfig_of_a_source_is_what_the_cluster_is_reached_with() -> None:
    spec = given.bodies(run(Provision(KUBECONFIG, {"l4": PoolState(2)})))["provider-config"]["spec"]
    assert spec["credentials"]["secretRef"] == {"namespace": "modelplane-system", "name": "made", "key": "config"}
    assert (spec["identity"]["type"], spec["identity"]["secretRef"]["name"]) == (
        "GoogleApplicationCredentials",
        "identity",
    )


def test_a_cluster_without_a_kubeconfig_is_not_reached_and_one_that_was_is_still() -> None:
    waiting = Provision(None, {"l4": PoolState(2)}, missing=("Cluster made is being created",))
    assert run(waiting).desired.keys() == {"class-in-use-l4"}
    held = given.bodies(run(waiting, given.reached()))
    assert held["provider-config"]["spec"] == given.config()["spec"]
    assert held.keys() == {"provider-config", "kube-system", "gateway", "class-in-use-l4"}


def test_what_a_source_misses_is_why_the_cluster_is_not_ready() -> None:
    result = run(
        Provision(KUBECONFIG, {"l4": PoolState(2)}, missing=("network a is missing", "pool b is missing")),
        given.reached(),
    )
    ready = given.condition(result, "ClusterReady")
    assert (ready.status, ready.reason, ready.message) == (
        Status.FALSE,
        "Provisioning",
        "network a is missing. pool b is missing.",
    )


def test_pools_and_storage_are_published_as_the_source_reads_them() -> None:
    status = given.status(run(Provision(KUBECONFIG, {"l4": PoolState(7)}, storage_class="shared")))
    assert [(entry["name"], entry["nodes"]) for entry in status["gpuPools"]] == [("l4", 7)]
    assert status["cache"] == {"storageClassName": "shared"}


def test_what_a_source_cannot_carry_out_is_held_under_its_field() -> None:
    wrong = Malformed("InferenceCluster", "eu-1", "spec.nodePools[l4].zones", "name a zone", section="nodePools")
    result = run(wrong, given.reached())
    assert result.desired.keys() == given.reached().keys()
    ready = given.condition(result, "ClusterReady")
    assert (ready.reason, "spec.nodePools[l4].zones: name a zone" in ready.message) == ("InvalidNodePool", True)


@pytest.mark.parametrize("made", [False, True])
def test_what_is_composed_inside_a_cluster_is_deleted_first_unless_the_source_deletes_the_cluster_itself(
    made: bool,
) -> None:
    seen = own_gateway.made(own_gateway.ours("gw.example.org"))
    mark = {"metadata": {"name": "modelplane-installation"}, "data": {"id": "here"}}
    seen["installation"] = given.looking("ConfigMap", mark)
    answers = {"gateway": own_gateway.TRUSTED, "installation": [{**mark, "kind": "ConfigMap"}]}
    result = run(Provision(KUBECONFIG, {"l4": PoolState(2)}, made=made), seen, **answers)
    able = {name for name, body in given.bodies(result).items() if may_delete(body)}
    assert (able == set()) if made else (able >= {"gateway", "installation", "gateway-part-authority"})
