"""Two InferenceClusters of one cluster: one has what both need there, the other only looks, and either may go."""

from collections.abc import Collection
from dataclasses import replace
from typing import Any

import pytest

from given.manifests import cluster, hardware
from modelplane.compose_cluster import gateway
from modelplane.compose_cluster.inference_cluster import compose
from modelplane.compose_cluster.sources import SOURCES
from modelplane.preview import ControlPlane
from modelplane.preview.pipelines import Pipeline, pipeline_of
from modelplane.step import Request, Result
from unit.compose_cluster import clusters as given
from unit.compose_cluster.physical import UID, PhysicalCluster
from unit.compose_cluster.test_identity import marked
from unit.compose_cluster.test_own_gateway import ABSENT, TRUSTED, empty, made, ours, parts

NAMES = ("eu-1", "eu-2")
GATEWAY = ("Gateway", "modelplane-system", "inference-gateway")
MARK = ("ConfigMap", "kube-system", "modelplane-installation")
OBJECT = "Object.kubernetes.m.crossplane.io"
ABANDONED = {"modelplane.ai/abandon": "true"}
#: What is left behind on every cluster.
LEFT = {"Namespace", "GatewayClass", "NetworkPolicy", "APIService"}


def sharing(name: str, **spec: Any) -> dict[str, Any]:
    """Return an InferenceCluster that is annotated to share its cluster."""
    made = cluster(name, pool=f"pool-{name}", **spec)
    made["metadata"]["annotations"] = {"modelplane.ai/shares-cluster": "true"}
    return made


SEEN = {"kube-system": given.looking("Namespace", {"metadata": {"uid": "uid-1"}})}


def begin(
    *more: dict[str, Any], names: tuple[str, ...] = NAMES, held: Collection[str] = (), blind: Collection[str] = ()
) -> tuple[ControlPlane, PhysicalCluster]:
    """Return a control plane whose two InferenceClusters have settled, the first of them first, and their cluster.

    The source of those that are `held` is composed by no version. Those that are `blind` read the marks of others as
    they were before any was made.
    """

    def compose_or_hold(request: Request) -> Result:
        if request.composite.name in blind and "same-cluster" in request.required:
            request = replace(request, required={**request.required, "same-cluster": ()})
        return compose(request, {} if request.composite.name in held else SOURCES)

    def pipelines(kind: str) -> Pipeline | None:
        if kind != "InferenceCluster.modelplane.ai":
            return pipeline_of(kind)
        return Pipeline("inferencecluster", (("compose-cluster", compose_or_hold),))

    there = PhysicalCluster(frozenset(names))
    public = {
        "apiVersion": "modelplane.ai/v1alpha1",
        "kind": "InferenceGateway",
        "metadata": {"name": "default"},
        "spec": {},
        "status": {"caBundle": "-----BEGIN CERTIFICATE-----\nQQ==\n-----END CERTIFICATE-----\n"},
    }
    identity = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "modelplane-installation", "namespace": "modelplane-system"},
        "data": {"id": "here"},
    }
    control = ControlPlane((public, identity, hardware(), cluster(names[0], pool=f"pool-{names[0]}")), there, pipelines)
    settle(control)
    for name in names[1:]:
        control.apply(sharing(name))
    for each in more:
        control.apply(each)
    settle(control)
    return control, there


def settle(control: ControlPlane) -> None:
    assert control.settle()
    assert control.errors == {}


def read(control: ControlPlane, name: str) -> dict[str, Any]:
    found = control.get("InferenceCluster", None, name)
    assert found is not None
    return dict(found)


def condition(control: ControlPlane, name: str, kind: str) -> dict[str, Any]:
    return next(each for each in read(control, name)["status"]["conditions"] if each["type"] == kind)


def ready(control: ControlPlane, names: tuple[str, ...]) -> set[str]:
    """Return the InferenceClusters that take replicas."""
    found = [name for name in names if control.get("InferenceCluster", None, name)]
    conditions = {name: read(control, name).get("status", {}).get("conditions", ()) for name in found}
    true = {"type": "Ready", "status": "True"}
    return {name for name, all_of in conditions.items() if any(true.items() <= each.items() for each in all_of)}


def specs(control: ControlPlane, config: str) -> list[dict[str, Any]]:
    return [
        dict(obj["spec"]) for obj in control.list(OBJECT) if obj["spec"]["providerConfigRef"]["name"].endswith(config)
    ]


def policies(control: ControlPlane, config: str, kind: str) -> list[Any]:
    found = [spec for spec in specs(control, config) if spec["forProvider"]["manifest"]["kind"] == kind]
    return [spec.get("managementPolicies") for spec in found]


def test_the_one_that_has_the_cluster_makes_the_gateway_and_the_other_only_observes() -> None:
    control, there = begin()
    assert GATEWAY in there.there
    assert MARK in there.there
    for kind in ("Gateway", "ConfigMap"):
        assert {tuple(each) for each in policies(control, "eu-2", kind)} == {("Observe",)}
    assert {each["forProvider"]["manifest"]["kind"] for each in specs(control, "eu-2")} == {
        "Namespace",
        "Gateway",
        "ConfigMap",
    }
    for name in NAMES:
        assert condition(control, name, "Ready")["status"] == "True"
        assert read(control, name)["status"]["gateway"]["mutualTLS"] is True


@pytest.mark.parametrize("order", [NAMES, NAMES[::-1]], ids=" then ".join)
def test_deleting_either_takes_nothing_that_the_other_needs_and_the_last_takes_everything(
    order: tuple[str, str],
) -> None:
    control, there = begin()
    before = dict(there.there)
    first, last = order
    assert control.delete("InferenceCluster", None, first)
    settle(control)
    assert there.deleted == []
    assert there.there.keys() >= before.keys()
    assert condition(control, last, "Ready")["status"] == "True"
    assert {tuple(each or ()) for each in policies(control, last, "Gateway")} == {()}, "it manages the Gateway"
    assert len(there.certificates) == 1, "the Gateway shows the Secret that it always did"
    assert control.delete("InferenceCluster", None, last)
    settle(control)
    assert {key[0] for key in there.there} <= LEFT
    assert GATEWAY in there.deleted
    assert MARK in there.deleted


def test_one_that_takes_over_shows_the_pair_under_the_name_that_the_gateway_has() -> None:
    control, there = begin()
    (name,) = there.certificates
    control.delete("InferenceCluster", None, "eu-1")
    settle(control)
    (copied,) = [spec for spec in specs(control, "eu-2") if spec["forProvider"]["manifest"]["kind"] == "Secret"]
    (source,) = [each["patchesFrom"]["name"] for each in copied["references"]]
    assert copied["forProvider"]["manifest"]["metadata"]["name"] == name
    issued = {each["spec"]["secretName"] for each in control.list("Certificate.cert-manager.io")}
    assert source in issued, "the pair of the one that took over"
    assert source != name


def test_nothing_is_placed_on_one_that_shares_before_the_other_could_be_deleted() -> None:
    control, _ = begin(names=NAMES[:1])
    control.world.names = frozenset(NAMES)  # type: ignore[union-attr]
    control.apply(sharing("eu-2"))
    for _ in range(5):
        control.reconcile("InferenceCluster", None, "eu-2")
    waiting = condition(control, "eu-2", "ClusterReady")
    assert (waiting["status"], waiting["reason"]) == ("False", "Provisioning")
    assert waiting["message"].startswith(
        "InferenceCluster eu-1, which has the cluster, has not seen yet that eu-2 shares it; nothing is placed here"
    )
    for _ in range(2):
        control.reconcile("InferenceCluster", None, "eu-1")
    control.reconcile("InferenceCluster", None, "eu-2")
    assert condition(control, "eu-2", "ClusterReady")["status"] == "True"
    assert [read(control, name)["status"]["sharedWith"] for name in NAMES] == [["eu-2"], ["eu-1"]]


@pytest.mark.parametrize("order", [NAMES, NAMES[::-1]], ids=" then ".join)
def test_deleting_either_takes_nothing_from_the_other_while_one_of_them_is_held(order: tuple[str, str]) -> None:
    held: set[str] = set()
    control, there = begin(names=NAMES[:1], held=held)
    held.add("eu-1")
    there.names = frozenset(NAMES)
    control.apply(sharing("eu-2"))
    settle(control)
    first, last = order
    assert "is not composed by this version" in condition(control, "eu-1", "ClusterReady")["message"]
    assert condition(control, "eu-2", "Ready")["status"] == "True", "the one that is held has seen that it shares"
    control.delete("InferenceCluster", None, first)
    settle(control)
    assert there.deleted == []
    assert GATEWAY in there.there
    assert read(control, last)["status"]["gateway"]["address"] == "gw.example.org"


def test_one_that_is_held_leaves_the_gateway_there_once_it_is_abandoned() -> None:
    held: set[str] = set()
    control, there = begin(names=NAMES[:1], held=held)
    held.add("eu-1")
    control.apply({**cluster("eu-1", pool="pool-eu-1"), "metadata": {"name": "eu-1", "annotations": ABANDONED}})
    settle(control)
    control.delete("InferenceCluster", None, "eu-1")
    settle(control)
    assert there.deleted == []


@pytest.mark.parametrize("order", [NAMES, NAMES[::-1]], ids=" then ".join)
def test_of_two_that_have_marked_their_configs_at_the_same_moment_either_may_go(order: tuple[str, str]) -> None:
    blind = {"eu-2"}
    control, there = begin(cluster("eu-2", pool="pool-eu-2"), names=NAMES[:1], blind=blind)
    there.names = frozenset(NAMES)
    settle(control)
    blind.clear()
    for name in NAMES * 2:
        control.reconcile("InferenceCluster", None, name)
    settle(control)
    configs = [control.get("ClusterProviderConfig.kubernetes.m.crossplane.io", None, name) for name in NAMES]
    assert {each["metadata"]["labels"]["modelplane.ai/cluster-uid"] for each in configs if each} == {UID}
    assert condition(control, "eu-2", "ClusterReady")["reason"] == "DuplicateCluster"
    first, last = order
    control.delete("InferenceCluster", None, first)
    settle(control)
    assert there.deleted == []
    assert condition(control, last, "Ready")["status"] == "True"
    control.delete("InferenceCluster", None, last)
    settle(control)
    assert GATEWAY in there.deleted


def test_one_that_has_lost_its_annotation_is_reported_and_keeps_the_gateway_that_it_serves_by() -> None:
    control, there = begin()
    control.apply(cluster("eu-2", pool="pool-eu-2"))
    settle(control)
    assert condition(control, "eu-2", "ClusterReady")["reason"] == "DuplicateCluster"
    assert read(control, "eu-1")["status"]["sharedWith"] == ["eu-2"]
    control.delete("InferenceCluster", None, "eu-1")
    settle(control)
    assert there.deleted == []
    assert condition(control, "eu-2", "Ready")["status"] == "True"


def test_of_several_that_have_lost_their_annotation_one_alone_takes_over() -> None:
    control, there = begin(names=("eu-1", "eu-2", "eu-3"))
    for name in ("eu-2", "eu-3"):
        control.apply(cluster(name, pool=f"pool-{name}"))
    settle(control)
    control.delete("InferenceCluster", None, "eu-1")
    settle(control)
    assert there.deleted == []
    assert len(there.certificates) == 1
    assert [policies(control, name, "EnvoyProxy") for name in ("eu-2", "eu-3")] == [
        [["Observe", "Create", "Update"]],
        [],
    ]


@pytest.mark.parametrize(("others", "makes"), [((), True), (("eu-1", "eu-2"), False)])
def test_one_without_its_annotation_makes_nothing_before_its_own_config_has_the_mark(
    others: tuple[str, ...], makes: bool
) -> None:
    body, seen = given.cluster(status={"clusterUID": "uid-1"}), empty(gateway=ABSENT) | SEEN
    sharers = [marked(name) for name in others]
    result = given.run(body, seen, same_cluster=[], sharing_cluster=sharers, gateway=TRUSTED)
    assert bool(parts(result)) == makes


def test_the_gateway_is_deleted_with_its_cluster_again_once_nobody_shares_it() -> None:
    control, there = begin()
    assert policies(control, "eu-1", "Gateway") == [["Observe", "Create", "Update"]]
    control.delete("InferenceCluster", None, "eu-2")
    settle(control)
    assert policies(control, "eu-1", "Gateway") == [None]
    assert "sharedWith" not in read(control, "eu-1")["status"]
    assert there.deleted == []


def test_one_that_made_the_parts_before_leaves_them_there_and_composes_them_no_more() -> None:
    """What an earlier version composed, of which each of the two managed everything."""
    first = [marked("eu-0")]
    body = given.cluster(metadata={"name": "eu-1", "annotations": {"modelplane.ai/shares-cluster": "true"}})
    seen = made(ours("gw.example.org")) | SEEN
    leaving = parts(given.run(body, seen, same_cluster=first))
    assert leaving
    assert {tuple(each["spec"].get("managementPolicies", ())) for each in leaving.values()} == {
        ("Observe", "Create", "Update")
    }
    kept = {name: each for name, each in seen.items() if not name.startswith(gateway.PART)}
    assert parts(given.run(body, {**kept, **leaving}, same_cluster=first)) == {}


def test_another_that_shares_is_listed_once_nothing_that_both_need_goes_with_the_one_that_has_the_cluster() -> None:
    answers = {"same_cluster": [marked("eu-1")], "sharing_cluster": [marked("eu-2")], "gateway": TRUSTED}
    seen = made(ours("gw.example.org")) | SEEN
    first = given.run(given.cluster(), seen, **answers)
    assert "sharedWith" not in given.status(first)
    then = given.run(given.cluster(), {**seen, **given.bodies(first), **SEEN}, **answers)
    assert given.status(then)["sharedWith"] == ["eu-2"]


def test_a_duplicate_that_is_not_annotated_deletes_nothing_of_the_first() -> None:
    control, there = begin(names=NAMES[:1])
    there.names = frozenset(NAMES)
    control.apply(cluster("eu-2", pool="pool-eu-2"))
    settle(control)
    assert condition(control, "eu-2", "ClusterReady")["reason"] == "DuplicateCluster"
    control.delete("InferenceCluster", None, "eu-2")
    settle(control)
    assert there.deleted == []
    assert condition(control, "eu-1", "Ready")["status"] == "True"


def test_the_isolation_is_that_of_the_one_that_has_the_cluster_and_a_differing_field_is_named() -> None:
    other = sharing("eu-2", stack={"isolation": "Open", "podSecurity": "Warn"})
    control, _ = begin(other)
    assert read(control, "eu-2")["status"]["teamIsolation"] == {
        "isolation": "NewNamespaces",
        "egressCIDRs": [],
        "gatewayCIDRs": [],
        "podSecurity": "Warn",
    }
    assert "teamIsolation" not in read(control, "eu-1")["status"]
    ready = condition(control, "eu-2", "ClusterReady")
    assert (ready["status"], ready["message"]) == (
        "True",
        "spec.stack.isolation: InferenceCluster eu-1 has the cluster, and its spec.stack applies.",
    )


def test_of_two_that_share_a_cluster_the_one_that_has_it_installs_the_stack() -> None:
    stack = {"lws": "Managed"}
    control, _ = begin(cluster("eu-1", pool="pool-eu-1", stack=stack), sharing("eu-2", stack=stack))
    assert [each["metadata"]["name"] for each in control.list("ServingStack")] == ["eu-1"]
