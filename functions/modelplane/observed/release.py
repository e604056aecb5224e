"""Reads a Release of provider-helm, and the counts of a workload on a cluster."""

from collections.abc import Mapping
from typing import Any

from modelplane.model.names import OBSERVE_ONLY
from modelplane.observed.fields import condition, count, excerpt, mapping, mappings, number, text, texts
from modelplane.observed.memo import once_per_version
from modelplane.observed.remote import Remote, read_error, read_synced, reports_absence
from modelplane.stack import Counts, Found, ReleaseState
from modelplane.step import Object


@once_per_version
def read_release(obj: Object) -> ReleaseState:
    """Return the state of a Release; an unreadable field reads as missing.

    Of a cluster that does not answer the last state stays: only what the provider has found is known.
    """
    status, spec = mapping(obj.body.get("status")), mapping(obj.body.get("spec"))
    seen, synced = mapping(status.get("atProvider")), read_synced(obj)
    policies = list(texts(spec.get("managementPolicies")))
    error = read_error(obj) if synced is False else ""
    absent = reports_absence(error)
    found = Found.ABSENT if absent else Found.THERE if text(seen.get("state")) else Found.UNKNOWN
    return ReleaseState(
        may_install=policies != list(OBSERVE_ONLY),
        found=found,
        state="" if absent else text(seen.get("state")),
        description=excerpt(seen.get("releaseDescription")),
        revision=count(seen.get("revision")),
        failed=count(status.get("failed")),
        version=text(seen.get("version")),
        error="" if absent else error,
        acted=bool(condition(obj, "Synced")),
    )


def read_counts(remote: Remote) -> Counts | None:
    """Return the counts of a Deployment or DaemonSet that was observed."""
    manifest = mapping(remote.manifest)
    spec, status = mapping(manifest.get("spec")), mapping(manifest.get("status"))
    generation = number(mapping(manifest.get("metadata")).get("generation"), 0)
    current = number(status.get("observedGeneration"), generation) >= generation
    if remote.kind == "DaemonSet":
        wanted, updated = count(status.get("desiredNumberScheduled")), count(status.get("updatedNumberScheduled"))
        available = count(status.get("numberAvailable"))
    else:
        wanted, updated = count(spec.get("replicas"), 1), count(status.get("updatedReplicas"))
        available = count(status.get("availableReplicas"))
    current = current and updated >= wanted
    return Counts(wanted=wanted, available=available, current=current, stalled=_stalled(status))


def _stalled(status: Mapping[str, Any]) -> str:
    """Return why a Deployment's controller has given its pods up: it cannot make them, or they are late."""
    found = {text(each.get("type")): each for each in mappings(status.get("conditions"))}
    refused, progressing = mapping(found.get("ReplicaFailure")), mapping(found.get("Progressing"))
    if refused.get("status") == "True":
        return excerpt(refused.get("message"))
    return excerpt(progressing.get("message")) if progressing.get("status") == "False" else ""
