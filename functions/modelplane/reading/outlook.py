"""The outlook for a ClusterModel on a fleet: which profiles could run now, which if something goes, and which never."""

from collections import Counter
from collections.abc import Sequence
from enum import StrEnum
from typing import Any, Final

from modelplane.model.deployment import Deployment
from modelplane.model.fleet import Cluster
from modelplane.model.names import API_VERSION, GROUP, LABEL_DEPLOYMENT
from modelplane.model.observation import Malformed
from modelplane.model.placement import Schedule
from modelplane.model.replica import Replica
from modelplane.observed.catalogue import resolve
from modelplane.observed.cluster import read_cluster
from modelplane.observed.deployment import read_deployment
from modelplane.observed.replica import read_replica
from modelplane.reading.reader import Reader, as_object, list_residents
from modelplane.reading.tree import Manifest, Tree, items, mapping
from modelplane.reading.unread import is_stand_in
from modelplane.scheduling import explain
from modelplane.scheduling.steps import find_freed, place_beside
from modelplane.step import Object

_MODEL: Final = f"ClusterModel.{GROUP}"
_CLUSTER: Final = f"InferenceCluster.{GROUP}"


class Outlook(StrEnum):
    """Whether one more replica could run on a profile: now, without some replicas of the fleet, or never."""

    NOW = "Now"
    IF_SOMETHING_GOES = "IfSomethingGoes"
    NEVER = "Never"


class NoModelError(Exception):
    """There is no ClusterModel of that name."""


class _Fleet:
    """A fleet as the scheduler's values, and the manifests of its replicas by uid."""

    def __init__(self, reader: Reader) -> None:
        listed = list_residents(reader)
        self.clusters: tuple[Cluster, ...] = tuple(
            read_cluster(as_object(reader, obj)) for obj in reader.list(_CLUSTER)
        )
        self.replicas: tuple[Replica, ...] = tuple(map(read_replica, listed))
        self.manifests = {replica.uid: obj.body for replica, obj in zip(self.replicas, listed, strict=True)}

    def running(self, model: str) -> Counter[str]:
        """Return how many replicas of the fleet run on each profile of a ClusterModel."""
        stamps = (mapping(each, "spec", "profile") for each in self.manifests.values())
        return Counter(str(stamp.get("name")) for stamp in stamps if stamp.get("model") == model)

    def of_model(self, model: str) -> frozenset[str]:
        """Return the uids of the replicas of a ClusterModel."""
        stamps = {uid: mapping(each, "spec", "profile") for uid, each in self.manifests.items()}
        return frozenset(uid for uid, stamp in stamps.items() if stamp.get("model") == model)


def find_outlooks(reader: Reader, model: str, namespace: str) -> Tree:
    """Return, for each profile of a ClusterModel, whether one more replica of a deployment in `namespace` could run.

    The deployment names the model and nothing else: no labels, no tolerations, no cache. The result is JSON: `model`,
    and `profiles` in the order of preference, each with `name`, `rank`, `state`, `replicas` (how many run on it),
    `cluster` and `pools` by engine (where one more would run), `reasons`, `freedReplicas` (the replicas that have to go
    first), `freesOwn` (some are of the model itself: only where no others would do), and `frees` (their
    ModelDeployments, or the hand-written ModelReplicas; not of those that were not read). Raises NoModelError.
    """
    found = reader.get(_MODEL, None, model)
    if found is None:
        listed = ", ".join(sorted(each["metadata"]["name"] for each in reader.list(_MODEL)))
        raise NoModelError(f"ClusterModel {model} does not exist{f'; there are: {listed}' if listed else ''}")
    fleet, catalogued = _Fleet(reader), as_object(reader, found)
    running = fleet.running(model)
    profiles = [
        {
            "name": name,
            "rank": rank,
            "replicas": running[name],
            **_outlook(fleet, _probe(catalogued, namespace, name)),
        }
        for rank, name in enumerate(str(each["name"]) for each in items(found, "spec", "serving"))
    ]
    return {"model": model, "profiles": profiles}


def find_all_outlooks(reader: Reader, namespace: str) -> list[Tree]:
    """Return the outlooks of every ClusterModel, sorted by name."""
    return [find_outlooks(reader, each["metadata"]["name"], namespace) for each in reader.list(_MODEL)]


def _probe(model: Object, namespace: str, profile: str) -> Deployment | Malformed:
    """Return a deployment of one replica that allows one profile of a model only."""
    spec = {"replicas": 1, "modelRef": {"name": model.name, "profiles": [profile]}}
    metadata = {"namespace": namespace, "name": model.name}
    manifest = {"apiVersion": API_VERSION, "kind": "ModelDeployment", "metadata": metadata, "spec": spec}
    obj = Object(manifest, ("outlook", namespace, model.name, profile))
    deployment = read_deployment(obj)
    return deployment if isinstance(deployment, Malformed) else resolve(obj, deployment, model).deployment


def _outlook(fleet: _Fleet, probe: Deployment | Malformed) -> Tree:
    if isinstance(probe, Malformed):
        return _row(Outlook.NEVER, reasons=[{"reason": "InvalidProfile", "count": 0, "message": str(probe)}])
    if probe.resolution.problem:
        why = "; ".join(probe.resolution.skipped.values()) or probe.resolution.problem
        return _row(Outlook.NEVER, reasons=[{"reason": "InvalidProfile", "count": 0, "message": why}])
    now = place_beside(probe, fleet.clusters, fleet.replicas)
    if not now.unplaced:
        return _row(Outlook.NOW, now)
    alone = place_beside(probe, fleet.clusters, ())
    if alone.unplaced:
        return _row(Outlook.NEVER, reasons=_reasons(alone, probe))
    own = fleet.of_model(probe.model.name) if probe.model else frozenset()
    freed = find_freed(probe, fleet.clusters, fleet.replicas, own) or find_freed(probe, fleet.clusters, fleet.replicas)
    freed = freed or ()
    then = place_beside(probe, fleet.clusters, [each for each in fleet.replicas if each not in freed])
    return _row(
        Outlook.IF_SOMETHING_GOES,
        then,
        freed=[fleet.manifests[each.uid] for each in freed],
        own=any(each.uid in own for each in freed),
        reasons=_reasons(now, probe),
    )


def _row(
    state: Outlook,
    schedule: Schedule | None = None,
    *,
    freed: Sequence[Manifest] = (),
    own: bool = False,
    reasons: Sequence[Any] = (),
) -> Tree:
    placement = schedule.placements[0] if schedule and schedule.placements else None
    owners = sorted({(_place(each)[0], _owner(each)) for each in freed if not is_stand_in(each)})
    return {
        "state": str(state),
        "cluster": placement.cluster if placement else "",
        "pools": {engine.name: engine.pool for engine in placement.engines} if placement else {},
        "frees": [{"namespace": namespace, "name": name} for namespace, name in owners],
        "freedReplicas": sorted("/".join(filter(None, _place(each))) for each in freed),
        "freesOwn": own,
        "reasons": list(reasons),
    }


def _place(replica: Manifest) -> tuple[str, str]:
    return replica["metadata"]["namespace"], replica["metadata"]["name"]


def _owner(replica: Manifest) -> str:
    """Return the deployment that composes a replica, or a hand-written replica itself."""
    labels = mapping(replica, "metadata", "labels")
    return str(labels.get(LABEL_DEPLOYMENT) or replica["metadata"]["name"])


def _reasons(schedule: Schedule, probe: Deployment) -> list[Any]:
    """Return why clusters do not host a profile, counted as in a deployment's status, or why there are none."""
    report = explain(schedule, probe)
    if not report.reasons:
        return [{"reason": str(report.reason), "count": 0, "message": report.message.partition(": ")[2]}]
    return [{"reason": each.reason, "count": each.count, "message": each.message} for each in report.reasons]
