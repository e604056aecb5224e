"""Where the router to external providers may connect, by install/router and an independent evaluator."""

from collections.abc import Mapping
from typing import Any

import pytest
import yaml

from modelplane.model.names import ENVOY_NAMESPACE, ROUTER, SYSTEM_NAMESPACE
from modelplane_dev.folders import ROOT
from network_policies.evaluator import Packet, Peer, allowed

POLICIES: list[dict[str, Any]] = [*yaml.safe_load_all((ROOT / "install/router/router.yaml").read_text())]
OWNER = "gateway.envoyproxy.io/owning-gateway"
_PUBLIC = {f"{OWNER}-name": "public-gateway", f"{OWNER}-namespace": SYSTEM_NAMESPACE}
_ROUTER = {f"{OWNER}-name": ROUTER, f"{OWNER}-namespace": SYSTEM_NAMESPACE}


def _pod(namespace: str, labels: Mapping[str, str], ip: str = "10.244.1.7") -> Peer:
    return Peer(ip, namespace, {"kubernetes.io/metadata.name": namespace}, labels)


CONTROLLER = _pod(ENVOY_NAMESPACE, {"control-plane": "envoy-gateway"})
ENGINE = _pod("ml", {})
#: What the router reaches: the destination, and the port there.
REACHES: dict[str, tuple[Peer, str]] = {
    "a provider": (Peer("104.18.7.192"), "443/TCP"),
    "a provider without TLS": (Peer("104.18.7.192"), "80/TCP"),
    "a provider by IPv6": (Peer("2606:4700::6812:7c0"), "443/TCP"),
    "DNS": (_pod("kube-system", {"k8s-app": "kube-dns"}), "53/UDP"),
    "DNS by TCP": (_pod("kube-system", {"k8s-app": "kube-dns"}), "53/TCP"),
    "the node's cache of DNS": (Peer("169.254.20.10"), "53/UDP"),
    "Envoy Gateway": (CONTROLLER, "18000/TCP"),
}
#: What it does not reach, whichever name leads there.
REFUSED: dict[str, tuple[Peer, str]] = {
    **{
        f"{what} {ip}": (Peer(ip), "80/TCP")
        for what, ips in {
            "a cloud's metadata": ("169.254.169.254", "100.100.100.200", "168.63.129.16", "fd00:ec2::254"),
            "a private address": ("10.20.0.7", "172.31.0.1", "192.168.1.1", "fc00::1", "100.64.0.1"),
            "the service network": ("10.96.0.1",),
            "a loopback or link-local address": ("127.0.0.1", "127.1.2.3", "::1", "fe80::1", "0.0.0.1", "169.254.1.1"),
            "an IPv4 address in another": ("::ffff:10.0.0.1", "64:ff9b::a00:1", "2002:a00:1::"),
            "a group": ("224.0.0.1", "ff02::1"),
        }.items()
        for ip in ips
    },
    "a provider at another port": (Peer("104.18.7.192"), "8443/TCP"),
    "an engine": (ENGINE, "443/TCP"),
    "the public gateway's statistics": (_pod(ENVOY_NAMESPACE, _PUBLIC), "19001/TCP"),
    "the public gateway": (_pod(ENVOY_NAMESPACE, _PUBLIC), "80/TCP"),
    "the administration of Envoy Gateway": (CONTROLLER, "19000/TCP"),
    "the API server": (Peer("10.0.0.2"), "443/TCP"),
}
OPENED = {
    "apiVersion": "networking.k8s.io/v1",
    "kind": "NetworkPolicy",
    "metadata": {"name": "provider-router-opened", "namespace": ENVOY_NAMESPACE},
    "spec": {
        "podSelector": {"matchLabels": {f"{OWNER}-name": ROUTER}},
        "policyTypes": ["Egress"],
        "egress": [{"to": [{"ipBlock": {"cidr": "10.20.0.7/32"}}], "ports": [{"protocol": "TCP", "port": 8000}]}],
    },
}


def _verdicts(
    cases: Mapping[str, tuple[Peer, str]], source: Mapping[str, str] = _ROUTER, *more: dict[str, Any]
) -> dict[str, bool]:
    router = _pod(ENVOY_NAMESPACE, source, "10.244.1.9")
    packets = [Packet(router, to, int(at.split("/")[0]), at.split("/")[1]) for to, at in cases.values()]
    return dict(zip(cases, allowed([*POLICIES, *more], packets), strict=True))


def test_the_router_reaches_providers_dns_and_its_controller() -> None:
    assert _verdicts(REACHES) == dict.fromkeys(REACHES, True)


def test_the_router_reaches_nothing_inside() -> None:
    assert _verdicts(REFUSED) == dict.fromkeys(REFUSED, False)


@pytest.mark.parametrize("cases", [REACHES, REFUSED], ids=["outside", "inside"])
def test_no_other_pod_is_limited(cases: Mapping[str, tuple[Peer, str]]) -> None:
    assert all(_verdicts(cases, _PUBLIC).values())


def test_an_overlay_opens_a_cidr_and_no_other() -> None:
    cases = {"opened": (Peer("10.20.0.7"), "8000/TCP"), "beside": (Peer("10.20.0.8"), "8000/TCP")}
    assert _verdicts(cases, _ROUTER, OPENED) == {"opened": True, "beside": False}
