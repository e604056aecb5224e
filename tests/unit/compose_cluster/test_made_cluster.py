"""A cluster on GKE is made, waits, is told why, and is deleted in an order that leaves no bill."""

from copy import deepcopy
from typing import Any

import pytest
import yaml

from modelplane.clouds import CLOUDS
from modelplane.compose_cluster.inference_cluster import compose
from modelplane.compose_cluster.managed_cluster import schemas_of
from modelplane.composing.orphan import may_delete
from modelplane.preview import ControlPlane
from modelplane.preview.worlds import healthy
from modelplane.step import Request, Result
from modelplane_dev.folders import ROOT
from unit.compose_cluster import clusters as given
from unit.compose_cluster import made
from unit.compose_cluster import test_own_gateway as own_gateway

Manifest = dict[str, Any]
MADE = {
    "kubeconfig": {"name": "eu-1-0a", "key": "kubeconfig"},
    "identity": {"type": "GoogleApplicationCredentials", "name": "eu-1-key", "key": "private_key"},
    "pools": [{"name": "l4", "state": "Ready", "nodes": 2}],
    "storage": {"class": "modelplane-rwx"},
    "facts": {"driverRoot": "/home/kubernetes/bin/nvidia", "podsPerNode": 90},
    "conditions": [{"type": "CloudReady", "status": "True", "reason": "Made", "message": ""}],
}


def run(body: Manifest, observed: dict[str, Manifest] | None = None, **required: Any) -> Result:
    """Run the step of an InferenceCluster on GKE."""
    return given.run(body, observed, class_l4=[made.device_class()], **required)


def inner(status: Manifest | None = None, **spec: Any) -> Manifest:
    """Return the ManagedCluster of an InferenceCluster as it is observed."""
    body = deepcopy(given.bodies(run(made.cluster(**spec)))["managed-cluster"])
    return {**body, "status": status or MADE}


def waiting(reason: str, message: str) -> Manifest:
    failed = [{"type": "CloudReady", "status": "False", "reason": reason, "message": message}]
    return {**{key: value for key, value in MADE.items() if key in ("pools", "facts")}, "conditions": failed}


def test_at_first_a_managed_cluster_is_all_that_is_composed_with_the_recipe_of_each_pool() -> None:
    result = run(made.cluster(gke=made.settings()))
    assert result.desired.keys() == {"managed-cluster", "class-in-use-l4"}
    spec = given.bodies(result)["managed-cluster"]["spec"]
    assert spec["pools"] == [{"name": "l4", "recipe": made.RECIPE, "nodeCount": 2, "zones": ["us-central1-a"]}]
    assert spec["settings"] == made.settings()
    assert given.condition(result, "ClusterReady").reason == "Provisioning"


def test_once_there_is_a_kubeconfig_the_cluster_is_reached_by_it_and_gets_its_stack() -> None:
    observed = given.reached(**{"managed-cluster": inner()})
    result = run(made.cluster(), observed)
    config = given.bodies(result)["provider-config"]["spec"]
    assert config["credentials"]["secretRef"]["name"] == "eu-1-0a"
    assert config["identity"]["secretRef"]["name"] == "eu-1-key"
    status = given.status(result)
    assert status["cache"] == {"storageClassName": "modelplane-rwx"}
    assert status["gpuPools"][0]["node"] == {"pods": 90}, "of 110, GKE's own DaemonSets take some"


def test_its_stack_has_every_part_and_knows_where_the_driver_is() -> None:
    seen = given.reached(**{"managed-cluster": inner()})
    seen["kube-system"] = given.looking("Namespace", {"metadata": {"name": "kube-system", "uid": "u"}})
    config = given.bodies(run(made.cluster(), seen))["provider-config"]
    answers = {"same_cluster": [config], "sharing_cluster": []}
    stack = given.bodies(run(made.cluster(), seen, **answers))["serving-stack"]["spec"]
    assert stack["parts"] == {}, "every part is Managed"
    assert stack["values"] == {"dra": {"nvidiaDriverRoot": "/home/kubernetes/bin/nvidia"}}


def test_the_key_of_a_cluster_stays_when_it_is_restored_with_another_uid() -> None:
    first = inner()
    restored = made.cluster() | {"metadata": {"name": "eu-1", "uid": "another"}}
    spec = given.bodies(run(restored, {"managed-cluster": first}))["managed-cluster"]["spec"]
    assert spec["key"] == first["spec"]["key"]
    assert given.bodies(run(restored))["managed-cluster"]["spec"]["key"] != first["spec"]["key"]


@pytest.mark.parametrize("unknown", ["class_l4", "replicas"])
def test_while_an_input_is_not_fetched_what_was_composed_stays(unknown: str) -> None:
    before = inner()
    before["spec"]["pools"][0] |= {"heldNodes": 1, "heldBy": ["ml/a"]}
    answers: dict[str, Any] = {"class_l4": [made.device_class()], unknown: None}
    result = given.run(made.cluster(), {"managed-cluster": before}, **answers)
    pools = given.bodies(result)["managed-cluster"]["spec"]["pools"]
    assert [(pool["name"], pool["recipe"]) for pool in pools] == [("l4", made.RECIPE)]
    assert unknown == "class_l4" or pools[0]["heldNodes"] == 1


def test_a_class_of_another_cloud_is_an_invalid_node_pool_and_changes_nothing() -> None:
    other = given.device_class()
    observed = given.reached(**{"managed-cluster": inner()})
    result = given.run(made.cluster(), observed, class_l4=[other])
    ready = given.condition(result, "ClusterReady")
    assert ready.reason == "InvalidNodePool"
    assert "spec.provisioning.gke" in ready.message
    assert given.bodies(result)["managed-cluster"]["spec"] == observed["managed-cluster"]["spec"]


def test_why_a_cluster_is_not_made_is_said_by_the_inference_cluster() -> None:
    result = run(made.cluster(), {"managed-cluster": inner(waiting("ProviderMissing", "the provider is missing"))})
    ready = given.condition(result, "ClusterReady")
    assert (ready.status, ready.reason) == ("False", "ProviderMissing")
    assert "the provider is missing" in ready.message


POOL_WORDS = {
    "stock": ("Error 429: GCE_STOCKOUT: the zone has none", "Waiting", "add a pool beside it in other zones"),
    "quota": ("googleapi: Error 403: Quota 'NVIDIA_L4_GPUS' exceeded. Limit: 0.0", "Waiting", "ask for more"),
    "a machine that does not exist": ("Error 400: Invalid machine type", "Failed", "does not take the request"),
    "something else": ("connection reset by peer", "Waiting", "connection reset by peer"),
}


@pytest.mark.parametrize(("error", "state", "remedy"), POOL_WORDS.values(), ids=POOL_WORDS)
def test_a_pool_that_does_not_come_is_told_in_googles_words_and_the_cluster_is_made(
    error: str, state: str, remedy: str
) -> None:
    body = made.managed(made.asked_pool())
    observed = made.seen(given.bodies(made.run(body)), errors={"pool-l4": error})
    result = made.run(body, observed)
    condition, row = given.condition(result, "CloudReady"), (result.status or {})["pools"][0]
    assert (condition.status, condition.reason, row["state"]) == ("True", "Made", state)
    assert error.rstrip(".") in row["message"]
    assert remedy in row["message"]
    assert result.status is not None
    assert result.status["kubeconfig"]
    held = given.reached(**{"managed-cluster": inner({**MADE, "pools": [row]})})
    outer = run(made.cluster(), held)
    ready = given.condition(outer, "ClusterReady")
    assert (ready.status, remedy in ready.message) == ("True", True)
    assert given.status(outer)["gpuPools"][0]["nodes"] == 2, "published as declared"


def test_a_forbidden_key_names_the_policy_of_the_organisation() -> None:
    body, error = made.managed(made.asked_pool()), "Error 400: Key creation is not allowed on this service account."
    result = made.run(body, made.seen(given.bodies(made.run(body)), errors={"service-account-key": error}))
    condition = given.condition(result, "CloudReady")
    assert (condition.status, condition.reason) == ("False", "Provisioning")
    assert "iam.disableServiceAccountKeyCreation" in condition.message


def test_a_cluster_that_was_made_and_is_not_ready_for_a_moment_keeps_its_kubeconfig_and_what_is_inside() -> None:
    body = made.managed(made.asked_pool())
    bodies = given.bodies(made.run(body))
    settled = made.run(body, made.seen(bodies))
    inside = {name: each for name, each in given.bodies(settled).items() if name not in bodies}
    observed = made.seen({**bodies, **inside}, errors={"cluster": "Error 503"})
    result = made.run({**body, "status": settled.status}, observed)
    assert result.desired.keys() == observed.keys()
    assert (result.status or {})["kubeconfig"] == (settled.status or {})["kubeconfig"]


PROVIDER: dict[str, tuple[Manifest, str, str]] = {
    "missing": ({"cloud_provider": [], "cloud_definition": []}, "ProviderMissing", "modelplane-clouds"),
    "inactive": (
        {
            "cloud_provider": [],
            "cloud_definition": [
                {
                    "kind": "ManagedResourceDefinition",
                    "metadata": {"name": "clusters.container.gcp.m.upbound.io"},
                    "spec": {"state": "Inactive"},
                }
            ],
        },
        "KindInactive",
        "Activate it",
    ),
    "unhealthy": (
        {
            "cloud_definition": [],
            "cloud_provider": [
                {
                    "kind": "Provider",
                    "metadata": {"name": "upbound-provider-gcp-container"},
                    "status": {"conditions": [{"type": "Healthy", "status": "False", "message": "no such image"}]},
                }
            ],
        },
        "ProviderUnhealthy",
        "no such image",
    ),
}


@pytest.mark.parametrize(("answers", "reason", "words"), PROVIDER.values(), ids=PROVIDER)
@pytest.mark.parametrize("exists", [False, True])
def test_without_its_provider_a_cluster_says_which_of_three_things_is_wrong_and_nothing_is_lost(
    answers: Manifest, reason: str, words: str, exists: bool
) -> None:
    body = made.managed(made.asked_pool())
    observed = made.seen(given.bodies(made.run(body))) if exists else {}
    absent: dict[str, Any] = {f"definition-{each.name}": [] for each in schemas_of(CLOUDS["GKE"])}
    answered = {name.replace("_", "-"): found for name, found in answers.items()}
    result = made.run(body, observed, schemas=dict.fromkeys(made.KINDS), **answered, **absent)
    condition = given.condition(result, "CloudReady")
    assert (condition.status, condition.reason) == ("False", reason)
    assert words in condition.message
    assert result.desired.keys() == observed.keys()
    assert bool(result.fatal) is exists, "Crossplane could neither apply nor delete what has no kind"


ACCOUNTS: dict[str, tuple[Any, str]] = {
    "not fetched": (None, "not fetched yet"),
    "absent": ([], "ClusterProviderConfig default (gcp.m.upbound.io/v1beta1) does not exist"),
    "without a project": ([{**made.ACCOUNT, "spec": {}}], "has no spec.projectID"),
}


@pytest.mark.parametrize(("account", "words"), ACCOUNTS.values(), ids=ACCOUNTS)
@pytest.mark.parametrize("exists", [False, True])
def test_without_a_project_nothing_is_made_and_what_was_made_stays(account: Any, words: str, exists: bool) -> None:
    body = made.managed(made.asked_pool())
    observed = made.seen(given.bodies(made.run(body))) if exists else {}
    result = made.run(body, observed, account=account)
    assert result.desired.keys() == observed.keys()
    assert words in given.condition(result, "CloudReady").message


LIMITS: dict[str, tuple[Manifest, Manifest, str]] = {
    "a zone of another region": ({"zones": ["europe-west4-a"]}, {}, "us-central1-a"),
    "more nodes than addresses": ({"nodeCount": None, "maxNodeCount": 200}, {}, "128"),
    "no network": ({}, {"apiAccessCIDRs": ["300.1.1.1/8"]}, "spec.cluster.gke.apiAccessCIDRs"),
}


@pytest.mark.parametrize(("pool", "settings", "words"), LIMITS.values(), ids=LIMITS)
@pytest.mark.parametrize("exists", [False, True])
def test_what_gke_cannot_make_is_refused_with_what_it_would_take(
    pool: Manifest, settings: Manifest, words: str, exists: bool
) -> None:
    observed = made.seen(given.bodies(made.run(made.managed(made.asked_pool())))) if exists else {}
    fields = {name: each for name, each in made.asked_pool(**pool).items() if each is not None}
    result = made.run(made.managed(fields, **settings), observed)
    condition = given.condition(result, "CloudReady")
    assert (condition.reason, words in condition.message) == ("InvalidNodePool", True)
    assert result.desired.keys() == observed.keys()


def test_credentials_are_those_that_each_cluster_names() -> None:
    team = {**made.ACCOUNT, "kind": "ProviderConfig", "metadata": {"name": "team", "namespace": "modelplane-system"}}
    body = made.managed(made.asked_pool(), credentials={"type": "ProviderConfig", "name": "team"})
    result = made.run(body, account=[team])
    needed = next(each for each in result.requirements if each.name == "account")
    assert (needed.kind, needed.match_name, needed.namespace) == ("ProviderConfig", "team", "modelplane-system")
    configs = [each["spec"]["providerConfigRef"] for each in given.bodies(result).values()]
    assert configs == [{"kind": "ProviderConfig", "name": "team"}] * len(configs)


def served(**more: Manifest) -> dict[str, Manifest]:
    """Return what is observed of a made cluster whose Gateway is Modelplane's and serves."""
    return own_gateway.made(own_gateway.ours("192.0.2.1")) | {"managed-cluster": inner(), **more}


def ordered() -> dict[str, Manifest]:
    """Return what is observed once the barrier is there and the Usages about it."""
    named = {"metadata": {"name": "barrier-object", "namespace": "modelplane-system"}}
    first = given.bodies(run(made.cluster(), served(), gateway=own_gateway.TRUSTED))
    seen = served(**{"load-balancer": first["load-balancer"] | named})
    second = given.bodies(run(made.cluster(), seen, gateway=own_gateway.TRUSTED))
    return seen | {name: body for name, body in second.items() if body["kind"] == "Usage"}


def test_the_barrier_deletes_nothing_before_the_cluster_is_sure_to_outlive_it() -> None:
    first = given.bodies(run(made.cluster(), served(), gateway=own_gateway.TRUSTED))
    assert first["load-balancer"]["spec"]["managementPolicies"] == ["Observe"]
    seen = {name: each for name, each in ordered().items() if name != "outlives-managed-cluster-load-balancer"}
    second = given.bodies(run(made.cluster(), seen, gateway=own_gateway.TRUSTED))
    assert second["load-balancer"]["spec"]["managementPolicies"] == ["Observe"]


def test_the_gateway_of_a_made_cluster_is_made_once_its_load_balancer_would_go_before_the_cluster() -> None:
    observing = {**own_gateway.ABSENT, "spec": {**own_gateway.ABSENT["spec"], "managementPolicies": ["Observe"]}}
    absent = own_gateway.made(observing) | {"managed-cluster": inner()}
    plain = given.bodies(run(made.cluster(), absent, gateway=own_gateway.TRUSTED))
    assert plain["gateway"]["spec"]["managementPolicies"] == ["Observe"]
    barrier = {**plain["load-balancer"], "spec": {**plain["load-balancer"]["spec"]}}
    barrier["spec"]["managementPolicies"] = ["Observe", "Delete"]
    later = run(made.cluster(), {**absent, "load-balancer": barrier}, gateway=own_gateway.TRUSTED)
    assert "Create" in given.bodies(later)["gateway"]["spec"]["managementPolicies"]


def test_the_barrier_of_an_abandoned_cluster_deletes_nothing() -> None:
    body = {**made.cluster(), "metadata": {"name": "eu-1", "annotations": {"modelplane.ai/abandon": "true"}}}
    result = run(body, ordered(), gateway=own_gateway.TRUSTED)
    assert given.bodies(result)["load-balancer"]["spec"]["managementPolicies"] == ["Observe"]
    assert not any(may_delete(each) for each in given.bodies(result).values())


def test_the_load_balancer_goes_before_the_cluster_and_nothing_else_inside_is_deleted() -> None:
    result = run(made.cluster(), ordered(), gateway=own_gateway.TRUSTED)
    barrier = given.bodies(result)["load-balancer"]
    assert {name for name, body in given.bodies(result).items() if may_delete(body)} == {"load-balancer"}
    assert barrier["spec"]["managementPolicies"] == ["Observe", "Delete"]
    manifest = barrier["spec"]["forProvider"]["manifest"]
    metadata = {"name": "inference-gateway", "namespace": "envoy-gateway-system"}
    assert (manifest["kind"], manifest["metadata"]) == ("Service", metadata)


def test_what_outlives_what_is_composed_before_a_deletion_begins() -> None:
    named = {"metadata": {"name": "barrier-object", "namespace": "modelplane-system"}}
    first = given.bodies(run(made.cluster(), served(), gateway=own_gateway.TRUSTED))["load-balancer"] | named
    seen = served(**{"load-balancer": first})
    usages = {
        name: body["spec"]
        for name, body in given.bodies(run(made.cluster(), seen, gateway=own_gateway.TRUSTED)).items()
        if body["kind"] == "Usage"
    }
    ends = {(each["of"]["kind"], each["of"]["resourceRef"]["name"], each["by"]["kind"]) for each in usages.values()}
    assert ends == {
        ("ManagedCluster", "eu-1", "Object"),
        ("ManagedCluster", "eu-1", "ClusterProviderConfig"),
        ("Object", "barrier-object", "Object"),
    }
    assert all(each["replayDeletion"] for each in usages.values())


def test_before_there_is_a_load_balancer_nothing_waits_for_one_and_later_it_stays() -> None:
    assert "load-balancer" not in run(made.cluster(), given.reached(**{"managed-cluster": inner()})).desired
    barrier = given.bodies(run(made.cluster(), served(), gateway=own_gateway.TRUSTED))["load-balancer"]
    seen = given.reached(**{"managed-cluster": inner(), "load-balancer": barrier})
    assert "load-balancer" in run(made.cluster(), seen).desired


def test_a_cluster_that_was_deleted_in_its_cloud_and_made_anew_is_used_and_said_so_once() -> None:
    anew = given.looking("Namespace", {"metadata": {"name": "kube-system", "uid": "second"}})
    seen = given.reached(**{"managed-cluster": inner(), "kube-system": anew})
    before = {"clusterUID": "first"}
    answers: dict[str, Any] = {"same_cluster": [], "sharing_cluster": []}
    result = run({**made.cluster(), "status": before}, seen, **answers)
    assert given.condition(result, "ClusterReady").reason == "ClusterRunning"
    assert given.status(result)["clusterUID"] == "second"
    assert ["made anew" in event.message for event in result.events] == [True]
    again = run({**made.cluster(), "status": given.status(result)}, seen, **answers)
    assert again.events == ()
    brought = given.run(given.cluster(status=before), given.reached(**{"kube-system": anew}), **answers)
    assert given.condition(brought, "ClusterReady").reason == "IdentityChanged"


FLEET = (
    made.ACCOUNT,
    made.device_class(),
    made.cluster(made.pool("a", nodeCount=1), made.pool("b", nodeCount=1)),
    {"apiVersion": "modelplane.ai/v1alpha1", "kind": "InferenceGateway", "metadata": {"name": "default"}, "spec": {}},
)


def deployment(replicas: int) -> Manifest:
    request = {"name": "gpu", "count": 8, "selectors": [{"cel": 'device.driver == "gpu.nvidia.com"'}]}
    engine = {"containers": [{"name": "engine", "image": "example.org/engine:v1"}]}
    member = {"nodeSelector": {"devices": [request]}, "template": {"spec": engine}}
    return {
        "apiVersion": "modelplane.ai/v1alpha1",
        "kind": "ModelDeployment",
        "metadata": {"name": "chat", "namespace": "ml"},
        "spec": {"replicas": replicas, "engines": [{"name": "main", "members": [member]}]},
    }


def state(control: ControlPlane) -> tuple[list[str], list[tuple[str, bool]], list[str]]:
    """Return the node pools in the cloud, the published ones with whether they are leaving, and where replicas are."""
    pools = control.list("NodePool.container.gcp.m.upbound.io")
    cloud = [pool["spec"]["forProvider"]["nodeConfig"]["labels"]["modelplane.ai/pool"] for pool in pools]
    (cluster,) = control.list("InferenceCluster")
    published = [(pool["name"], pool.get("leaving", False)) for pool in cluster["status"]["gpuPools"]]
    replicas = control.list("ModelReplica")
    on = [replica["spec"]["engines"][0]["members"][0]["nodePoolName"] for replica in replicas]
    return sorted(set(cloud) - {"system"}), published, sorted(on)


def test_a_pool_that_is_removed_stays_while_replicas_are_on_it_and_takes_no_other() -> None:
    control = ControlPlane((*FLEET, deployment(2)))
    assert control.settle()
    assert state(control) == (["a", "b"], [("a", False), ("b", False)], ["a", "b"])
    control.apply(made.cluster(made.pool("a", nodeCount=1)))
    assert control.settle()
    assert state(control) == (["a", "b"], [("a", False), ("b", True)], ["a", "b"])
    (cluster,) = control.list("InferenceCluster")
    ready = next(each for each in cluster["status"]["conditions"] if each["type"] == "ClusterReady")
    assert "node pool b: It is asked for no more, and stays while replicas are on it (ml/chat-" in ready["message"]
    control.apply(made.cluster(made.pool("a", nodeCount=1), made.pool("c", nodeCount=1)))
    assert control.settle()
    assert state(control) == (["a", "c"], [("a", False), ("c", False)], ["a", "c"])


def test_what_is_asked_for_in_the_preview_is_the_same_without_end() -> None:
    control = ControlPlane((*FLEET, deployment(1)))
    assert control.settle()
    before = {key: control.get(*key) for key in (("ManagedCluster", "modelplane-system", "eu-1"),)}
    assert control.settle()
    assert {key: control.get(*key) for key in before} == before
    assert control.errors == {}


def test_without_its_provider_no_pass_fails_and_with_it_the_cluster_is_made() -> None:
    class Bare:
        kinds = tuple(each for each in healthy.kinds if ".m.upbound.io" not in each[0])

        def __call__(self, view: Any) -> Any:
            return healthy(view)

    fleet = [each for each in FLEET if each is not made.ACCOUNT]
    control = ControlPlane(fleet, Bare())
    assert control.settle()
    assert control.errors == {}
    (cluster,) = control.list("InferenceCluster")
    ready = next(each for each in cluster["status"]["conditions"] if each["type"] == "ClusterReady")
    assert ready["reason"] == "ProviderMissing"
    control.world = healthy
    control.apply(made.ACCOUNT)
    assert control.settle()
    (cluster,) = control.list("InferenceCluster")
    assert next(each for each in cluster["status"]["conditions"] if each["type"] == "Ready")["status"] == "True"


def test_a_cluster_of_a_source_without_its_block_changes_nothing() -> None:
    body = made.cluster()
    del body["spec"]["cluster"]["gke"]
    seen = {"managed-cluster": given.obj(inner())}
    result = compose(Request(given.obj(body), seen))
    assert result.desired.keys() == seen.keys()


def test_replicas_leave_first_then_the_config_and_the_cloud_last_of_which_nothing_is_left() -> None:
    control = ControlPlane((*FLEET, deployment(1)))
    assert control.settle()
    assert control.delete("InferenceCluster", None, "eu-1")
    control.settle()
    (inner_kind,) = control.list("ManagedCluster")
    assert "deletionTimestamp" not in inner_kind["metadata"], "a replica is on it"
    assert control.list("NodePool.container.gcp.m.upbound.io")
    assert control.list("ClusterProviderConfig.kubernetes.m.crossplane.io")
    assert control.delete("ModelDeployment", "ml", "chat")
    control.settle()
    left = [obj["kind"] for obj in control.everything() if obj["apiVersion"].split("/")[0].endswith("gcp.m.upbound.io")]
    assert left == ["ClusterProviderConfig"], "the account alone"
    assert control.list("ManagedCluster") == control.list("InferenceCluster") == []


def test_a_class_of_the_founding_documents_makes_a_pool_as_it_is() -> None:
    fleet = list(yaml.safe_load_all((ROOT / "docs/tour/fleet.yaml").read_text()))
    a_class = next(each for each in fleet if each["metadata"]["name"] == "gke-l4-1x-g2")
    on_it = made.cluster(made.pool("gpu-l4", className="gke-l4-1x-g2"))
    control = ControlPlane((made.ACCOUNT, a_class, on_it))
    assert control.settle()
    assert control.errors == {}
    pools = {each["metadata"]["name"]: each for each in control.list("NodePool.container.gcp.m.upbound.io")}
    (found,) = (each for name, each in pools.items() if "gpu-l4" in name)
    config = found["spec"]["forProvider"]["nodeConfig"]
    assert (config["machineType"], config["guestAccelerator"][0]["type"]) == ("g2-standard-8", "nvidia-l4")
    (cluster,) = control.list("InferenceCluster")
    assert cluster["status"]["gpuPools"][0]["devices"][0]["attributes"]["productName"] == {"string": "NVIDIA L4"}
