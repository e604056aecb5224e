"""A source of clusters for tests: a provider that makes a Machines object for the cluster and a Rack for each pool."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final

from modelplane.api.inferencecluster import InferenceClusterSpec
from modelplane.compose_cluster.inference_cluster import compose
from modelplane.compose_cluster.sources import (
    CONFIG,
    ClusterSource,
    Kubeconfig,
    PoolState,
    Provision,
    Resource,
    SecretKey,
)
from modelplane.model.names import SYSTEM_NAMESPACE
from modelplane.model.observation import Malformed
from modelplane.observed.fields import is_true, mapping, text
from modelplane.preview.pipelines import Pipeline, pipeline_of
from modelplane.preview.simulation.providers import StatusPatch, condition_of, patch_of
from modelplane.preview.store import View
from modelplane.preview.worlds import healthy
from modelplane.step import Object, Request, Requirement, SchemaRequirement

API: Final = "machines.example.org/v1"
MACHINES, RACK = "Machines.machines.example.org", "Rack.machines.example.org"
KINDS: Final = (SchemaRequirement("machines", API, "Machines"), SchemaRequirement("racks", API, "Rack"))
#: What the source reads of the control cluster, one of them of a kind of its provider.
LIMITS: Final = Requirement("limits", "v1", "ConfigMap", match_name="limits", namespace=SYSTEM_NAMESPACE)
SPARE: Final = Requirement("spare-rack", API, "Rack", match_name="spare", namespace=SYSTEM_NAMESPACE)


def _made(kind: str, name: str, **spec: Any) -> dict[str, Any]:
    metadata = {"name": name, "namespace": SYSTEM_NAMESPACE}
    return {"apiVersion": API, "kind": kind, "metadata": metadata, "spec": spec}


def provision(request: Request, spec: InferenceClusterSpec) -> Provision | Malformed:
    """Return a Machines object and its Racks; the kubeconfig once the former is ready."""
    name, seen = request.composite.name, request.observed
    pools = {f"rack-{pool.name}": pool for pool in spec.nodePools or ()}
    racks = {
        resource: Resource(_made("Rack", f"{name}-{pool.name}", nodes=pool.nodeCount), ready=resource in seen)
        for resource, pool in pools.items()
    }
    machines = seen.get("machines")
    up = machines is not None and is_true(machines, "Ready")
    limits = request.one(LIMITS)
    return Provision(
        kubeconfig=Kubeconfig(SecretKey(name, "kubeconfig")) if up else None,
        pools={pool.name: PoolState(pool.nodeCount or 1, _why(seen.get(each))) for each, pool in pools.items()},
        resources={"machines": Resource(_made("Machines", name), ready=up), **racks},
        missing=() if up else (f"Machines {name} is being made",),
        requirements=(LIMITS, SPARE),
        kinds=KINDS,
        install="Install provider-machines.",
        storage_class=text(mapping(limits.body.get("data")).get("storage")) if isinstance(limits, Object) else None,
        outlives={"machines": (*racks, CONFIG)},
        made=True,
    )


def _why(rack: Object | None) -> str:
    return text(mapping(rack.body.get("status")).get("message")) if rack else ""


def provision_with(api: str, kind: str) -> ClusterSource:
    """Return the same source with one more resource for each pool, of this kind, which the Machines object outlives."""

    def with_more(request: Request, spec: InferenceClusterSpec) -> Provision | Malformed:
        found = provision(request, spec)
        assert isinstance(found, Provision)
        more = {
            f"more-{pool}": Resource(_made(kind, f"{request.composite.name}-{pool}") | {"apiVersion": api}, ready=True)
            for pool in found.pools
        }
        outlives = {"machines": (*found.outlives["machines"], *more)}
        return replace(found, resources={**found.resources, **more}, outlives=outlives)

    return with_more


def pipelines(kind: str, source: ClusterSource = provision) -> Pipeline | None:
    """Return the pipelines of Modelplane, with this source in place of Existing."""
    if kind != "InferenceCluster.modelplane.ai":
        return pipeline_of(kind)
    return Pipeline("inferencecluster", (("compose-cluster", partial(compose, sources={"Existing": source})),))


@dataclass
class World:
    """The healthy world, with the provider: `lost` are kinds of it that do not exist, `short` racks without nodes."""

    lost: frozenset[str] = frozenset()
    short: set[str] = field(default_factory=set)

    @property
    def kinds(self) -> tuple[tuple[str, str], ...]:
        """Return the kinds that exist."""
        return *healthy.kinds, *((API, each.kind) for each in KINDS if each.kind not in self.lost)

    def __call__(self, view: View) -> Iterator[StatusPatch]:
        """Yield what the provider, and all others, write."""
        yield from healthy(view)
        for kind in (MACHINES, RACK):
            for obj in view.scan(kind):
                status = {"conditions": [condition_of(obj, view.now, "Ready", "True", "Available")]}
                short = obj["metadata"]["name"] in self.short
                yield patch_of(obj, {**status, "message": "no charge in zone b" if short else None})
