"""InferenceClasses, InferenceClusters and the Objects that look at a cluster, as test inputs."""

import copy
from collections.abc import Mapping
from typing import Any

from modelplane.compose_cluster.inference_cluster import compose
from modelplane.model.conditions import Condition
from modelplane.step import Object, Request, Result

SEEN_AT = "2026-01-02T03:04:05Z"
L4 = {
    "name": "gpu",
    "claim": "DRA",
    "driver": "gpu.nvidia.com",
    "deviceClassName": "gpu.nvidia.com",
    "count": 8,
    "attributes": {"architecture": {"string": "Ada"}, "driverVersion": {"version": "580.65.6"}},
    "capacity": {"memory": {"value": "23034Mi"}},
}
BAD = L4 | {"attributes": {"driverVersion": {"version": "v580"}}}


def device_class(name: str = "l4", devices: Any = None) -> dict[str, Any]:
    spec = {"devices": [L4] if devices is None else devices}
    return {
        "apiVersion": "modelplane.ai/v1alpha1",
        "kind": "InferenceClass",
        "metadata": {"name": name},
        "spec": spec,
    }


def cluster(*pools: dict[str, Any], **fields: Any) -> dict[str, Any]:
    source = {"source": "Existing", "existing": {"secretRef": {"name": "eu-1", "key": "kubeconfig"}}}
    return {
        "apiVersion": "modelplane.ai/v1alpha1",
        "kind": "InferenceCluster",
        "metadata": {"name": "eu-1"},
        "spec": {"cluster": source, "nodePools": list(pools) or [pool()]},
        **fields,
    }


def pool(name: str = "l4", **fields: Any) -> dict[str, Any]:
    return {"name": name, "className": "l4", "nodeCount": 2, **fields}


def obj(body: Mapping[str, Any]) -> Object:
    return Object(copy.deepcopy(dict(body)), object())


def run(body: Mapping[str, Any], observed: Mapping[str, Any] | None = None, **required: Any) -> Result:
    """Run the step; `required` gives the answers by requirement (`class_l4` for `class-l4`), None: not fetched.

    `replicas` are those on the cluster.
    """
    answers = {"class_l4": [device_class()], "replicas": [], "sharing_cluster": []} | required
    answers["residents_eu_1"] = answers.pop("replicas")
    return compose(
        Request(
            composite=obj(body),
            observed={name: obj(found) for name, found in (observed or {}).items()},
            required={
                name.replace("_", "-"): tuple(map(obj, found)) for name, found in answers.items() if found is not None
            },
        )
    )


def bodies(result: Result) -> dict[str, Any]:
    return {name: desired.build() for name, desired in result.desired.items()}


def config() -> dict[str, Any]:
    """Return the composed ClusterProviderConfig as it is observed."""
    return bodies(run(cluster()))["provider-config"]  # type: ignore[no-any-return]


def looking(kind: str, manifest: Mapping[str, Any] | None, error: str = "") -> dict[str, Any]:
    """Return an observe-only Object with what it last saw, out of sync when there is an `error`."""
    synced = {"type": "Synced", "status": "False" if error else "True", "message": error, "lastTransitionTime": SEEN_AT}
    at_provider = {"atProvider": {"manifest": {"kind": kind, **manifest}}} if manifest is not None else {}
    return {
        "apiVersion": "kubernetes.m.crossplane.io/v1alpha1",
        "kind": "Object",
        "metadata": {"name": f"eu-1-{kind.lower()}", "namespace": "modelplane-system"},
        "spec": {"forProvider": {"manifest": {"kind": kind}}},
        "status": {**at_provider, "conditions": [synced]},
    }


def gateway(*addresses: str, error: str = "") -> dict[str, Any]:
    return looking("Gateway", {"status": {"addresses": [{"value": address} for address in addresses]}}, error)


def reached(**more: Any) -> dict[str, Any]:
    """Return what is observed of a cluster that answers and has a gateway address."""
    seen = {"provider-config": config(), "kube-system": looking("Namespace", {}), "gateway": gateway("gw.example.org")}
    return seen | more


def condition(result: Result, kind: str) -> Condition:
    return next(found for found in result.conditions if found.type == kind)


def status(result: Result) -> dict[str, Any]:
    assert result.status is not None
    return dict(result.status)
