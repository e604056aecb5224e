"""The Objects and Releases of a ServingStack that observe its cluster, and what they say."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from modelplane.kube.object import CLUSTER_CONFIG, Handling, observed_only, remote_object
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
from modelplane.stack.parts import KUBERNETES, POOLS
from modelplane.stack.values import routes_to_pools
from modelplane.step import Manifest, Request

#: Composition resource names begin with these.
RELEASE: Final = "release-"
_SHOWN, _WORKLOAD = "shown-", "workload-"
#: Those of the inventory's objects begin with this.
INVENTORY_PART: Final = "inventory-"
#: That of its Deployment.
INVENTORY_WORKLOAD: Final = f"{INVENTORY_PART}deployment"
#: That of the Object on what shows Kubernetes 1.34.
_KUBERNETES: Final = "kubernetes"
#: That of the Object on what shows that there are InferencePools.
_POOLS: Final = "pools"
_APPS: Final = "apps/v1"


def release_resource(chart: Chart) -> str:
    """Return the composition resource name of a chart's Release."""
    return f"{RELEASE}{chart.name}"


@dataclass(frozen=True, slots=True)
class Reach:
    """The config of provider-kubernetes that reaches the cluster: its name and kind."""

    config: str
    kind: str = CLUSTER_CONFIG

    def observer(self, manifest: Manifest, handling: Handling) -> Manifest:
        """Return the Object that observes an object of the cluster."""
        return remote_object(manifest, handling, namespace=SYSTEM_NAMESPACE, config=self.config, config_kind=self.kind)


def _watched(reach: Reach, kind: str, metadata: Mapping[str, Any]) -> Manifest:
    manifest = {"apiVersion": _APPS, "kind": kind, "metadata": metadata}
    return reach.observer(manifest, observed_only(watch=True, seldom=True))


def _looked_at(reach: Reach, shown: tuple[str, str, str], *, seldom: bool) -> Manifest:
    api, kind, name = shown
    return reach.observer({"apiVersion": api, "kind": kind, "metadata": {"name": name}}, observed_only(seldom=seldom))


def observers(
    reach: Reach, parts: Mapping[Part, bool], charts: tuple[Chart, ...], *, engines: bool
) -> dict[str, Manifest]:
    """Return the Objects that observe a cluster, by composition resource name.

    `parts` are those to look for, True for one that was found: it is looked at seldom. The workloads of `charts` are
    watched. `engines`: it is looked whether the cluster's Kubernetes can run engines.
    """
    of_engines = {_KUBERNETES: KUBERNETES, _POOLS: POOLS} if engines else {}
    found = {name: _looked_at(reach, shown, seldom=True) for name, shown in of_engines.items()}
    for part, there in parts.items():
        found[f"{_SHOWN}{part}"] = _looked_at(reach, PARTS[part].shown_by, seldom=there)
    for chart in charts:
        for workload in chart.workloads:
            metadata = {"name": workload.name, "namespace": chart.namespace}
            found[f"{_WORKLOAD}{workload.name}"] = _watched(reach, workload.kind, metadata)
    return found


def observe(request: Request, *, engines: bool) -> StackObservation:
    """Return what is observed of the cluster of a ServingStack; which Kubernetes it has, if it is to run `engines`."""
    remotes = {name: read_remote(each) for name, each in request.observed.items() if each.kind == "Object"}
    releases = {
        chart.name: read_release(found)
        for _, chart in CHARTS.values()
        if (found := request.observed.get(release_resource(chart))) is not None
    }
    return StackObservation(
        shown={part: _found(remotes.get(f"{_SHOWN}{part}")) for part in PARTS},
        kubernetes=_found(remotes.get(_KUBERNETES)) if engines else Found.THERE,
        releases=releases,
        pools=_has_pools(request, remotes.get(_POOLS)),
        workloads=dict(_workloads(remotes)),
        origins=_origins(request),
    )


def _has_pools(request: Request, remote: Remote | None) -> bool | None:
    """Tell whether the cluster has InferencePools; without an answer, what its Envoy Gateway is installed for."""
    found, (chart,) = _found(remote), PARTS[Part.GATEWAY].charts
    if found is not Found.UNKNOWN:
        return found is Found.THERE
    release = request.observed.get(release_resource(chart))
    if release is None or not read_release(release).may_install:
        return None
    return routes_to_pools(mapping(mapping(release.body.get("spec")).get("forProvider")).get("values"))


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
        remote = remotes.get(_resource_of(workload))
        if remote and remote.absent:
            found.append((workload.name, None))
        elif remote and remote.manifest:
            found.append((workload.name, read_counts(remote)))
    return found


def _all_workloads() -> list[Workload]:
    own = [facts.own for facts in PARTS.values() if facts.own]
    return [workload for _, chart in CHARTS.values() for workload in chart.workloads] + own


def _resource_of(workload: Workload) -> str:
    own = any(facts.own == workload for facts in PARTS.values())
    return INVENTORY_WORKLOAD if own else f"{_WORKLOAD}{workload.name}"


def _origins(request: Request) -> dict[Part, Origin]:
    """Return who has installed each part, as the last status says."""
    status = mapping(request.composite.body.get("status"))
    recorded = {text(row.get("name")): text(row.get("origin")) for row in mappings(status.get("parts"))}
    return {part: Origin(recorded[part]) for part in PARTS if recorded.get(part) in tuple(Origin)}
