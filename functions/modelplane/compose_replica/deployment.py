"""Composes the ModelReplicas of a ModelDeployment: carries out what the scheduler decided, and decides nothing."""

from collections.abc import Mapping
from typing import Any

from modelplane.composing.placement_message import PlacementMessage, read_placements
from modelplane.model.conditions import Status
from modelplane.model.names import (
    ANNOTATION_PICKER,
    API_VERSION,
    LABEL_CLUSTER,
    LABEL_DEPLOYMENT,
    LABEL_REPLICA_INDEX,
    LABEL_REVISION,
)
from modelplane.model.placement import Stamp
from modelplane.observed.fields import mapping, mappings
from modelplane.observed.replica import ready_status
from modelplane.step import Desired, Manifest, Object, Request, Result

#: Fields of a ModelReplica's spec that are ours to set; `spec.crossplane` is Crossplane's own.
_SPEC_FIELDS = ("clusterName", "modelCacheRef", "volume", "drainSeconds", "ending", "builder", "serving", "engines")


def _requests(member: Mapping[str, Any], classes: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return the member's claiming device requests with their DeviceClass; the selectors are copied unchanged."""
    devices = mappings(mapping(member.get("nodeSelector")).get("devices"))
    return [
        {
            "name": device["name"],
            "deviceClassName": classes[device["name"]],
            "count": device.get("count", 1),
            "selectors": device.get("selectors", []),
        }
        for device in devices
        if device.get("name") in classes
    ]


def _member(member: Mapping[str, Any], pool: str, classes: Mapping[str, str]) -> dict[str, Any]:
    """Return a member resolved on its pool; `deviceRequests` is absent, never empty, when nothing is claimed."""
    resolved = {key: value for key, value in member.items() if key != "nodeSelector"} | {"nodePoolName": pool}
    requests = _requests(member, classes)
    return resolved | {"deviceRequests": requests} if requests else resolved


def _engine(engine: Mapping[str, Any], placement: PlacementMessage) -> dict[str, Any]:
    name = engine["name"]
    members = zip(engine["members"], placement.classes[name], strict=True)
    return {**engine, "members": [_member(member, placement.pools[name], classes) for member, classes in members]}


def _applied(spec: Mapping[str, Any], placement: PlacementMessage) -> dict[str, Any]:
    """Return the spec of a ModelReplica that runs the deployment as it is now."""
    kept = {field: spec[field] for field in ("modelCacheRef", "drainSeconds", "serving") if field in spec}
    engines = [_engine(engine, placement) for engine in spec["engines"]]
    builder = {"builder": placement.builder} if placement.builder else {}
    volume = {"volume": placement.volume} if placement.volume else {}
    return {"clusterName": placement.cluster, **kept, **volume, **builder, "engines": engines}


def _held_spec(placement: PlacementMessage, observed: Object | None) -> dict[str, Any]:
    """Return the spec a replica has, or with the engines it last served with; its cluster as it was placed."""
    source = mapping(observed.body.get("spec")) if observed else mapping(placement.spec)
    spec = {field: source[field] for field in _SPEC_FIELDS if field in source} | {"clusterName": placement.cluster}
    if placement.ending:
        spec["ending"] = True
    if placement.stamp is Stamp.REVERT and observed:
        spec["engines"] = mapping(observed.body.get("status"))["servedEngines"]
    return spec


def _annotations(source: Object) -> dict[str, Any]:
    """Return the metadata by which the wish for an endpoint picker reaches a replica, or stays with it."""
    wish = mapping(source.metadata.get("annotations")).get(ANNOTATION_PICKER)
    return {"annotations": {ANNOTATION_PICKER: wish}} if isinstance(wish, str) else {}


def _revision(placement: PlacementMessage) -> dict[str, str]:
    return {LABEL_REVISION: placement.revision} if placement.revision else {}


def _manifest(deployment: Object, placement: PlacementMessage, observed: Object | None) -> Manifest:
    wanted = mapping(deployment.body.get("spec"))
    applied = placement.stamp is Stamp.APPLY
    spec = _applied(wanted, placement) if applied else _held_spec(placement, observed)
    return {
        "apiVersion": API_VERSION,
        "kind": "ModelReplica",
        "metadata": {
            "name": placement.name,
            "namespace": deployment.namespace,
            "labels": {
                **mapping(wanted.get("replicaLabels")),
                LABEL_DEPLOYMENT: deployment.name,
                LABEL_CLUSTER: placement.cluster,
                LABEL_REPLICA_INDEX: str(placement.index),
                **_revision(placement),
            },
            **_annotations(deployment if applied or observed is None else observed),
        },
        "spec": spec,
    }


def _desired(deployment: Object, placement: PlacementMessage, observed: Object | None) -> Desired:
    """Return the replica to be. A kept one depends on its own version too, an applied one only on the deployment."""
    version = None if placement.stamp is Stamp.APPLY or observed is None else observed.key
    return Desired(
        build=lambda: _manifest(deployment, placement, observed),
        ready=observed is not None and ready_status(observed) == Status.TRUE,
        key=("ModelReplica", deployment.key, placement.identity, version),
    )


def compose(request: Request) -> Result:
    """Return the ModelReplicas of the deployment's placements; fatal when no scheduling step ran before."""
    placements = read_placements(request)
    if placements is None:
        return Result(fatal="ModelDeployment: no placements in the pipeline context; run the step schedule first")
    return Result(
        desired={
            placement.resource: _desired(request.composite, placement, request.observed.get(placement.resource))
            for placement in placements
        }
    )
