"""How teams on an inference cluster are isolated, and what an engine's container may do there."""

import copy
from typing import Any

import pytest

from modelplane.model.rollout import BUILDER
from modelplane.step import Result
from unit.compose_cache import caches
from unit.compose_replica import replicas as given

DROPPED = ["AUDIT_WRITE", "MKNOD", "NET_RAW", "SETFCAP", "SYS_CHROOT"]


def engine(**container: Any) -> dict[str, Any]:
    template = {"spec": {"containers": [given.container(**container)]}}
    return given.engine(members=[given.member(template=template)])


def pod_of(*engines: dict[str, Any]) -> dict[str, Any]:
    manifest = given.manifest_of(given.run(given.replica(*engines)), "deployment-main")
    pod: dict[str, Any] = manifest["spec"]["template"]["spec"]
    return pod


def isolating(**stack: Any) -> dict[str, Any]:
    return given.cluster() | {"spec": {"stack": stack}}


def test_an_engine_has_no_token_of_its_cluster() -> None:
    assert pod_of()["automountServiceAccountToken"] is False


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ({}, {"capabilities": {"drop": DROPPED}}),
        ({"capabilities": {"add": ["IPC_LOCK"]}}, {"capabilities": {"add": ["IPC_LOCK"], "drop": DROPPED}}),
        (
            {"seccompProfile": {"type": "RuntimeDefault"}},
            {"capabilities": {"drop": DROPPED}, "seccompProfile": {"type": "RuntimeDefault"}},
        ),
    ],
)
def test_an_engine_drops_what_no_engine_needs_and_keeps_what_was_asked_for(
    asked: dict[str, Any], found: dict[str, Any]
) -> None:
    (container,) = pod_of(engine(securityContext=asked) if asked else engine())["containers"]
    assert container["securityContext"] == found


def test_the_members_of_a_gang_drop_it_too() -> None:
    gang = given.manifest_of(given.run(given.replica(given.gang())), "leaderworkerset-main")
    template = gang["spec"]["leaderWorkerTemplate"]
    for pod in (template["leaderTemplate"]["spec"], template["workerTemplate"]["spec"]):
        assert pod["automountServiceAccountToken"] is False
        assert pod["containers"][0]["securityContext"] == {"capabilities": {"drop": DROPPED}}


def dropped(body: dict[str, Any], observed: dict[str, Any], *, choice: str) -> list[list[str]]:
    """Return what the engines of a replica drop, on a cluster with this choice of the platform's."""
    result = given.run(body, observed, cluster=[isolating(engineCapabilities=choice)])
    manifests = (given.manifest_of(result, name) for name in result.desired if name.startswith("deployment-"))
    containers = [each["spec"]["template"]["spec"]["containers"][0] for each in manifests]
    return [each["securityContext"]["capabilities"]["drop"] for each in containers]


def test_an_engine_that_the_platform_gives_no_capabilities_has_those_alone_that_it_adds() -> None:
    body = given.replica(engine(securityContext={"capabilities": {"add": ["IPC_LOCK"]}}))
    made = given.manifest_of(given.run(body, cluster=[isolating(engineCapabilities="None")]), "deployment-main")
    (container,) = made["spec"]["template"]["spec"]["containers"]
    assert container["securityContext"] == {"capabilities": {"add": ["IPC_LOCK"], "drop": ["ALL"]}}


@pytest.mark.parametrize(("before", "after", "drop"), [("Default", "None", DROPPED), ("None", "Default", ["ALL"])])
def test_another_choice_of_capabilities_reaches_an_engine_with_its_next_edit_and_restarts_nothing(
    before: str, after: str, drop: list[str]
) -> None:
    body, edited = given.replica(), given.replica(engine(args=["--max-num-seqs=8"]))
    made = given.run(body, cluster=[isolating(engineCapabilities=before)]).desired
    observed = {name: given.provided(each.build()) for name, each in made.items()}
    assert dropped(body, observed, choice=after) == [drop]
    assert dropped(edited, observed, choice=after) == [["ALL"] if after == "None" else DROPPED]
    followed = {**body, "spec": {**body["spec"], "builder": BUILDER}}
    assert dropped(followed, observed, choice=after) == [drop]
    observed["deployment-main"]["metadata"]["annotations"]["modelplane.ai/builder"] = str(BUILDER - 1)
    assert dropped(followed, observed, choice=after) == [["ALL"] if after == "None" else DROPPED]


def labels_of(cluster: dict[str, Any]) -> dict[str, str]:
    manifest = given.manifest_of(given.run(given.replica(), cluster=[cluster]), "namespace")
    labels: dict[str, str] = manifest["metadata"]["labels"]
    return {key.partition("/")[2]: value for key, value in labels.items() if key.startswith("pod-security")}


def test_pods_outside_of_the_baseline_are_recorded_and_refused_only_where_the_platform_asks() -> None:
    assert labels_of(given.cluster()) == {"audit": "baseline", "warn": "baseline"}
    assert labels_of(isolating(podSecurity="Enforce")) == {
        "audit": "baseline",
        "enforce": "baseline",
        "warn": "baseline",
    }


ISOLATED = "modelplane.ai/isolated"
EGRESS = "modelplane.ai/egress"
GATEWAYS = [
    {"app.kubernetes.io/component": "proxy", "app.kubernetes.io/managed-by": "envoy-gateway"},
    {"gateway.networking.k8s.io/gateway-name": "inference-gateway"},
]


def in_namespace(
    observed: dict[str, Any], mark: str | None, body: dict[str, Any] | None = None, *, label: str = "", **stack: Any
) -> Result:
    """Return what a replica composes whose namespace the cluster shows with this mark, and label of what pods reach."""
    seen = copy.deepcopy(observed)
    labels = {"modelplane.ai/namespace": "team"} | ({ISOLATED: mark} if mark else {})
    labels |= {EGRESS: label} if label else {}
    seen["namespace"]["status"]["atProvider"]["manifest"]["metadata"]["labels"] = labels
    return given.run(body or given.replica(), seen, cluster=[isolating(**stack)])


def fresh(**stack: Any) -> dict[str, Any]:
    """Return what is observed of a replica after its first pass, on a cluster that made all of it."""
    desired = given.run(given.replica(), cluster=[isolating(**stack)]).desired
    return {name: given.provided(each.build()) for name, each in desired.items()}


def policy_in(result: Result) -> str:
    """Return what the NetworkPolicy of a namespace does, "none" where none is composed."""
    if "network-policy" not in result.desired:
        return "none"
    return "open" if given.manifest_of(result, "network-policy")["spec"]["ingress"] == [{}] else "closed"


def mark_in(result: Result) -> str | None:
    mark: str | None = given.manifest_of(result, "namespace")["metadata"]["labels"].get(ISOLATED)
    return mark


def test_a_closed_namespace_lets_the_team_gateways_and_named_networks_in_alone() -> None:
    cluster = isolating(isolation="Enforced", gatewayCIDRs=["192.0.2.0/24"])
    policy = given.manifest_of(given.run(given.replica(), cluster=[cluster]), "network-policy")
    assert policy["metadata"] == {"name": "modelplane", "namespace": "mp-team"}
    labelled = {"namespaceSelector": {"matchLabels": {"modelplane.ai/reaches-engines": "true"}}}
    no_team = {"matchExpressions": [{"key": "modelplane.ai/namespace", "operator": "DoesNotExist"}]}
    gateways = [{"namespaceSelector": no_team, "podSelector": {"matchLabels": each}} for each in GATEWAYS]
    allowed = [{"podSelector": {}}, labelled, *gateways, {"ipBlock": {"cidr": "192.0.2.0/24"}}]
    assert policy["spec"] == {"podSelector": {}, "policyTypes": ["Ingress"], "ingress": [{"from": allowed}]}


@pytest.mark.parametrize(("isolation", "mark"), [(None, "creation"), ("NewNamespaces", "creation"), ("Open", None)])
def test_a_namespace_that_is_not_seen_yet_is_marked_if_it_is_made_and_left_as_it_is_where_it_exists(
    isolation: str | None, mark: str | None
) -> None:
    made = given.run(given.replica(), cluster=[isolating(**({"isolation": isolation} if isolation else {}))])
    assert mark_in(made) == mark
    assert made.desired["namespace"].build()["spec"]["managementPolicies"] == ["Observe", "Create"]
    assert policy_in(made) == "none"


#: What a namespace is marked with, and isolation: what its policy does, and what it is marked with then.
CLOSING: dict[str, tuple[str | None, str, str, str | None]] = {
    "made by Modelplane": ("creation", "NewNamespaces", "closed", "creation"),
    "there before": (None, "NewNamespaces", "none", None),
    "there before, with a mark of somebody's": ("yes", "NewNamespaces", "none", None),
    "enforced once": ("enforced", "NewNamespaces", "open", "enforced"),
    "there before, enforced": (None, "Enforced", "closed", "enforced"),
    "made by Modelplane, enforced": ("creation", "Enforced", "closed", "creation"),
    "made by Modelplane, opened": ("creation", "Open", "open", "creation"),
    "enforced once, opened": ("enforced", "Open", "open", "enforced"),
    "there before, opened": (None, "Open", "none", None),
}


@pytest.mark.parametrize(("mark", "isolation", "does", "then"), CLOSING.values(), ids=CLOSING)
def test_a_namespace_is_closed_if_modelplane_made_it_or_the_platform_enforces_it(
    mark: str | None, isolation: str, does: str, then: str | None
) -> None:
    found = in_namespace(fresh(), mark, isolation=isolation)
    assert policy_in(found) == does
    assert mark_in(found) == then
    assert found.desired["namespace"].build()["spec"]["managementPolicies"] == ["Observe", "Create", "Update"]


def test_a_policy_that_was_composed_is_opened_and_never_left_closed_behind() -> None:
    observed = given.serving(given.replica())
    assert "network-policy" in observed
    del observed["namespace"]["spec"]["forProvider"]["manifest"]["metadata"]["labels"][ISOLATED]
    for isolation in ("Open", "NewNamespaces"):
        assert policy_in(in_namespace(observed, None, isolation=isolation)) == "open"


@pytest.mark.parametrize("label", [None, "enforced", "yes"])
@pytest.mark.parametrize(("isolation", "does"), [("NewNamespaces", "closed"), ("Enforced", "closed"), ("Open", "open")])
def test_a_mark_that_is_changed_on_the_cluster_is_put_back_and_opens_nothing(
    label: str | None, isolation: str, does: str
) -> None:
    found = in_namespace(given.serving(given.replica()), label, isolation=isolation)
    assert (policy_in(found), mark_in(found)) == (does, "creation")
    assert found.desired["namespace"].build()["spec"]["managementPolicies"] == ["Observe", "Create", "Update"]


def test_replicas_and_caches_of_a_namespace_want_the_same_of_it_whoever_made_it() -> None:
    replica = in_namespace(fresh(), "creation", label="NoMetadata").desired["namespace"].build()
    first = caches.run(caches.cache())
    seen = caches.observed(first)
    cache = caches.run(caches.cache(), seen).desired["namespace-eu-1"].build()
    assert replica["spec"]["forProvider"]["manifest"] == cache["spec"]["forProvider"]["manifest"]
    seen["namespace-eu-1"]["status"]["atProvider"]["manifest"]["metadata"]["labels"] = {}
    cache = caches.run(caches.cache(), seen).desired["namespace-eu-1"].build()
    before = in_namespace(fresh(), None).desired["namespace"].build()
    assert before["spec"]["forProvider"]["manifest"] == cache["spec"]["forProvider"]["manifest"]


def limits_in(result: Result) -> bool:
    """Tell whether the NetworkPolicy of a namespace says anything of what leaves."""
    return "Egress" in given.manifest_of(result, "network-policy")["spec"]["policyTypes"]


def label_in(result: Result) -> str:
    found: str = given.manifest_of(result, "namespace")["metadata"]["labels"].get(EGRESS, "")
    return found


def test_a_namespace_that_an_earlier_version_closed_goes_on_reaching_what_it_reached() -> None:
    before = given.serving(given.replica())
    del before["namespace"]["spec"]["forProvider"]["manifest"]["metadata"]["labels"][EGRESS]
    for observed in (before, fresh()):
        found = in_namespace(observed, "creation")
        assert policy_in(found) == "closed"
        assert (limits_in(found), label_in(found)) == (False, "")


@pytest.mark.parametrize("label", ["", "None", "yes"])
def test_a_label_of_what_pods_reach_that_is_changed_on_the_cluster_is_put_back_and_opens_nothing(label: str) -> None:
    found = in_namespace(given.serving(given.replica()), "creation", label=label)
    assert (limits_in(found), label_in(found)) == (True, "NoMetadata")


@pytest.mark.parametrize(
    ("label", "stack", "composed"),
    [
        ("NoMetadata", {}, True),
        ("", {}, False),
        ("", {"egress": "Restricted"}, True),
        ("NoMetadata", {"egress": "None"}, False),
        ("NoMetadata", {"isolation": "Open"}, False),
    ],
)
def test_a_picker_has_a_policy_of_its_own_where_what_leaves_is_limited(
    label: str, stack: dict[str, str], composed: bool
) -> None:
    pair = given.pair("--port=8200")
    first = given.run(pair, cluster=[given.cluster()]).desired
    observed = {name: given.provided(each.build()) for name, each in first.items()}
    found = in_namespace(observed, "creation", pair, label=label, **stack)
    assert ("picker-networkpolicy" in found.desired) == composed
    if composed:
        policy, picker = (given.manifest_of(found, name) for name in ("picker-networkpolicy", "picker"))
        assert policy["metadata"]["name"] == picker["metadata"]["name"]
        labels = picker["spec"]["template"]["metadata"]["labels"].items()
        assert policy["spec"]["podSelector"]["matchLabels"].items() <= labels


def test_isolation_changes_no_pod() -> None:
    closed, left_open = (in_namespace(fresh(), mark) for mark in ("creation", None))
    assert given.manifest_of(closed, "deployment-main") == given.manifest_of(left_open, "deployment-main")
