"""Tells how an object that a replica composed stands on its cluster, in counts and in the object's own words."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from modelplane.observed.fields import count, mapping, mappings, text
from modelplane.observed.remote import Remote

#: When a Deployment is ready, as a query on the Object; `_deployment` is the same rule. Its condition Available does
#: not do: with one replica and no surge it is True without a pod.
DEPLOYMENT_READY = " && ".join(
    (
        "has(object.metadata.generation)",
        "has(object.status)",
        "has(object.status.observedGeneration)",
        "object.status.observedGeneration == object.metadata.generation",
        *(
            f"has(object.status.{field}) && object.status.{field} == object.spec.replicas"
            for field in ("updatedReplicas", "replicas", "availableReplicas")
        ),
    )
)


#: Kinds that run an engine, and all kinds that a replica needs to serve; the rest only has to be there for them.
WORKLOAD_KINDS = frozenset({"Deployment"})
SERVING_KINDS = WORKLOAD_KINDS | {"Service", "HTTPRoute"}


@dataclass(frozen=True, slots=True)
class Standing:
    """How an object stands: whether it counts as ready, copies available of copies asked, and its own words if not."""

    ready: bool
    available: int = 0
    desired: int = 0
    words: str = ""


def _words(manifest: Mapping[str, Any]) -> str:
    """Return what the conditions of a Deployment complain of: refused pods, a stuck rollout, too few copies."""
    bad = {"ReplicaFailure": "True", "Progressing": "False", "Available": "False"}
    conditions = mappings(mapping(manifest.get("status")).get("conditions"))
    said = {
        text(found.get("message")) or text(found.get("reason"))
        for found in conditions
        if bad.get(text(found.get("type"))) == found.get("status")
    }
    return " ".join(sorted(said - {""}))


def rolling(manifest: Mapping[str, Any]) -> bool:
    """Tell whether a Deployment may still make pods of an older template."""
    status, generation = mapping(manifest.get("status")), count(mapping(manifest.get("metadata")).get("generation"))
    seen = count(status.get("observedGeneration"), generation)
    return seen < generation or count(status.get("updatedReplicas")) < count(status.get("replicas"))


def _deployment(manifest: Mapping[str, Any]) -> Standing:
    status, generation = mapping(manifest.get("status")), mapping(manifest.get("metadata")).get("generation")
    desired = mapping(manifest.get("spec")).get("replicas")
    counts = [status.get(field) for field in ("updatedReplicas", "replicas", "availableReplicas")]
    ready = generation is not None and status.get("observedGeneration") == generation
    ready = ready and isinstance(desired, int) and all(found == desired for found in counts)
    return Standing(ready, count(status.get("availableReplicas")), count(desired), "" if ready else _words(manifest))


def judge(remote: Remote) -> Standing:
    """Return how the object of an Object stands: a Deployment by its counts, anything else once it is applied.

    The last known picture is judged, however old: a cluster that does not answer takes nothing away.
    """
    if remote.wanted.get("kind") not in WORKLOAD_KINDS:
        return Standing(ready=remote.ready, words="" if remote.ready else "not applied yet")
    if remote.manifest is None:
        asked = count(mapping(remote.wanted.get("spec")).get("replicas"), 1)
        return Standing(ready=False, desired=asked, words="not applied yet")
    return _deployment(remote.manifest)
