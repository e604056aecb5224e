"""Which traffic the NetworkPolicies of teams' namespaces allow, as the pages say it, by an independent evaluator.

The pages are docs/give-rights.md ("Isolate teams from each other") and SECURITY.md. What is shown is what the policies
say. Whether they hold on a cluster is up to its network plugin.
"""

import copy
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from network_policies.evaluator import Packet, Peer, allowed
from network_policies.scene import Scene, build_scene, pod_in, system_namespace

#: From, to, and the port there.
Row = tuple[str, str, str]

NETWORKS = {"gatewayCIDRs": ["192.0.2.0/24"]}
ENVOY_GATEWAY = {"app.kubernetes.io/managed-by": "envoy-gateway", "app.kubernetes.io/component": "proxy"}
BY_GATEWAY_API = {"gateway.networking.k8s.io/gateway-name": "inference-gateway"}

REACHES: dict[str, Row] = {
    # "pods of the namespace itself reach its pods"
    "a pod of the team reaches an engine": ("worker", "engine", "8000/TCP"),
    "a worker reaches its leader on any port": ("worker", "leader", "31234/TCP"),
    "a leader reaches its worker on any port": ("leader", "worker", "29500/TCP"),
    "a leader reaches its worker by UDP": ("leader", "worker", "4791/UDP"),
    "decode reaches prefill": ("decode", "prefill", "5600/TCP"),
    "prefill reaches decode": ("prefill", "decode", "5600/TCP"),
    "the picker reads the metrics of decode behind its sidecar": ("picker", "decode", "8200/TCP"),
    "the picker reads the metrics of prefill": ("picker", "prefill", "8000/TCP"),
    # "In a closed one the port stays open to the team's own pods, beside gateways and gatewayCIDRs"
    "a pod of the team reaches the sidecar of decode": ("engine", "decode", "8000/TCP"),
    "a gateway reaches the sidecar of decode": ("Envoy Gateway's proxy", "decode", "8000/TCP"),
    "a named host reaches the sidecar of decode": ("host of gatewayCIDRs", "decode", "8000/TCP"),
    # "The pods of a gateway are known by their labels, in namespaces that are not a team's"
    "Envoy Gateway's proxies reach an engine": ("Envoy Gateway's proxy", "engine", "8000/TCP"),
    "Envoy Gateway's proxies reach a leader": ("Envoy Gateway's proxy", "leader", "8000/TCP"),
    "Envoy Gateway's proxies reach the picker": ("Envoy Gateway's proxy", "picker", "9002/TCP"),
    "pods of the Gateway inference-gateway reach an engine": ("another gateway", "engine", "8000/TCP"),
    "proxies in Modelplane's namespace reach an engine": ("proxy in Modelplane's namespace", "engine", "8000/TCP"),
    # "Whoever makes pods there can label theirs so"
    "who labels a pod so in no team's namespace reaches an engine": ("impostor of no team", "engine", "8000/TCP"),
    # "hosts outside of the cluster that reach engines too"
    "a named host reaches an engine": ("host of gatewayCIDRs", "engine", "8000/TCP"),
    # "Whatever else reaches engines, such as what scrapes their metrics, needs a label on its namespace"
    "a labelled namespace reaches an engine": ("labelled monitoring", "engine", "8000/TCP"),
    # "NoMetadata, the default, ... leaves all others"
    "an engine reaches DNS": ("engine", "DNS", "53/UDP"),
    "an engine reaches the internet": ("engine", "host on the internet", "443/TCP"),
    "the picker reaches the API server": ("picker", "API server", "443/TCP"),
    "a download reaches DNS": ("download", "DNS", "53/UDP"),
    "a download reaches the hub": ("download", "host on the internet", "443/TCP"),
}

#: "A NetworkPolicy closes it" to all else.
DOES_NOT_REACH: dict[str, Row] = {
    "another team's pod and an engine": ("rival", "engine", "8000/TCP"),
    "another team's pod and a leader": ("rival", "leader", "8000/TCP"),
    "another team's pod and a worker": ("rival", "worker", "29500/TCP"),
    "another team's pod and the picker": ("rival", "picker", "9002/TCP"),
    "another team's pod and the sidecar of decode": ("rival", "decode", "8000/TCP"),
    "another team's pod and decode behind its sidecar": ("rival", "decode", "8200/TCP"),
    "another team's pod and prefill": ("rival", "prefill", "5600/UDP"),
    "another team's pod and a download": ("rival", "download", "8080/TCP"),
    "a pod of the team and another team's engine": ("engine", "rival", "8000/TCP"),
    "another team's pod with labels of Envoy Gateway": ("rival like Envoy Gateway", "engine", "8000/TCP"),
    "another team's pod with the label of the Gateway": ("rival like another gateway", "engine", "8000/TCP"),
    "a pod of another Gateway": ("gateway of a shop", "engine", "8000/TCP"),
    "the controller of Envoy Gateway": ("Envoy Gateway's controller", "engine", "8000/TCP"),
    "a namespace without the label": ("monitoring", "engine", "8000/TCP"),
    "a host that gatewayCIDRs do not name": ("host beside gatewayCIDRs", "engine", "8000/TCP"),
}


def around(scene: Scene) -> dict[str, Peer]:
    """Return every peer of the tables: the pods of the teams, and what is around them."""
    rival = scene.pods["rival"]

    def pod(ip: str, namespace: str, labels: Mapping[str, str], **labelled: str) -> Peer:
        return pod_in({"name": namespace, "labels": labelled}, ip, labels)

    outside = {
        "Envoy Gateway's proxy": pod("10.2.0.1", "envoy-gateway-system", ENVOY_GATEWAY),
        "Envoy Gateway's controller": pod("10.2.0.2", "envoy-gateway-system", {"control-plane": "envoy-gateway"}),
        "another gateway": pod("10.2.0.3", "istio-ingress", BY_GATEWAY_API),
        "gateway of a shop": pod("10.2.0.4", "web", {"gateway.networking.k8s.io/gateway-name": "shop"}),
        "impostor of no team": pod("10.2.0.5", "web", BY_GATEWAY_API),
        "proxy in Modelplane's namespace": pod_in(system_namespace(), "10.2.0.6", ENVOY_GATEWAY),
        "monitoring": pod("10.2.0.7", "monitoring", {"app": "prometheus"}),
        "labelled monitoring": pod(
            "10.2.0.8", "monitoring", {"app": "prometheus"}, **{"modelplane.ai/reaches-engines": "true"}
        ),
        "DNS": pod("10.2.0.9", "kube-system", {"k8s-app": "kube-dns"}),
        "rival like Envoy Gateway": replace(rival, pod_labels={**rival.pod_labels, **ENVOY_GATEWAY}),
        "rival like another gateway": replace(rival, pod_labels={**rival.pod_labels, **BY_GATEWAY_API}),
        "host of gatewayCIDRs": Peer("192.0.2.9"),
        "host beside gatewayCIDRs": Peer("192.0.3.9"),
        "host on the internet": Peer("203.0.113.1"),
        "metadata of the cloud": Peer("169.254.169.254"),
        "API server": Peer("10.96.0.1"),
        "API server on a node": Peer("198.51.100.10"),
        "DNS of the service network": Peer("10.96.0.10"),
        "DNS cache of the node": Peer("169.254.20.10"),
        "EKS pod identity": Peer("169.254.170.23"),
        "EKS pod identity by IPv6": Peer("fd00:ec2::23"),
        "host on the internet by IPv6": Peer("2001:db8::1"),
        "metadata of AWS by IPv6": Peer("fd00:ec2::254"),
        "metadata of GKE, as policies of iptables see it": Peer("169.254.169.252"),
        "metadata of Google by IPv6": Peer("fd20:ce::254"),
        "metadata of Azure": Peer("168.63.129.16"),
        "metadata of Alibaba Cloud": Peer("100.100.100.200"),
    }
    return {**scene.pods, **outside}


def verdicts(scene: Scene, rows: Iterable[Row], policies: Sequence[Mapping[str, Any]] | None = None) -> list[bool]:
    """Return which rows the policies of a scene, or these instead, allow."""
    peers = around(scene)
    split = ((source, destination, *port.split("/")) for source, destination, port in rows)
    packets = [Packet(peers[source], peers[to], int(port), protocol) for source, to, port, protocol in split]
    return allowed(scene.policies if policies is None else policies, packets)


@cache
def closed() -> Scene:
    """Return a cluster on which Modelplane has made the namespaces, with the default isolation."""
    return build_scene(NETWORKS)


@pytest.mark.parametrize("row", REACHES.values(), ids=REACHES)
def test_a_closed_namespace_lets_through_what_the_pages_say(row: Row) -> None:
    assert verdicts(closed(), [row]) == [True]


@pytest.mark.parametrize("row", DOES_NOT_REACH.values(), ids=DOES_NOT_REACH)
def test_a_closed_namespace_keeps_apart_all_else(row: Row) -> None:
    assert verdicts(closed(), [row]) == [False]


#: Whether the namespaces existed before Modelplane, `isolation` now and later, and whether they are closed at the end.
ISOLATION: dict[str, tuple[bool, tuple[str, ...], bool]] = {
    "NewNamespaces closes one that Modelplane makes": (False, ("NewNamespaces",), True),
    "NewNamespaces leaves one open that exists": (True, ("NewNamespaces",), False),
    "NewNamespaces leaves one open that was made under Open": (False, ("Open", "NewNamespaces"), False),
    "Enforced closes one that Modelplane makes": (False, ("Enforced",), True),
    "Enforced closes one that exists": (True, ("NewNamespaces", "Enforced"), True),
    "Open closes none": (False, ("Open",), False),
    "Open opens one that was closed when it was made": (False, ("NewNamespaces", "Open"), False),
    "Open opens one that was enforced": (True, ("Enforced", "Open"), False),
}


@pytest.mark.parametrize(("there_before", "isolation", "closes"), ISOLATION.values(), ids=ISOLATION)
def test_isolation_says_which_namespaces_are_closed(
    there_before: bool, isolation: tuple[str, ...], closes: bool
) -> None:
    scene = build_scene(*({**NETWORKS, "isolation": each} for each in isolation), there_before=there_before)
    assert set(verdicts(scene, DOES_NOT_REACH.values())) == {not closes}
    assert set(verdicts(scene, REACHES.values())) == {True}


def test_every_way_into_a_closed_namespace_is_one_that_the_pages_name() -> None:
    ingress = [each for each in closed().policies if "ingress" in each["spec"]]
    for way in ingress[0]["spec"]["ingress"][0]["from"]:
        narrowed = copy.deepcopy(ingress)
        for policy in narrowed:
            policy["spec"]["ingress"][0]["from"].remove(way)
        assert not all(verdicts(closed(), REACHES.values(), narrowed)), f"no row needs {way}"


#: What gives a pod the identity of its node.
METADATA = (
    "metadata of the cloud",
    "metadata of AWS by IPv6",
    "metadata of Azure",
    "metadata of Alibaba Cloud",
    "metadata of GKE, as policies of iptables see it",
    "metadata of Google by IPv6",
)
PODS = ("engine", "picker", "download")
AT_METADATA: tuple[Row, ...] = tuple((pod, to, "80/TCP") for pod in PODS for to in METADATA)
#: What pods reach wherever they may reach DNS, the team, and gateways.
INSIDE: tuple[Row, ...] = (
    ("engine", "DNS", "53/UDP"),
    ("engine", "DNS", "53/TCP"),
    ("engine", "DNS cache of the node", "53/UDP"),
    ("engine", "DNS of the service network", "53/UDP"),
    ("engine", "metadata of the cloud", "53/UDP"),
    ("picker", "API server", "443/TCP"),
    ("picker", "API server on a node", "6443/TCP"),
    ("picker", "engine", "8000/TCP"),
    ("worker", "leader", "31234/TCP"),
    ("decode", "prefill", "5600/TCP"),
    ("engine", "Envoy Gateway's proxy", "443/TCP"),
    ("download", "DNS", "53/UDP"),
)
#: What they reach besides, unless it is restricted.
OUTSIDE: tuple[Row, ...] = (
    ("engine", "EKS pod identity", "80/TCP"),
    ("engine", "EKS pod identity by IPv6", "80/TCP"),
    ("engine", "host on the internet", "443/TCP"),
    ("engine", "host on the internet by IPv6", "443/TCP"),
    ("engine", "host on the internet", "53/TCP"),
    ("engine", "labelled monitoring", "4317/TCP"),
    ("engine", "API server", "443/TCP"),
    ("engine", "API server on a node", "10250/TCP"),
    ("picker", "host on the internet", "80/TCP"),
    ("download", "host on the internet", "443/TCP"),
)
#: `spec.stack` now and later, whether the namespaces existed before Modelplane, and what limits pods then.
EGRESS: dict[str, tuple[tuple[Mapping[str, Any], ...], bool, str]] = {
    "the default, in a namespace that Modelplane makes": (({},), False, "NoMetadata"),
    "the default, in a namespace that exists": (({},), True, "None"),
    "the default, in one that exists and is closed later": (({}, {"isolation": "Enforced"}), True, "None"),
    "the default, in one that was made under Open": (({"isolation": "Open"}, {"isolation": "Enforced"}), False, "None"),
    "the default, in one that was made under None": (({"egress": "None"}, {}), False, "None"),
    "the default again, in one that was made so": (({}, {"egress": "None"}, {}), False, "NoMetadata"),
    "the default again, in one that was restricted": (({"egress": "Restricted"}, {}), False, "NoMetadata"),
    "None": (({"egress": "None"},), False, "None"),
    "None, later": (({"egress": "NoMetadata"}, {"egress": "None"}), False, "None"),
    "NoMetadata": (({"egress": "NoMetadata"},), False, "NoMetadata"),
    "NoMetadata, where it is enforced": (({"egress": "NoMetadata", "isolation": "Enforced"},), True, "NoMetadata"),
    "NoMetadata, in a namespace that is open": (({"egress": "NoMetadata", "isolation": "Open"},), False, "None"),
    "Restricted": (({"egress": "Restricted"},), False, "Restricted"),
    "Restricted, in a namespace that is open": (({"egress": "Restricted", "isolation": "Open"},), False, "None"),
}


@pytest.mark.parametrize(("stacks", "there_before", "limit"), EGRESS.values(), ids=EGRESS)
def test_egress_says_what_pods_reach(stacks: Sequence[Mapping[str, Any]], there_before: bool, limit: str) -> None:
    scene = build_scene(*({**NETWORKS, **stack} for stack in stacks), there_before=there_before)
    assert set(verdicts(scene, AT_METADATA)) == {limit == "None"}
    assert set(verdicts(scene, INSIDE)) == {True}
    assert set(verdicts(scene, OUTSIDE)) == {limit != "Restricted"}


def test_pods_that_are_restricted_reach_the_networks_that_the_platform_names_and_what_its_own_policies_open() -> None:
    named = build_scene({"egress": "Restricted", "egressCIDRs": ["203.0.113.0/24"]})
    hub: list[Row] = [("engine", "host on the internet", "443/TCP"), ("download", "host on the internet", "443/TCP")]
    beside: Row = ("engine", "host on the internet by IPv6", "443/TCP")
    assert verdicts(named, [*hub, beside]) == [True, True, False]
    collector = {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "monitoring"}}}
    opened = {
        "metadata": {"name": "traces", "namespace": "mp-team"},
        "spec": {"podSelector": {}, "policyTypes": ["Egress"], "egress": [{"to": [collector]}]},
    }
    traces: list[Row] = [("engine", "monitoring", "4317/TCP"), ("engine", "gateway of a shop", "4317/TCP")]
    assert verdicts(named, traces) == [False, False]
    assert verdicts(named, traces, [*named.policies, opened]) == [True, False]


@pytest.mark.parametrize("egress", ["NoMetadata", "Restricted"])
def test_pickers_reach_an_api_server_and_pods_reach_dns_where_a_plugin_counts_no_node_or_pod_to_an_address(
    egress: str,
) -> None:
    """Cilium, for one: an ipBlock matches neither pods nor nodes, and so no API server that runs on a node."""
    scene = build_scene({"egress": egress})
    by_identity = copy.deepcopy(list(scene.policies))
    for policy in by_identity:
        for rule in policy["spec"].get("egress", []):
            if "to" in rule:
                rule["to"] = [peer for peer in rule["to"] if "ipBlock" not in peer]
    needed: list[Row] = [("picker", "API server on a node", "6443/TCP"), ("engine", "DNS", "53/UDP")]
    needed += [("engine", "DNS cache of the node", "53/UDP")] if egress == "NoMetadata" else []
    assert set(verdicts(scene, needed, by_identity)) == {True}
    assert verdicts(scene, [("engine", "API server on a node", "6443/TCP")], by_identity) == [False]


@pytest.mark.parametrize("egress", ["NoMetadata", "Restricted"])
def test_a_pickers_policy_alone_keeps_it_from_nothing_that_it_needs(egress: str) -> None:
    """It is there a moment before that of the namespace, and a moment after it."""
    scene = build_scene({"egress": egress})
    alone = [each for each in scene.policies if each["metadata"]["name"] != "modelplane"]
    needed = [row for row in INSIDE if row[0] == "picker"]
    assert alone
    assert set(verdicts(scene, needed, alone)) == {True}


def test_what_others_reach_stays_as_it_is_whatever_leaves() -> None:
    for egress in ("None", "NoMetadata", "Restricted"):
        assert set(verdicts(build_scene({**NETWORKS, "egress": egress}), DOES_NOT_REACH.values())) == {False}
