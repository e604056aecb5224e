"""The namespace on an inference cluster that mirrors a team's namespace, and its isolation."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from modelplane.model.fleet import Egress, Mark
from modelplane.model.names import (
    CLUSTER_GATEWAY,
    LABEL_EGRESS,
    LABEL_ISOLATED,
    LABEL_NAMESPACE,
    LABEL_REACHES_ENGINES,
    tenant_namespace,
)

_POD_SECURITY: Final = "pod-security.kubernetes.io"
_STANDARD: Final = "baseline"
_POLICY: Final = "modelplane"
#: Labels of a gateway's pods: those of Envoy Gateway's proxies, which run in Envoy Gateway's own namespace by default,
#: and the one that Gateway API requires of every implementation (GEP-1762).
_GATEWAYS: Final = (
    {"app.kubernetes.io/component": "proxy", "app.kubernetes.io/managed-by": "envoy-gateway"},
    {"gateway.networking.k8s.io/gateway-name": CLUSTER_GATEWAY},
)


def tenant(
    namespace: str,
    mark: Mark = Mark.NONE,
    egress: Egress = Egress.NONE,
    *,
    enforces_pod_security: bool = False,
) -> dict[str, Any]:
    """Return the Namespace that mirrors the team's `namespace` of the control cluster.

    Violations of the pod security standard baseline are always warned of and audited, which refuses nothing.
    """
    labels = {LABEL_NAMESPACE: namespace} | ({LABEL_ISOLATED: str(mark)} if mark else {})
    labels |= {} if egress is Egress.NONE else {LABEL_EGRESS: str(egress)}
    modes = ["audit", "warn", *(["enforce"] if enforces_pod_security else [])]
    labels |= {f"{_POD_SECURITY}/{mode}": _STANDARD for mode in modes}
    return {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": tenant_namespace(namespace), "labels": labels},
    }


def _ports(*protocols: str, ports: Sequence[int]) -> list[dict[str, Any]]:
    return [{"protocol": protocol, "port": port} for port in ports for protocol in protocols]


_DNS: Final = _ports("UDP", "TCP", ports=[53])
#: Where API servers listen: those of clouds, most others, and MicroK8s.
_API_SERVERS: Final = _ports("TCP", ports=[443, 6443, 16443])
_ALL_PODS: Final[dict[str, Any]] = {"namespaceSelector": {}}
#: Where clouds give a pod an identity: AWS and most others, GKE, Azure, Alibaba Cloud; AWS and Google by IPv6. GKE's
#: metadata server listens at 169.254.169.252: where nodes route by iptables, a policy sees that address alone.
_METADATA: Final = {
    "0.0.0.0/0": ["169.254.169.254/32", "169.254.169.252/32", "168.63.129.16/32", "100.100.100.200/32"],
    "::/0": ["fd00:ec2::254/128", "fd20:ce::254/128"],
}
#: Rules that let pods reach all other addresses, the pod identities of EKS for one, which are link-local too. Some
#: network plugins count no pods to addresses, and need the selector; some count no nodes to them, and need rules for
#: ports of any destination. DNS is one: caches of nodes answer it, and the metadata services of GKE and Azure.
_NO_METADATA: Final[tuple[dict[str, Any], ...]] = (
    {"ports": _DNS},
    {"to": [_ALL_PODS, *({"ipBlock": {"cidr": cidr, "except": but}} for cidr, but in _METADATA.items())]},
)
#: Where DNS of a cluster answers: its pods, its Services, and caches of nodes.
_INSIDE: Final = ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "169.254.0.0/16", "fc00::/7")


def _networks(cidrs: Sequence[str]) -> list[dict[str, Any]]:
    return [{"ipBlock": {"cidr": cidr}} for cidr in cidrs]


def _gateways() -> list[dict[str, Any]]:
    """Return the pods of gateways, by their labels, but not in namespaces that Modelplane creates: teams label pods."""
    elsewhere = {"matchExpressions": [{"key": LABEL_NAMESPACE, "operator": "DoesNotExist"}]}
    return [{"namespaceSelector": elsewhere, "podSelector": {"matchLabels": dict(each)}} for each in _GATEWAYS]


def _leaving(egress: Egress, cidrs: Sequence[str]) -> list[dict[str, Any]]:
    """Return the rules of what pods reach; `cidrs` are networks that they reach where it is restricted."""
    if egress is Egress.NO_METADATA:
        return list(_NO_METADATA)
    own: list[dict[str, Any]] = [{"podSelector": {}}, *_gateways(), *_networks(cidrs)]
    return [{"ports": _DNS, "to": [_ALL_PODS, *_networks(_INSIDE)]}, {"to": own}]


def _policy(name: str, namespace: str, **spec: Any) -> dict[str, Any]:
    metadata = {"name": name, "namespace": tenant_namespace(namespace)}
    return {"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "metadata": metadata, "spec": spec}


def closed(
    namespace: str, cidrs: Sequence[str], *, egress: Egress = Egress.NONE, egress_cidrs: Sequence[str] = ()
) -> dict[str, Any]:
    """Return the NetworkPolicy with which only a team's pods, those of gateways and networks `cidrs` reach its pods.

    `egress` says what its pods reach, with `egress_cidrs` where that is restricted.
    """
    labelled = {"namespaceSelector": {"matchLabels": {LABEL_REACHES_ENGINES: "true"}}}
    ingress = [{"from": [{"podSelector": {}}, labelled, *_gateways(), *_networks(cidrs)]}]
    if egress is Egress.NONE:
        return _policy(_POLICY, namespace, podSelector={}, policyTypes=["Ingress"], ingress=ingress)
    leaving, both = _leaving(egress, egress_cidrs), ["Ingress", "Egress"]
    return _policy(_POLICY, namespace, podSelector={}, policyTypes=both, ingress=ingress, egress=leaving)


def reaching_api_server(
    name: str, namespace: str, pods: Mapping[str, str], egress: Egress, egress_cidrs: Sequence[str]
) -> dict[str, Any]:
    """Return the NetworkPolicy `name` with which the pods that have these labels reach the API server too.

    It repeats what `closed` lets them reach: alone, while that one is not there, it keeps them from nothing else.
    """
    rules = [{"ports": _API_SERVERS}, *_leaving(egress, egress_cidrs)]
    return _policy(name, namespace, podSelector={"matchLabels": dict(pods)}, policyTypes=["Egress"], egress=rules)


def opened(namespace: str) -> dict[str, Any]:
    """Return the same NetworkPolicy, allowing everything."""
    return _policy(_POLICY, namespace, podSelector={}, policyTypes=["Ingress"], ingress=[{}])
