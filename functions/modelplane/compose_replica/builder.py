"""Keeps an upgrade of Modelplane from restarting pods (docs/scheduling.md, "Rollout").

The Object of each workload says which builder made it and from what. As long as the replica asks for the same, the
workload is composed again as it was made; another builder's way comes with the next edit or move, or where the
deployment follows upgrades.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from modelplane.compose_replica.claims import named_claims
from modelplane.compose_replica.readiness import WORKLOAD_KINDS
from modelplane.composing.hold import held
from modelplane.kube import pod
from modelplane.model.names import GROUP
from modelplane.model.rollout import BUILDER
from modelplane.observed.fields import mapping, text
from modelplane.step import Object

ANNOTATION_BUILDER: Final = f"{GROUP}/builder"
#: Digest of what a workload was built from (`observed.stamp.stamp_digest`).
ANNOTATION_BUILT_FROM: Final = f"{GROUP}/built-from"

#: Stands in status.servedStamp for what a replica served with where nothing tells; it is no digest.
UNKNOWN: Final = "unknown"

#: What names or selects the pods of a workload, and so stays with it.
_BESIDE: Final = frozenset({"Service", "InferencePool", "ConfigMap"})

Objects = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Order:
    """What is asked of the builder.

    `digest` is of what the pods are to be made of, `unchanged` whether the replica serves with just that (for
    workloads that do not say what they were built from), `least` the number that the replica asks for, 0 for any.
    """

    digest: str
    unchanged: bool
    least: int = 0


def built_by(body: Mapping[str, Any]) -> int:
    """Return the builder of an observed workload's Object; those of the first one say nothing."""
    number = text(mapping(mapping(body.get("metadata")).get("annotations")).get(ANNOTATION_BUILDER))
    return int(number) if number.isascii() and number.isdecimal() else 1


def skew(observed: Mapping[str, Object], least: int) -> str:
    """Return that a later version of Modelplane built here, "" when none has: its workloads are not built again."""
    newest = max((built_by(found.body) for found in observed.values() if _is_workload(found.body)), default=0)
    if max(newest, least) <= BUILDER:
        return ""
    return (
        f"a later version of Modelplane is in use here (builder {max(newest, least)}), this compose-replica is an "
        f"earlier one (builder {BUILDER}): upgrade the function compose-replica"
    )


def oldest(observed: Mapping[str, Object]) -> int:
    """Return the lowest builder of the observed workloads, 0 where there are none."""
    return min((built_by(found.body) for found in observed.values() if _is_workload(found.body)), default=0)


def ran(observed: Mapping[str, Object]) -> str:
    """Return the digest of what the pods that are observed were built from, `UNKNOWN` where that cannot be told.

    It cannot where workloads differ, or one does not say.
    """
    workloads = [found for found in observed.values() if _is_workload(found.body)]
    built_from = {
        text(mapping(mapping(found.body.get("metadata")).get("annotations")).get(ANNOTATION_BUILT_FROM))
        for found in workloads
    }
    return (built_from.pop() or UNKNOWN) if len(built_from) == 1 else UNKNOWN


def drops_all(observed: Mapping[str, Object], order: Order, *, asked: bool) -> bool:
    """Return whether a replica's engines drop all capabilities: as `asked` of its cluster, where they are built now.

    What was built from the same keeps what it has: the platform's choice restarts nothing.
    """
    bodies = [found.body for found in observed.values() if _is_workload(found.body)]
    built = [body for body in bodies if order.least <= built_by(body) and _is_same(body, order)]
    return any(pod.drops_all(_manifest(body)) for body in built) if built else asked


def build(fresh: Objects, observed: Mapping[str, Object], order: Order) -> dict[str, Mapping[str, Any]]:
    """Return a replica's Objects: workloads of an earlier builder as they were made, everything else as in `fresh`."""
    claims = _claims(fresh) | _claims({resource: found.body for resource, found in observed.items()})
    kept = {
        resource: _as_made(body, observed[resource].body)
        for resource, body in fresh.items()
        if _is_workload(body) and resource in observed and _stays(observed[resource].body, order, claims)
    }
    objects = {resource: _signed(body, order.digest) for resource, body in fresh.items()} | kept
    if not kept:
        return objects
    for resource, body in fresh.items():
        if text(_manifest(body).get("kind")) in _BESIDE and resource in observed:
            objects[resource] = _with_manifest(body, _manifest(observed[resource].body))
    workloads = [_manifest(body) for body in objects.values() if _is_workload(body)]
    named = set().union(*map(named_claims, workloads))
    unnamed = {resource for resource, name in claims.items() if name not in named}
    before = {resource: held(observed[resource].body) for resource in claims.keys() - objects.keys() - unnamed}
    return {resource: body for resource, body in objects.items() if resource not in unnamed} | before


def _is_workload(body: Mapping[str, Any]) -> bool:
    return body.get("kind") == "Object" and text(_manifest(body).get("kind")) in WORKLOAD_KINDS


def _manifest(body: Mapping[str, Any]) -> Mapping[str, Any]:
    return mapping(mapping(mapping(body.get("spec")).get("forProvider")).get("manifest"))


def _claims(objects: Objects) -> dict[str, str]:
    """Return the claim templates among Objects: composition resource name to name."""
    manifests = {resource: _manifest(body) for resource, body in objects.items()}
    return {
        resource: text(mapping(manifest.get("metadata")).get("name"))
        for resource, manifest in manifests.items()
        if manifest.get("kind") == "ResourceClaimTemplate"
    }


def _stays(body: Mapping[str, Any], order: Order, claims: Mapping[str, str]) -> bool:
    """Tell whether a workload stays as an earlier builder made it: the same is asked for, and its claims are there."""
    whole = named_claims(_manifest(body)) <= set(claims.values())
    return order.least <= built_by(body) < BUILDER and _is_same(body, order) and whole


def _is_same(body: Mapping[str, Any], order: Order) -> bool:
    """Tell whether a workload was built from what is asked for now."""
    built_from = mapping(mapping(body.get("metadata")).get("annotations")).get(ANNOTATION_BUILT_FROM)
    return order.unchanged if built_from is None else built_from == order.digest


def _with_manifest(body: Mapping[str, Any], manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return a composed Object for another manifest: how the provider treats it is always of today."""
    spec = {**body["spec"], "forProvider": {**body["spec"]["forProvider"], "manifest": manifest}}
    return {**body, "spec": spec}


def _as_made(body: Mapping[str, Any], observed: Mapping[str, Any]) -> dict[str, Any]:
    """Return a workload as it was made, but for the number of its copies, which restarts nothing."""
    made = _manifest(observed)
    copies = mapping(_manifest(body).get("spec")).get("replicas")
    kept = _with_manifest(body, {**made, "spec": {**mapping(made.get("spec")), "replicas": copies}})
    annotations = mapping(mapping(observed.get("metadata")).get("annotations"))
    ours = {key: annotations[key] for key in (ANNOTATION_BUILDER, ANNOTATION_BUILT_FROM) if key in annotations}
    signed = {**mapping(kept["metadata"].get("annotations")), **ours}
    return {**kept, "metadata": {**kept["metadata"], **({"annotations": signed} if signed else {})}}


def _signed(body: Mapping[str, Any], digest: str) -> Mapping[str, Any]:
    """Return a workload's Object with the builder and the content that it was built from; anything else as it is."""
    if not _is_workload(body):
        return body
    annotations = mapping(mapping(body.get("metadata")).get("annotations"))
    signature = {ANNOTATION_BUILDER: str(BUILDER), ANNOTATION_BUILT_FROM: digest}
    return {**body, "metadata": {**body["metadata"], "annotations": {**annotations, **signature}}}
