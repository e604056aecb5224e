"""The Objects and Releases of a ServingStack that observe its cluster, and what they say."""

from collections.abc import Mapping
from typing import Any, Final

from modelplane.kube.object import observed_only, remote_object
from modelplane.model.names import SYSTEM_NAMESPACE
from modelplane.observed.fields import mapping, mappings, text
from modelplane.observed.release import read_counts, read_release
from modelplane.observed.remote import Remote, read_remote
from modelplane.stack import (
    CHARTS,
    PARTS,
    Chart,
    Counts,
    Found,
    Origin,
    Part,
    StackObservation,
    Workload,
)
from modelplane.stack.parts import KUBERNETES
from modelplane.step import Manifest, Request

#: Composition resource names begin with these.
RELEASE: Final = "release-"
_SHOWN, _WORKLOAD = "shown-", "workload-"
#: That of the Object on what shows Kubernetes 1.34.
_KUBERNETES: Final = "kubernetes"
_APPS: Final = "apps/v1"


def release_resource(chart: Chart) -> str:
    """Return the composition resource name of a chart's Release."""
    return f"{RELEASE}{chart.name}"


def _watched(config: str, kind: str, metadata: Mapping[str, Any]) -> Manifest:
    manifest = {"apiVersion": _APPS, "kind": kind, "metadata": metadata}
    handling = observed_only(watch=True, seldom=True)
    return remote_object(manifest, handling, namespace=SYSTEM_NAMESPACE, config=config)


def _looked_at(config: str, shown: tuple[str, str, str], *, seldom: bool) -> Manifest:
    api, kind, name = shown
    manifest = {"apiVersion": api, "kind": kind, "metadata": {"name": name}}
    return remote_object(manifest, observed_only(seldom=seldom), namespace=SYSTEM_NAMESPACE, config=config)


def observers(config: str, parts: Mapping[Part, bool], charts: tuple[Chart, ...]) -> dict[str, Manifest]:
    """Return the Objects that observe a cluster, by composition resource name.

    `parts` are those to look for, True for one that was found: it is looked at seldom. The workloads of `charts` are
    watched.
    """
    found = {_KUBERNETES: _looked_at(config, KUBERNETES, seldom=True)}
    for part, there in parts.items():
        found[f"{_SHOWN}{part}"] = _looked_at(config, PARTS[part].shown_by, seldom=there)
    for chart in charts:
        for workload in chart.workloads:
            metadata = {"name": workload.name, "namespace": chart.namespace}
            found[f"{_WORKLOAD}{workload.name}"] = _watched(config, workload.kind, metadata)
    return found


def observe(request: Request) -> StackObservation:
    """Return what is observed of the cluster of a ServingStack."""
    remotes = {name: read_remote(each) for name, each in request.observed.items() if each.kind == "Object"}
    releases = {
        chart.name: read_release(found)
        for _, chart in CHARTS.values()
        if (found := request.observed.get(release_resource(chart))) is not None
    }
    return StackObservation(
        shown={part: _found(remotes.get(f"{_SHOWN}{part}")) for part in PARTS},
        kubernetes=_found(remotes.get(_KUBERNETES)),
        releases=releases,
        workloads=dict(_workloads(remotes)),
        origins=_origins(request),
    )


def _found(remote: Remote | None) -> Found:
    if remote is None:
        return Found.UNKNOWN
    if remote.absent:
        return Found.ABSENT
    return Found.THERE if remote.manifest else Found.UNKNOWN


def _workloads(remotes: Mapping[str, Remote]) -> list[tuple[str, Counts | None]]:
    """Return the counts of the workloads that were observed; one that does not answer keeps its last."""
    found: list[tuple[str, Counts | None]] = []
    for workload in _all_workloads():
        remote = remotes.get(f"{_WORKLOAD}{workload.name}")
        if remote and remote.absent:
            found.append((workload.name, None))
        elif remote and remote.manifest:
            found.append((workload.name, read_counts(remote)))
    return found


def _all_workloads() -> list[Workload]:
    return [workload for _, chart in CHARTS.values() for workload in chart.workloads]


def _origins(request: Request) -> dict[Part, Origin]:
    """Return who has installed each part, as the last status says."""
    status = mapping(request.composite.body.get("status"))
    recorded = {text(row.get("name")): text(row.get("origin")) for row in mappings(status.get("parts"))}
    return {part: Origin(recorded[part]) for part in PARTS if recorded.get(part) in tuple(Origin)}
