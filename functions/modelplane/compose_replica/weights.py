"""The volume of a ModelCache that a replica mounts: which one, from when on, and when it moves to the next one.

`schedule` stamps the volume on a composed replica, whose spec determines its pods completely, so another volume is a
rollout. A replica without a stamped volume keeps the one that it mounts. A hand-written replica reads the volume from
the cache: it waits until that is Ready on its cluster, and keeps it until another one is Ready there; then the replicas
with its deployment's label move to that one at a time.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from modelplane.compose_replica.obstacle import Obstacle
from modelplane.compose_replica.spec import ReplicaSpec
from modelplane.composing import requirements as require
from modelplane.composing.hold import held
from modelplane.composing.messages import sentences
from modelplane.kube.usage import protected_here
from modelplane.model.conditions import Reason, ReplicaCondition
from modelplane.model.names import API_VERSION, LABEL_DEPLOYMENT
from modelplane.model.observation import Gap
from modelplane.model.staging import Staging, StagingPhase
from modelplane.observed.cache import read_staging
from modelplane.observed.fields import controller, deleting, is_true, labels, mapping, mappings, text
from modelplane.observed.remote import Remote
from modelplane.step import Object, Request, Requirement

_IN_USE = "cache-in-use-"


@dataclass(frozen=True, slots=True)
class Mount:
    """The volume claim to mount, "" for none, and a message about it."""

    volume: str = ""
    message: str = ""


def _cache(request: Request, spec: ReplicaSpec) -> Requirement:
    return require.cache(spec.cache or "", request.composite.namespace)


def _siblings(request: Request) -> Requirement | None:
    """Return the requirement of the replicas of the same deployment, None for a hand-written replica."""
    deployment = labels(request.composite).get(LABEL_DEPLOYMENT)
    if not deployment:
        return None
    wanted = {LABEL_DEPLOYMENT: deployment}
    return Requirement(
        "movers", API_VERSION, "ModelReplica", match_labels=wanted, namespace=request.composite.namespace
    )


def _templates(workload: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the pod templates of a Deployment or LeaderWorkerSet."""
    spec = mapping(workload.get("spec"))
    gang = mapping(spec.get("leaderWorkerTemplate"))
    yield from (
        mapping(found) for found in (spec.get("template"), gang.get("leaderTemplate"), gang.get("workerTemplate"))
    )


def mounted(remotes: Mapping[str, Remote]) -> set[str]:
    """Return the claims that a replica's workloads mount."""
    pods = [mapping(template.get("spec")) for each in remotes.values() for template in _templates(each.wanted)]
    sources = [volume.get("persistentVolumeClaim") for pod in pods for volume in mappings(pod.get("volumes"))]
    return {text(mapping(source).get("claimName")) for source in sources} - {""}


def recorded_volumes(replica: Object) -> list[str]:
    """Return the claims that its pods may mount, according to the replica's status."""
    volumes = mapping(replica.body.get("status")).get("volumes")
    return [each for each in volumes if isinstance(each, str)] if isinstance(volumes, list) else []


def _target(spec: ReplicaSpec, team: str, cache: Object | Gap) -> Mount:
    """Return the volume that is Ready on the replica's cluster, or an empty one with the reason."""
    named = f"ModelCache {team}/{spec.cache}"
    if cache is Gap.NOT_FETCHED:
        return Mount(message=f"{named} is not fetched yet")
    if not isinstance(cache, Object):
        return Mount(message=sentences(f"{named} does not exist", "Create it, or remove spec.modelCacheRef."))
    if deleting(cache):
        remedy = "Create it again when it is gone, or name another in spec.modelCacheRef."
        return Mount(message=sentences(f"{named} is being deleted", remedy))
    found = read_staging(cache).get(spec.cluster)
    if found is None:
        unknown = f"{named} does not report cluster {spec.cluster}; its spec.clusterSelector must select the cluster"
        return Mount(message=unknown)
    if found.phase != StagingPhase.READY or not found.volume:
        why = f": {found.message}" if found.message else ""
        return Mount(message=f"{named} is {found.phase or StagingPhase.PENDING} on cluster {spec.cluster}{why}")
    return Mount(found.volume)


def _current(request: Request, remotes: Mapping[str, Remote]) -> set[str]:
    """Return the claims that the replica mounts; those in its status if its workloads are lost."""
    return mounted(remotes) or set(recorded_volumes(request.composite))


def _moves(request: Request, spec: ReplicaSpec, remotes: Mapping[str, Remote]) -> bool:
    """Tell whether a replica that reads its volume from the cache mounts another one than it should."""
    if _is_stamped(request, spec):
        return False
    target = _target(spec, request.composite.namespace, request.one(_cache(request, spec))).volume
    current = _current(request, remotes)
    return bool(target and current) and target not in current


def needs(request: Request, spec: ReplicaSpec, remotes: Mapping[str, Remote]) -> tuple[Requirement, ...]:
    """Return the requirements: none without a cache, the deployment's other replicas only for a move."""
    if not spec.cache:
        return ()
    siblings = _siblings(request) if _moves(request, spec, remotes) else None
    return _cache(request, spec), *([siblings] if siblings else [])


def _will_move(replica: Object, cache: Object | Gap, target: str) -> bool:
    """Tell whether a replica will move to the volume: it has begun, or the volume is Ready on its cluster too."""
    there = read_staging(cache) if isinstance(cache, Object) else {}
    found = there.get(text(mapping(replica.body.get("spec")).get("clusterName")), Staging(""))
    return target in recorded_volumes(replica) or (found.phase == StagingPhase.READY and found.volume == target)


def _has_moved(replica: Object, target: str) -> bool:
    """Tell whether a replica serves from this volume only."""
    return recorded_volumes(replica) == [target] and is_true(replica, ReplicaCondition.MODEL_READY)


def _first_to_move(request: Request, cache: Object | Gap, target: str) -> str | None:
    """Return the replica that has to move, or to serve again, before this one moves; "" if it is not known.

    A replica that does not serve moves at once. All replicas compute the same order, so that no two serving ones move
    together. First come those that have begun or do not serve; one that has begun may still look ready while its
    cluster has not acted. No replica waits for one whose cluster does not have the volume, which it may never get.
    """
    ready, me = ReplicaCondition.MODEL_READY, request.composite
    siblings = _siblings(request)
    if siblings is None or not is_true(me, ready):
        return None
    found = request.all(siblings)
    if isinstance(found, Gap):
        return ""
    others = [each for each in found if each.name != me.name and not deleting(each) and recorded_volumes(each)]
    waiting = [each for each in others if _will_move(each, cache, target) and not _has_moved(each, target)]
    first = min(
        [me, *waiting], key=lambda each: (is_true(each, ready) and target not in recorded_volumes(each), each.name)
    )
    return None if first is me else first.name


def _is_stamped(request: Request, spec: ReplicaSpec) -> bool:
    """Tell whether the spec names the volume to mount, as it does for replicas that a ModelDeployment composes."""
    return bool(spec.volume or controller(request.composite))


def _stamped(spec: ReplicaSpec, target: Mount, current: set[str]) -> Mount | Obstacle:
    """Return the stamped volume; without one, the volume that the replica mounts, or that it waits for one."""
    volume = spec.volume or min(current, default="")
    if volume:
        message = sentences(target.message, f"The replica keeps volume {volume}") if target.message else ""
        return Mount(volume, message)
    waits = f"ModelCache {spec.cache} is staged, its ModelDeployment is about to set spec.volume"
    return Obstacle(Reason.WAITING_FOR_CACHE, target.message or waits)


def choose(request: Request, spec: ReplicaSpec, remotes: Mapping[str, Remote]) -> Mount | Obstacle:
    """Return what to mount, or why the replica cannot be composed yet: only a replica that mounts nothing waits."""
    if not spec.cache:
        return Mount()
    cache = request.one(_cache(request, spec))
    target, current = _target(spec, request.composite.namespace, cache), _current(request, remotes)
    if _is_stamped(request, spec):
        return _stamped(spec, target, current)
    if target.volume in current or (target.volume and not current):
        return target
    return _keep(request, cache, target, current) if current else Obstacle(Reason.WAITING_FOR_CACHE, target.message)


def _keep(request: Request, cache: Object | Gap, target: Mount, current: set[str]) -> Mount:
    """Return the volume that a replica keeps until another one is Ready and it is its turn to move."""
    kept = min(current)
    if not target.volume:
        return Mount(kept, sentences(target.message, f"The replica keeps volume {kept}"))
    first = _first_to_move(request, cache, target.volume)
    if first is None:
        return target
    turn = f"once ModelReplica {first} serves from it" if first else "once the other replicas are known"
    return Mount(kept, f"the replica keeps volume {kept} and moves to {target.volume} {turn}")


def protect(request: Request, spec: ReplicaSpec, remotes: Mapping[str, Remote]) -> dict[str, Any]:
    """Return the Usages that protect the cache in use, and any whose volume may still be mounted."""
    cache = request.one(_cache(request, spec))
    target = _target(spec, request.composite.namespace, cache).volume if spec.cache else ""
    before = {*mounted(remotes), *recorded_volumes(request.composite)} - {target}
    kept = {
        resource: held(found.body)
        for resource, found in request.observed.items()
        if resource.startswith(_IN_USE) and before
    }
    resource = f"{_IN_USE}{spec.cache}"
    if spec.cache and (isinstance(cache, Object) or resource in request.observed):
        reason = f"in use by ModelReplica {request.composite.name}"
        kept[resource] = protected_here(API_VERSION, "ModelCache", spec.cache, reason=reason)
    return kept
