"""What a ModelCache says of itself: its conditions, and how far each cluster is."""

from collections.abc import Mapping, Sequence
from typing import Any

from modelplane.compose_cache.place import Stage
from modelplane.model.conditions import CacheCondition, Condition, Reason, Status, cap
from modelplane.model.observation import Malformed
from modelplane.model.staging import Phase
from modelplane.observed.fields import mapping, mappings, text
from modelplane.step import Object


def published(cache: Object) -> dict[str, Mapping[str, Any]]:
    """Return the volume that the cache published as staged, by cluster; empty where it published none."""
    rows = mappings(mapping(cache.body.get("status")).get("clusters"))
    return {text(row.get("name")): mapping(row.get("volume")) for row in rows}


def _row(stage: Stage) -> dict[str, Any]:
    row: dict[str, Any] = {"name": stage.cluster, "phase": str(stage.phase)}
    row |= {"message": cap(stage.message)} if stage.message else {}
    return row | ({"volume": dict(stage.volume)} if stage.volume else {})


def _ready(stages: Sequence[Stage]) -> list[Stage]:
    return [stage for stage in stages if stage.phase is Phase.READY]


def status(stages: Sequence[Stage]) -> dict[str, Any]:
    """Return the whole status of ours, clusters by name."""
    return {"summary": {"ready": f"{len(_ready(stages))}/{len(stages)}"}, "clusters": [_row(each) for each in stages]}


def held(cache: Object) -> dict[str, Any]:
    """Return the status as it was."""
    last = mapping(cache.body.get("status"))
    return {name: last[name] for name in ("summary", "clusters") if name in last}


def _reason(stages: Sequence[Stage]) -> Reason:
    if any(stage.phase is Phase.FAILED for stage in stages):
        return Reason.FAILED
    if any(stage.lacks_token for stage in stages):
        return Reason.AUTH_SECRET_MISSING
    return Reason.PARTIAL if _ready(stages) else Reason.HYDRATING


def conditions(stages: Sequence[Stage], notes: Sequence[str] = ()) -> tuple[Condition, ...]:
    """Return all conditions of the ModelCache's kind; `notes` are said whether or not all clusters are staged."""
    if not stages:
        said = "no InferenceCluster is selected: add one, or label one as spec.clusterSelector asks"
        words = "; ".join([said, *notes])
        none = (Status.FALSE, Reason.NO_CLUSTERS, words)
        return Condition(CacheCondition.CLUSTERS_MATCHED, *none), Condition(CacheCondition.ARTIFACT_READY, *none)
    ready = _ready(stages)
    count = "1 cluster matches" if len(stages) == 1 else f"{len(stages)} clusters match"
    matched = Condition(CacheCondition.CLUSTERS_MATCHED, Status.TRUE, Reason.MATCHED, count)
    told = [f"{stage.cluster}: {stage.message}" for stage in ready if stage.message] + list(notes)
    if len(ready) == len(stages):
        return matched, Condition(CacheCondition.ARTIFACT_READY, Status.TRUE, Reason.STAGED, "; ".join(told))
    waiting = [f"{stage.cluster}: {stage.phase}: {stage.message}" for stage in stages if stage.phase is not Phase.READY]
    words = "; ".join(
        [f"staged on {len(ready)} of {len(stages)} cluster{'s' if len(stages) > 1 else ''}", *waiting, *told]
    )
    return matched, Condition(CacheCondition.ARTIFACT_READY, Status.FALSE, _reason(stages), words)


def refused(spec: Malformed) -> Condition:
    """Return what is said of a spec that cannot be read."""
    words = f"{spec}; what is staged stays as it is"
    return Condition(CacheCondition.ARTIFACT_READY, Status.FALSE, Reason.FAILED, words)
