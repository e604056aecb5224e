"""What a ModelReplica reports: its conditions, and the status that it carries from pass to pass."""

from dataclasses import replace
from typing import Any

from modelplane.compose_replica.findings import ReplicaFindings
from modelplane.compose_replica.validation import find_problems
from modelplane.compose_replica.weights import mounted, recorded_volumes
from modelplane.composing.engine_warnings import find_warnings
from modelplane.composing.messages import sentences
from modelplane.model.conditions import Condition, Reason, ReplicaCondition, Status, cap
from modelplane.model.names import LABEL_CLUSTER, replica_hostname
from modelplane.observed.fields import is_true, labels, mapping, text


def _warnings(found: ReplicaFindings) -> list[str]:
    """Return problems of a replica that is accepted, such as a missing label."""
    if found.spec is None:
        return []
    warnings, cluster = [] if find_problems(found.spec) else [*find_warnings(found.replica)], found.spec.cluster
    if labels(found.replica).get(LABEL_CLUSTER) != cluster and found.remotes:
        warnings.append(
            f'Add the line {LABEL_CLUSTER}: "{cluster}" to metadata.labels of this ModelReplica: without the label '
            "nothing counts it, and other replicas are placed on its devices."
        )
    return warnings + ([found.mount.message] if found.mount else [])


def _accepted(found: ReplicaFindings) -> Condition:
    """Return ModelAccepted: whether the cluster has accepted the replica's objects.

    The message about an abandoned cluster comes first: its owner waits for it, and the provider's message about a
    cluster that does not answer may fill the whole condition.
    """
    accepted = _taken(found)
    if not found.orphaning or found.spec is None:
        return accepted
    orphaned = f"InferenceCluster {found.spec.cluster} is abandoned: what runs there is orphaned when this replica goes"
    return replace(accepted, message=sentences(orphaned, accepted.message))


def _taken(found: ReplicaFindings) -> Condition:
    """Return ModelAccepted for a cluster that is not abandoned.

    If an accepted object cannot be synced, the last status stays: an unreachable cluster still has the object, and a
    refused edit stays refused.
    """
    kind = ReplicaCondition.MODEL_ACCEPTED
    if found.obstacle:
        held = "Existing resources are unchanged" if found.wanted else ""
        message = sentences(found.obstacle.message, held, *_warnings(found))
        return Condition(kind, Status.FALSE, found.obstacle.reason, message)
    if pending := found.pending:
        return Condition(kind, Status.FALSE, Reason.DEPLOYING, pending)
    failure = found.sync_failure
    if failure and not is_true(found.replica, kind):
        return Condition(kind, Status.FALSE, Reason.DEPLOYING, failure)
    return Condition(kind, Status.TRUE, Reason.ACCEPTED, sentences(failure, *_warnings(found)))


def _ready(found: ReplicaFindings, accepted: Condition) -> Condition:
    """Return ModelReady: whether every engine serves, and what each waits for that is not complete."""
    kind, failure = ReplicaCondition.MODEL_READY, found.sync_failure
    last = f"last known state, {failure}" if failure else ""
    if found.ended is not None:
        message = "the replica has ended" if found.ended else "the replica ends: its pods finish what they have taken"
        return Condition(kind, Status.FALSE, Reason.WAITING_FOR_MODEL, message)
    message = "; ".join(filter(None, [*found.unready, last]))
    if found.serves:
        return Condition(kind, Status.TRUE, Reason.SERVING, message)
    if not found.engines:
        return Condition(kind, Status.FALSE, Reason.WAITING_FOR_MODEL, f"nothing runs yet: {accepted.message}")
    return Condition(kind, Status.FALSE, Reason.MODEL_STARTING, message)


def conditions(found: ReplicaFindings) -> tuple[Condition, Condition]:
    """Return all conditions of the ModelReplica's kind: ModelAccepted and ModelReady."""
    accepted = _accepted(found)
    return accepted, _ready(found, accepted)


def _rows(found: ReplicaFindings) -> list[dict[str, Any]]:
    objects = found.engine_objects
    return [
        {
            "engine": engine,
            "kind": text(manifest.get("kind")),
            "name": text(mapping(manifest.get("metadata")).get("name")),
            "object": objects[engine],
            "ready": state.available,
            "desired": state.desired,
        }
        | ({"message": state.message} if state.message else {})
        | ({"restarting": True} if state.restarting else {})
        for engine, (manifest, state) in sorted(found.engines.items())
    ]


def _volumes(found: ReplicaFindings, *, settled: bool) -> list[str]:
    """Return the claims that pods may mount, including earlier ones until all pods serve from the desired one."""
    wanted = {found.mount.volume} - {""} if found.mount else set()
    return sorted(wanted if settled else {*recorded_volumes(found.replica), *mounted(found.remotes), *wanted})


def _held(found: ReplicaFindings, accepted: Condition) -> str:
    """Return why a replica is held although its spec asks for a change, "" if it is not held.

    It is an obstacle, or an edit of a replica that has served that the cluster has not accepted.
    """
    if found.obstacle:
        return found.obstacle.message if found.engines else ""
    served = mapping(found.replica.body.get("status")).get("served") is True
    return found.sync_failure if served and accepted.status is Status.FALSE else ""


def _was_made_anew(found: ReplicaFindings) -> bool:
    """Tell whether the replica has served on a cluster that was deleted in its cloud, and made anew since."""
    before = text(mapping(found.replica.body.get("status")).get("servedOn"))
    return bool(before and found.made_uid) and before != found.made_uid


def _serving(found: ReplicaFindings, *, settled: bool) -> dict[str, Any]:
    """Return what the replica has served with; `settled`: its cluster runs, in sync, exactly the present spec.

    A replica that begins to serve while an edit is held records the stamp of what runs, never that of the edit.
    """
    last, anew = mapping(found.replica.body.get("status")), _was_made_anew(found)
    if anew:
        # What is observed may still be of the cluster that is gone.
        return {"served": False}
    served = last.get("served") is True or found.serves
    on = {"servedOn": last.get("servedOn") or found.made_uid} if served and found.made_uid else {}
    if found.spec and settled:
        return {"served": served, **on, "servedEngines": list(found.spec.block), "servedStamp": found.stamp}
    first = {"servedStamp": found.ran} if found.serves and last.get("served") is not True else {}
    kept = {name: last[name] for name in ("servedEngines", "servedStamp") if name in last}
    return {"served": served, **on, **first, **kept}


def status(found: ReplicaFindings, accepted: Condition) -> dict[str, Any]:
    """Return the complete status: a field that is left out is removed. `accepted` is ModelAccepted.

    `served` stays true after a flap, a reboot or an unknown state. `servedEngines` changes only when the cluster runs,
    in sync, exactly the engines of the present spec, with all their copies.
    """
    last = mapping(found.replica.body.get("status"))
    in_sync = found.spec is not None and found.obstacle is None and not found.pending and not found.sync_failure
    written = {**_serving(found, settled=in_sync and found.complete), "workloads": _rows(found)}
    if found.engines:
        written["complete"] = found.complete
    if found.has_crashed:
        written["crashed"] = True
    if volumes := _volumes(found, settled=in_sync and found.complete):
        written["volumes"] = volumes
    if found.builder:
        written["builder"] = found.builder
    if found.ended is not None:
        written["workloads"] = last.get("workloads") or written["workloads"]
        written |= {"ended": True} if found.ended else {}
    if held := _held(found, accepted):
        written["held"] = cap(held)
    if found.spec:
        written["endpoint"] = replica_hostname(found.replica.name, found.replica.namespace, found.spec.cluster)
    elif "endpoint" in last:
        written["endpoint"] = last["endpoint"]
    return written
