"""The namespace on an inference cluster that mirrors a team's namespace, and its isolation."""

from collections.abc import Sequence
from typing import Any, Final

from modelplane.model.fleet import Mark
from modelplane.model.names import (
    CLUSTER_GATEWAY,
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


def tenant(namespace: str, mark: Mark = Mark.NONE, *, enforces_pod_security: bool = False) -> dict[str, Any]:
    """Return the Namespace that mirrors the team's `namespace` of the control cluster.

    Violations of the pod security standard baseline are always warned of and audited, which refuses nothing.
    """
    labels = {LABEL_NAMESPACE: namespace} | ({LABEL_ISOLATED: str(mark)} if mark else {})
    modes = ["audit", "warn", *(["enforce"] if enforces_pod_security else [])]
    labels |= {f"{_POD_SECURITY}/{mode}": _STANDARD for mode in modes}
    return {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": tenant_namespace(namespace), "labels": labels},
    }


#: All pods, and all addresses but those at which clouds give a pod the identity of its node: AWS and most others, AWS
#: by IPv6, Azure, Alibaba Cloud. Other link-local addresses stay, which DNS caches and pod identities have. Some
#: network plugins count no pods to addresses and need the first.
_NO_METADATA: Final[tuple[dict[str, Any], ...]] = (
    {"namespaceSelector": {}},
    {"ipBlock": {"cidr": "0.0.0.0/0", "except": ["169.254.169.254/32", "168.63.129.16/32", "100.100.100.200/32"]}},
    {"ipBlock": {"cidr": "::/0", "except": ["fd00:ec2::254/128"]}},
)


def _policy(namespace: str, ingress: Sequence[dict[str, Any]]) -> dict[str, Any]:
    spec: dict[str, Any] = {"podSelector": {}, "policyTypes": ["Ingress"], "ingress": list(ingress)}
    metadata = {"name": _POLICY, "namespace": tenant_namespace(namespace)}
    return {"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "metadata": metadata, "spec": spec}


def closed(namespace: str, cidrs: Sequence[str], *, refuses_metadata: bool = False) -> dict[str, Any]:
    """Return the NetworkPolicy with which only a team's own pods, those of gateways and these networks reach its pods.

    A gateway is recognized by labels of its pods, but not in namespaces that Modelplane creates: teams label pods
    there. With `refuses_metadata` its pods do not reach the metadata of their node's cloud.
    """
    labelled = {"namespaceSelector": {"matchLabels": {LABEL_REACHES_ENGINES: "true"}}}
    elsewhere = {"matchExpressions": [{"key": LABEL_NAMESPACE, "operator": "DoesNotExist"}]}
    gateways = [{"namespaceSelector": elsewhere, "podSelector": {"matchLabels": dict(each)}} for each in _GATEWAYS]
    networks = [{"ipBlock": {"cidr": cidr}} for cidr in cidrs]
    policy = _policy(namespace, [{"from": [{"podSelector": {}}, labelled, *gateways, *networks]}])
    if refuses_metadata:
        policy["spec"] |= {"policyTypes": ["Ingress", "Egress"], "egress": [{"to": list(_NO_METADATA)}]}
    return policy


def opened(namespace: str) -> dict[str, Any]:
    """Return the same NetworkPolicy, allowing everything."""
    return _policy(namespace, [{}])
