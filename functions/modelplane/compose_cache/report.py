"""What a ModelCache reports: its conditions, and the progress on each cluster."""

from collections.abc import Mapping, Sequence
from typing import Any

from modelplane.compose_cache.cluster_staging import StagingResult
from modelplane.composing.messages import sentences
from modelplane.model.conditions import CacheCondition, Condition, Reason, Status, cap
from modelplane.model.observation import Malformed
from modelplane.model.staging import StagingPhase
from modelplane.observed.fields import mapping, mappings, text
from modelplane.step import Object

#: Most clusters that are named for one cause.
_NAMED = 3


def published(cache: Object) -> dict[str, Mapping[str, Any]]:
    """Return the volumes that the cache has published as staged, by cluster."""
    rows = mappings(mapping(cache.body.get("status")).get("clusters"))
    return {text(row.get("name")): mapping(row.get("volume")) for row in rows}


def _row(result: StagingResult) -> dict[str, Any]:
    row: dict[str, Any] = {"name": result.cluster, "phase": str(result.phase)}
    row |= {"message": cap(result.message)} if result.message else {}
    return row | ({"volume": dict(result.volume)} if result.volume else {})


def _ready(results: Sequence[StagingResult]) -> list[StagingResult]:
    return [result for result in results if result.phase is StagingPhase.READY]


def status(results: Sequence[StagingResult], commit: str, source: str) -> dict[str, Any]:
    """Return the complete status, clusters sorted by name; `commit` is that of `source`, "" while not known."""
    return ({"commit": commit, "commitOf": source} if commit else {}) | {
        "summary": {"ready": f"{len(_ready(results))}/{len(results)}"},
        "clusters": [_row(each) for each in results],
    }


def _reason(results: Sequence[StagingResult]) -> Reason:
    if any(result.phase is StagingPhase.FAILED for result in results):
        return Reason.FAILED
    if any(result.lacks_secret for result in results):
        return Reason.AUTH_SECRET_MISSING
    return Reason.PARTIAL if _ready(results) else Reason.HYDRATING


def _waiting(unready: Sequence[StagingResult]) -> list[str]:
    """Return what unstaged clusters wait for: each cause once, with its clusters."""
    causes: dict[str, list[str]] = {}
    for result in unready:
        causes.setdefault(f"{result.phase}: {result.message}", []).append(result.cluster)
    return [f"{_named(clusters)}: {cause}" for cause, clusters in causes.items()]


def _named(clusters: Sequence[str]) -> str:
    more = len(clusters) - _NAMED
    names = f"{', '.join(clusters[:_NAMED])} and {more} more" if more > 0 else ", ".join(clusters)
    return names if len(clusters) == 1 else f"{len(clusters)} clusters ({names})"


def conditions(results: Sequence[StagingResult], notes: Sequence[str] = ()) -> tuple[Condition, ...]:
    """Return all conditions of a ModelCache; `notes` are added whether or not all clusters are staged."""
    if not results:
        remedy = "Add one, or give one the labels of spec.clusterSelector."
        message = sentences("no InferenceCluster matches spec.clusterSelector", remedy, *notes)
        none = (Status.FALSE, Reason.NO_CLUSTERS, message)
        return Condition(CacheCondition.CLUSTERS_MATCHED, *none), Condition(CacheCondition.ARTIFACT_READY, *none)
    ready = _ready(results)
    count = "1 cluster matches" if len(results) == 1 else f"{len(results)} clusters match"
    matched = Condition(CacheCondition.CLUSTERS_MATCHED, Status.TRUE, Reason.MATCHED, count)
    caveats = [f"{result.cluster}: {result.message}" for result in ready if result.message] + list(notes)
    if len(ready) == len(results):
        return matched, Condition(CacheCondition.ARTIFACT_READY, Status.TRUE, Reason.STAGED, sentences(*caveats))
    unready = [result for result in results if result.phase is not StagingPhase.READY]
    waiting = _waiting(unready)
    staged = f"staged on {len(ready)} of {len(results)} cluster{'s' if len(results) > 1 else ''}"
    message = sentences(staged, *waiting, *caveats)
    return matched, Condition(CacheCondition.ARTIFACT_READY, Status.FALSE, _reason(results), message)


def refused(spec: Malformed) -> Condition:
    """Return ArtifactReady for a spec that cannot be read."""
    message = sentences(str(spec), "Existing resources are unchanged.")
    return Condition(CacheCondition.ARTIFACT_READY, Status.FALSE, Reason.FAILED, message)
