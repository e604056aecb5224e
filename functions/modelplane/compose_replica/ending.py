"""Ends a replica: its workloads go first; routes and Services to their pods stay until the last pod is gone.

The provider deletes a workload in the foreground: its Object exists as long as its pods. Crossplane does not list an
Object that it has begun to delete among the observed resources, so the Objects are required by name.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from modelplane.compose_replica.cluster_hold import refers_to_cluster
from modelplane.compose_replica.readiness import WORKLOAD_KINDS, engine_of
from modelplane.composing.hold import held
from modelplane.composing.orphan import only_observes
from modelplane.kube.object import COLLECTION, PROVIDER_API
from modelplane.model.observation import Gap
from modelplane.observed.fields import controller, mapping, mappings, text
from modelplane.observed.remote import read_remote
from modelplane.step import Object, Request, Requirement


def _is_workload(resource: str, found: Object) -> bool:
    """Tell whether an Object runs an engine; an endpoint picker runs none."""
    return read_remote(found).kind in WORKLOAD_KINDS and bool(engine_of(resource))


def _watches_pods(found: Object) -> bool:
    """Tell whether a resource only observes what the workloads make, and does not keep the cluster."""
    looks = found.kind == "Object" and only_observes(found.body)
    return found.kind == COLLECTION or (looks and not refers_to_cluster(found.body))


def _workloads(request: Request) -> Iterator[Requirement]:
    """Yield the requirement of each workload's Object: the observed ones, and those that the status records."""
    observed = {each.name for resource, each in request.observed.items() if _is_workload(resource, each)}
    rows = mappings(mapping(request.composite.body.get("status")).get("workloads"))
    for name in sorted({*observed, *(text(row.get("object")) for row in rows)} - {""}):
        yield Requirement(f"workload-{name}", PROVIDER_API, "Object", name, namespace=request.composite.namespace)


def requirements(request: Request) -> tuple[Requirement, ...]:
    """Return the requirements for deciding whether a replica has ended."""
    return tuple(_workloads(request))


def remaining(request: Request) -> dict[str, Mapping[str, Any]]:
    """Return the observed resources that an ending replica keeps: all but its workloads and their observers."""
    return {
        resource: held(found.body)
        for resource, found in request.observed.items()
        if not _is_workload(resource, found) and not _watches_pods(found)
    }


def is_over(request: Request) -> bool:
    """Tell whether the last pod of an ending replica is gone."""
    if any(_is_workload(resource, found) for resource, found in request.observed.items()):
        return False
    uid = text(request.composite.metadata.get("uid"))
    left = [request.one(requirement) for requirement in _workloads(request)]
    return not any(
        found is Gap.NOT_FETCHED or (isinstance(found, Object) and controller(found) == uid) for found in left
    )
