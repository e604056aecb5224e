"""Keeps an upgrade of Modelplane from restarting pods (docs/scheduling.md, "Rollout").

The Object of each workload records its builder and what it was built from. While the replica's spec is unchanged, the
workload is composed again as it was built; the present builder is used with the next edit or move, or if the deployment
follows upgrades.
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

#: Value of status.servedStamp if it is not known what a replica served with; not a digest.
UNKNOWN: Final = "unknown"

#: Kinds that name or select the pods of a workload, and so stay unchanged with it.
_BESIDE: Final = frozenset({"Service", "InferencePool", "ConfigMap"})

Objects = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Order:
    """The input of the builder.

    `digest` is the digest of everything that determines the pods. `unchanged`: the replica serves with exactly that
    (for workloads that do not record it). `least` is the least builder that the replica asks for, 0 for any.
    """

    digest: str
    unchanged: bool
    least: int = 0


def built_by(body: Mapping[str, Any]) -> int:
    """Return the builder of an observed workload's Object; Objects of the first builder do not record it."""
    number = text(mapping(mapping(body.get("metadata")).get("annotations")).get(ANNOTATION_BUILDER))
    return int(number) if number.isascii() and number.isdecimal() else 1


def skew(observed: Mapping[str, Object], least: int) -> str:
    """Return that a later version of Modelplane built a workload, which is then not rebuilt; "" if none has."""
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
    """Return the digest of what the observed pods were built from.

    It is `UNKNOWN` if workloads differ, or one does not record it.
    """
    workloads = [found for found in observed.values() if _is_workload(found.body)]
    built_from = {
        text(mapping(mapping(found.body.get("metadata")).get("annotations")).get(ANNOTATION_BUILT_FROM))
        for found in workloads
    }
    return (built_from.pop() or UNKNOWN) if len(built_from) == 1 else UNKNOWN


def drops_all(observed: Mapping[str, Object], order: Order, *, asked: bool) -> bool:
    """Return whether a replica's engines drop all capabilities: as `asked`, if they are built now.

    Workloads with unchanged input stay as they are: a choice of the platform team restarts nothing.
    """
    bodies = [found.body for found in observed.values() if _is_workload(found.body)]
    built = [body for body in bodies if order.least <= built_by(body) and _is_same(body, order)]
    return any(pod.drops_all(_manifest(body)) for body in built) if built else asked


def build(fresh: Objects, observed: Mapping[str, Object], order: Order) -> dict[str, Mapping[str, Any]]:
    """Return a replica's Objects: workloads of an earlier builder as they were built, all others from `fresh`."""
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
    """Tell whether a workload stays as an earlier builder built it: its input is unchanged, and its claims exist."""
    whole = named_claims(_manifest(body)) <= set(claims.values())
    return order.least <= built_by(body) < BUILDER and _is_same(body, order) and whole


def _is_same(body: Mapping[str, Any], order: Order) -> bool:
    """Tell whether a workload was built from the present input."""
    built_from = mapping(mapping(body.get("metadata")).get("annotations")).get(ANNOTATION_BUILT_FROM)
    return order.unchanged if built_from is None else built_from == order.digest


def _with_manifest(body: Mapping[str, Any], manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return a composed Object with another manifest, keeping the present settings for the provider."""
    spec = {**body["spec"], "forProvider": {**body["spec"]["forProvider"], "manifest": manifest}}
    return {**body, "spec": spec}


def _as_made(body: Mapping[str, Any], observed: Mapping[str, Any]) -> dict[str, Any]:
    """Return a workload as it was built, with the present number of copies, which restarts nothing."""
    made = _manifest(observed)
    copies = mapping(_manifest(body).get("spec")).get("replicas")
    kept = _with_manifest(body, {**made, "spec": {**mapping(made.get("spec")), "replicas": copies}})
    annotations = mapping(mapping(observed.get("metadata")).get("annotations"))
    ours = {key: annotations[key] for key in (ANNOTATION_BUILDER, ANNOTATION_BUILT_FROM) if key in annotations}
    signed = {**mapping(kept["metadata"].get("annotations")), **ours}
    return {**kept, "metadata": {**kept["metadata"], **({"annotations": signed} if signed else {})}}


def _signed(body: Mapping[str, Any], digest: str) -> Mapping[str, Any]:
    """Return a workload's Object annotated with its builder and input digest; other Objects unchanged."""
    if not _is_workload(body):
        return body
    annotations = mapping(mapping(body.get("metadata")).get("annotations"))
    signature = {ANNOTATION_BUILDER: str(BUILDER), ANNOTATION_BUILT_FROM: digest}
    return {**body, "metadata": {**body["metadata"], "annotations": {**annotations, **signature}}}
