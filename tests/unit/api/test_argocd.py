"""The health of our kinds in Argo CD, of objects as passes of ours and the real engine have left them."""

import copy
import re
from typing import Any

import pytest
import yaml

from given.manifests import cluster, deployment, hardware
from modelplane.model.conditions import (
    CONDITIONS,
    AnyCondition,
    Condition,
    DeploymentCondition,
    EndpointCondition,
    Reason,
    Status,
)
from modelplane.model.names import API_VERSION
from modelplane.preview import ControlPlane
from modelplane.step import Result
from modelplane_dev.folders import ROOT
from render.examples import documents
from unit.api.argocd import health, scripts
from unit.preview.fakes import TEAM, endpoint, existing, plane
from upgrade.states import STATES, read_state

Manifest = dict[str, Any]
CATALOGUE = ROOT / "examples/catalogue"
GOLDEN = ROOT / "tests/render/golden"
HEALTHY, PROGRESSING, DEGRADED, SUSPENDED = "Healthy", "Progressing", "Degraded", "Suspended"


@pytest.mark.parametrize(
    ("state", "kind", "name", "expected", "words"),
    [
        ("examples", "InferenceClass", "h100-8x", HEALTHY, ""),
        ("examples", "InferenceCluster", "eu-north-1", HEALTHY, ""),
        ("examples", "ModelDeployment", "qwen3-8b", HEALTHY, ""),
        ("examples", "ModelDeployment", "llama-4-maverick-unplaced", PROGRESSING, "0 of 1 replicas scheduled: 0/7"),
        ("examples", "ModelDeployment", "llama-3.3-70b-rdma", PROGRESSING, "Secret hugging-face does not exist"),
        ("examples", "ModelReplica", "llama-3-3-70b-rdma-b3c766e6", PROGRESSING, "Secret hugging-face does not exist"),
        ("examples", "ModelEndpoint", "kimi-k2-8b0080e7", PROGRESSING, "not reconciled"),
        ("held", "InferenceCluster", "west", DEGRADED, "ClusterReady: Namespace kube-system not in sync"),
        ("held", "ModelDeployment", "typo", DEGRADED, "engine main, request gpu, selector 0, line 1, column 17"),
        ("held", "ModelDeployment", "uncached", DEGRADED, "ModelCache absent does not exist"),
        ("held", "ModelCache", "open", PROGRESSING, "ArtifactReady: staged on 4 of 5 clusters"),
        ("leaving", "InferenceCluster", "north", PROGRESSING, "Ready: Deleting"),
    ],
)
def test_an_object_that_was_recorded_has_the_health_that_its_conditions_say(
    state: str, kind: str, name: str, expected: str, words: str
) -> None:
    (recorded,) = [
        each
        for each in read_state(STATES / "v0.1.0" / f"{state}.yaml")
        if each["apiVersion"] == API_VERSION and (each["kind"], each["metadata"]["name"]) == (kind, name)
    ]
    found, message = health(recorded)
    assert (found, words in message) == (expected, True), message


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        ("llama-4-maverick-unplaced", {("ModelDeployment", PROGRESSING)}),
        ("caches/one", {("ModelCache", PROGRESSING)}),
        ("replicas/standalone", {("ModelReplica", PROGRESSING)}),
        ("fleet", {("InferenceCluster", HEALTHY), ("ModelCache", HEALTHY)}),
    ],
)
def test_what_the_real_engine_renders_has_a_health(file: str, expected: set[tuple[str, str]]) -> None:
    rendered = [each for each in yaml.safe_load_all((GOLDEN / f"{file}.yaml").read_text()) if each]
    ours = [each for each in rendered if each["apiVersion"] == API_VERSION and "conditions" in each.get("status", {})]
    assert {(each["kind"], health(each)[0]) for each in ours} == expected


def _ours(kind: str, name: str, spec: Manifest, namespace: str | None = TEAM) -> Manifest:
    metadata = {"name": name} | ({"namespace": namespace} if namespace else {})
    return {"apiVersion": API_VERSION, "kind": kind, "metadata": metadata, "spec": spec}


def _service(name: str, selected: str, **spec: Any) -> Manifest:
    labels = {"modelplane.ai/deployment": selected}
    return _ours("ModelService", name, {"endpoints": [{"selector": {"matchLabels": labels}}], **spec})


GATEWAY = _ours("InferenceGateway", "default", {}, namespace=None)
KEYS = {"keys": [{"name": "search", "secretRef": {"name": "absent", "key": "token"}}]}
FLEET = (hardware(), cluster("east", stack={"lws": "Managed"}), cluster("west"), GATEWAY)


def settled(*objects: Manifest) -> ControlPlane:
    control = ControlPlane((*FLEET, *objects))
    assert control.settle()
    return control


def of(control: ControlPlane, made: Manifest) -> tuple[str, str]:
    """Return the health of an object as it is now."""
    metadata = made["metadata"]
    return health(existing(control, made["kind"], metadata.get("namespace"), metadata["name"]))


def test_what_serves_is_healthy_of_every_kind_on_its_way() -> None:
    models = {each["metadata"]["name"]: each for each in documents(CATALOGUE) if each["kind"] == "ClusterModel"}
    control = settled(deployment(), _service("chat", "chat"), models["gemma-3-27b"])
    found = [(kind, health(each)) for kind in scripts() for each in control.list(kind)]
    assert {health for _, health in found} == {(HEALTHY, "")}
    assert {kind for kind, _ in found} == set(scripts()) - {"ManagedCluster", "ModelCache"}


def _typo(name: str = "typo") -> Manifest:
    made = deployment(name)
    (engine,) = made["spec"]["engines"]
    engine["members"][0]["nodeSelector"]["devices"][0]["selectors"] = [{"cel": "device.driver =="}]
    return made


def _unreadable() -> Manifest:
    made = hardware("unreadable")
    made["spec"]["devices"][0]["attributes"] = {"driverVersion": {"version": "580"}}
    return made


@pytest.mark.parametrize(
    ("made", "expected", "words"),
    [
        (deployment("large", memory="900Gi"), PROGRESSING, "ReplicasScheduled: 0 of 1 replicas scheduled"),
        (_typo(), DEGRADED, "ReplicasScheduled: "),
        (deployment("parked", replicas=0), HEALTHY, ""),
        (_unreadable(), DEGRADED, "Accepted: spec.devices[gpu]"),
        ({**endpoint("addressed"), "spec": {"url": "http://127.0.0.1:1"}}, DEGRADED, "RoutingReady: "),
        (_service("early", "nothing"), PROGRESSING, "EndpointsResolved: "),
        (_service("locked", "nothing", **KEYS), DEGRADED, "RoutingReady: "),
    ],
    ids=lambda value: value["metadata"]["name"] if isinstance(value, dict) else "",
)
def test_what_waits_progresses_and_what_needs_an_edit_is_degraded(made: Manifest, expected: str, words: str) -> None:
    found, message = of(settled(made), made)
    assert (found, words in message) == (expected, True), message


@pytest.mark.parametrize("before", [deployment(), _typo("chat")], ids=["Healthy", "Degraded"])
def test_an_edit_progresses_until_a_pass_has_seen_it_whatever_was_before(before: Manifest) -> None:
    control = settled(before)
    control.apply(deployment(replicas=2))
    assert of(control, before) == (PROGRESSING, "Crossplane has not reconciled this generation yet")
    assert control.settle()
    assert of(control, before) == (HEALTHY, "")


def test_a_rollout_progresses_and_one_that_is_paused_is_suspended() -> None:
    edited = deployment()
    edited["spec"]["engines"][0]["members"][0]["template"]["spec"]["containers"][0]["image"] = "example.org/engine:v2"
    paused = copy.deepcopy(edited)
    paused["spec"]["rollout"] = {"paused": True}
    control = settled(deployment())
    control.apply(paused)
    assert control.settle()
    found, message = of(control, paused)
    assert (found, message.partition(":")[0]) == (SUSPENDED, "RolloutProgressing")
    control.apply(edited)
    control.reconcile("ModelDeployment", TEAM, "chat")
    found, message = of(control, edited)
    assert (found, "RolloutProgressing" in message) == (PROGRESSING, True)
    assert control.settle()
    assert of(control, edited) == (HEALTHY, "")


def test_a_pass_that_fails_is_degraded_until_an_edit_is_seen() -> None:
    fails = False
    reached = (Condition(EndpointCondition.ROUTING_READY, Status.TRUE, Reason.BACKEND_CONFIGURED),)
    step = lambda _: Result(conditions=reached, fatal="not today" if fails else None)  # noqa: E731
    control = plane(endpoint(), ModelEndpoint=step)
    control.settle()
    assert of(control, endpoint()) == (HEALTHY, "")
    fails = True
    control.apply({**endpoint(), "spec": {"url": "http://example.com"}})
    control.settle()
    found, message = of(control, endpoint())
    assert (found, "Synced: cannot compose resources" in message, "not today" in message) == (DEGRADED, True, True)
    control.apply(endpoint())
    assert of(control, endpoint()) == (PROGRESSING, "Crossplane has not reconciled this generation yet")


SYNCED = {"type": "Synced", "status": "True", "reason": "ReconcileSuccess"}


@pytest.mark.parametrize(
    "status", [{}, {"status": {}}, {"status": {"conditions": []}}, {"status": {"conditions": [SYNCED]}}]
)
def test_an_object_that_nothing_has_been_said_of_progresses(status: Manifest) -> None:
    assert health({**endpoint(), **status})[0] == PROGRESSING


#: Reasons of what is not as it should be that end once something else comes: room, a cluster, a download, a pass.
WAITS = {
    "Configuring", "Deploying", "Hydrating", "Installing", "InsufficientCapacity", "ModelCacheUnresolved",
    "ModelStarting", "NoClusters", "NoEndpoints", "NoReplicasScheduled", "Partial", "Provisioning", "RollingOut",
    "Searching", "WaitingForCache", "WaitingForClasses", "WaitingForCluster", "WaitingForGateway", "WaitingForModel",
    "WaitingForRoom",
}  # fmt: skip


def _said(kind: str, condition: str, reason: Reason, status: str) -> Manifest:
    said = {"type": str(condition), "status": status, "reason": str(reason), "message": "why"}
    own = [{"type": name, "status": "True", "reason": "x"} for name in ("Synced", "Ready")]
    return {"apiVersion": API_VERSION, "kind": kind, "metadata": {"name": "x"}, "status": {"conditions": [*own, said]}}


def test_every_reason_of_what_is_wrong_is_a_wait_or_needs_somebody() -> None:
    """A reason that is new is on neither list: decide for install/argocd/health.yaml, or for the waits here."""
    found: dict[str, set[str]] = {PROGRESSING: set(), DEGRADED: set(), SUSPENDED: set()}
    for kind, types in CONDITIONS.items():
        for condition, reasons in types.items():
            if condition == "PlacementDrifted":
                continue
            wrong = {"True": reasons.true} if condition == "RolloutProgressing" else {"False": reasons.false}
            for status, given in {**wrong, "Unknown": reasons.unknown}.items():
                for reason in given:
                    verdict, message = health(_said(kind, condition, reason, status))
                    assert message == f"{condition}: why"
                    found[verdict].add(str(reason))
    assert (found[PROGRESSING], found[SUSPENDED]) == (WAITS, {"Paused"})
    listed = set(re.findall(r"(\w+) = true", scripts()["ModelDeployment"].partition("}")[0]))
    assert listed == found[DEGRADED], "a reason that no condition has"


def test_versions_that_do_not_match_progress_and_a_drifted_placement_is_healthy() -> None:
    skew = _said("ModelDeployment", AnyCondition.VERSIONS_MATCH, Reason.SKEW, "False")
    drifted = _said("ModelDeployment", DeploymentCondition.PLACEMENT_DRIFTED, Reason.OUTSIDE_SELECTORS, "True")
    assert health(skew) == (PROGRESSING, "VersionsMatch: why")
    assert health(drifted) == (HEALTHY, "")


def test_what_crossplane_is_told_to_leave_alone_is_suspended() -> None:
    made = _said("ModelDeployment", DeploymentCondition.REPLICAS_READY, Reason.ALL_REPLICAS_READY, "True")
    made["status"]["conditions"][0] = {"type": "Synced", "status": "False", "reason": "ReconcilePaused"}
    assert health(made) == (SUSPENDED, "Synced: ReconcilePaused")
