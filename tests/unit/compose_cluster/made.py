"""Clusters that Modelplane makes on GKE, as test inputs, and the step of a ManagedCluster."""

from collections.abc import Mapping, Sequence
from typing import Any

from modelplane.clouds import CLOUDS
from modelplane.compose_cluster.managed_cluster import compose, schemas_of
from modelplane.step import Request, Result
from unit.compose_cluster import clusters as given

Manifest = dict[str, Any]
KINDS = {each.name: {"type": "object"} for each in schemas_of(CLOUDS["GKE"])}
RECIPE = {"machineType": "g2-standard-8", "diskSizeGb": 100, "accelerator": {"type": "nvidia-l4", "count": 1}}
ACCOUNT = {
    "apiVersion": "gcp.m.upbound.io/v1beta1",
    "kind": "ClusterProviderConfig",
    "metadata": {"name": "default"},
    "spec": {"projectID": "acme", "credentials": {"source": "Secret"}},
}


def device_class(name: str = "l4", **recipe: Any) -> Manifest:
    """Return an InferenceClass whose nodes are made on GKE."""
    made = given.device_class(name)
    made["spec"]["provisioning"] = {"provider": "GKE", "gke": RECIPE | recipe}
    return made


def pool(name: str = "l4", **fields: Any) -> Manifest:
    """Return a node pool of an InferenceCluster."""
    return {"name": name, "className": "l4", "zones": ["us-central1-a"], "nodeCount": 2, **fields}


def cluster(*pools: Manifest, name: str = "eu-1", gke: Mapping[str, Any] | None = None, **spec: Any) -> Manifest:
    """Return an InferenceCluster on GKE."""
    return {
        "apiVersion": "modelplane.ai/v1alpha1",
        "kind": "InferenceCluster",
        "metadata": {"name": name},
        "spec": {
            "cluster": {"source": "GKE", "gke": {"region": "us-central1", **(gke or {})}},
            "nodePools": list(pools) or [pool()],
            **spec,
        },
    }


def settings(**fields: Any) -> Manifest:
    """Return `spec.cluster.gke` as it is stored, with its defaults."""
    credentials = {"type": "ClusterProviderConfig", "name": "default"}
    plain = {"region": "us-central1", "kubernetesVersion": "1.35", "credentials": credentials, "apiAccess": "Public"}
    return plain | fields


def asked_pool(name: str = "l4", **fields: Any) -> Manifest:
    """Return a pool of a ManagedCluster."""
    return {"name": name, "recipe": RECIPE, "zones": ["us-central1-a"], "nodeCount": 2, **fields}


def managed(*pools: Manifest, name: str = "eu-1", status: Any = None, **fields: Any) -> Manifest:
    """Return a ManagedCluster; `fields` are of its settings."""
    metadata = {"name": name, "namespace": "modelplane-system", "creationTimestamp": "2026-01-02T03:04:05Z"}
    spec = {
        "clusterName": name,
        "key": "0a1b2c3d",
        "source": "GKE",
        "settings": settings(**fields),
        "pools": list(pools),
    }
    made = {"apiVersion": "modelplane.ai/v1alpha1", "kind": "ManagedCluster", "metadata": metadata, "spec": spec}
    return made | ({"status": status} if status else {})


def run(
    body: Manifest,
    observed: Mapping[str, Manifest] | None = None,
    *,
    account: Sequence[Manifest] | None = (ACCOUNT,),
    others: Sequence[Manifest] | None = (),
    schemas: Mapping[str, Any] | None = None,
    **required: Sequence[Manifest],
) -> Result:
    """Run the step; `account` and `others` are what is fetched, None for what is not yet."""
    answers = {"account": account, "same-network": others, **{k.replace("_", "-"): v for k, v in required.items()}}
    return compose(
        Request(
            composite=given.obj(body),
            observed={name: given.obj(each) for name, each in (observed or {}).items()},
            required={name: tuple(map(given.obj, each)) for name, each in answers.items() if each is not None},
            schemas=KINDS if schemas is None else schemas,
        )
    )


def seen(
    bodies: Mapping[str, Manifest], *, errors: Mapping[str, str] | None = None, **there: Mapping[str, Any]
) -> dict[str, Manifest]:
    """Return what was composed as it is observed, ready but for those with an error; `there` is atProvider by name."""
    found = {}
    for name, body in bodies.items():
        error = (errors or {}).get(name, "")
        conditions = [
            {"type": "Ready", "status": "False" if error else "True"},
            {"type": "Synced", "status": "True"},
            {"type": "LastAsyncOperation", "status": "False" if error else "True", "message": error},
        ]
        at_provider = {"atProvider": dict(there.get(name.replace("-", "_"), {}))}
        found[name] = {**body, "status": {"conditions": conditions, **at_provider}}
    return found


def settled(body: Manifest, **there: Mapping[str, Any]) -> tuple[dict[str, Manifest], Result]:
    """Return what is observed of a ManagedCluster that was made, and the result of a pass over it."""
    first = run(body)
    observed = seen(given.bodies(first), **there)
    return observed, run(body, observed)
