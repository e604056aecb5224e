"""Composes the ModelReplicas of a ModelDeployment from the scheduler's placements, without decisions of its own."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from modelplane.api.modelreplica import ModelReplicaSpec
from modelplane.composing.placement_message import PlacementMessage, read_placements, read_profiles
from modelplane.model.conditions import Status
from modelplane.model.names import (
    ANNOTATION_PICKER,
    API_VERSION,
    LABEL_CLUSTER,
    LABEL_DEPLOYMENT,
    LABEL_MODEL,
    LABEL_REPLICA_INDEX,
    LABEL_REVISION,
)
from modelplane.model.placement import Stamp
from modelplane.model.replica import StampedEngine, StampedMember
from modelplane.observed.fields import mapping, mappings
from modelplane.observed.replica import ready_status
from modelplane.observed.resources import lift
from modelplane.step import Desired, Manifest, Object, Request, Result, versions

#: The field of a ModelReplica's spec that is Crossplane's own.
_FOREIGN: Final = "crossplane"


def _requests(member: Mapping[str, Any], stamped: StampedMember, *, resolved: bool) -> list[dict[str, Any]]:
    """Return the member's claiming device requests with their DeviceClass.

    The selectors are those of the request, unchanged, unless they are resolved on its pool.
    """
    claims = {claim.name: claim for claim in stamped.claims}
    return [
        {
            "name": device["name"],
            "deviceClassName": claims[device["name"]].device_class,
            "count": device.get("count", 1),
            "selectors": [{"cel": text} for text in claims[device["name"]].selectors]
            if resolved
            else device.get("selectors", []),
        }
        for device in mappings(mapping(member.get("nodeSelector")).get("devices"))
        if device.get("name") in claims
    ]


def _member(member: Mapping[str, Any], stamped: StampedMember, *, resolved: bool) -> dict[str, Any]:
    """Return a member resolved on its pool; `deviceRequests` is absent, never empty, when nothing is claimed."""
    made = {key: value for key, value in lift(member).items() if key != "nodeSelector"}
    made |= {"nodePoolName": stamped.pool}
    if requests := _requests(member, stamped, resolved=resolved):
        made["deviceRequests"] = requests
    if stamped.shared_memory:
        made.setdefault("sharedMemory", f"{stamped.shared_memory >> 20}Mi")
    if stamped.tolerations:
        made["tolerations"] = [each.manifest() for each in stamped.tolerations]
    return made


def _engine(engine: Mapping[str, Any], stamped: StampedEngine, *, resolved: bool) -> dict[str, Any]:
    found = zip(engine["members"], stamped.members, strict=True)
    return {**engine, "members": [_member(member, of_pool, resolved=resolved) for member, of_pool in found]}


def _applied(spec: Mapping[str, Any], placement: PlacementMessage) -> dict[str, Any]:
    """Return the spec of a ModelReplica that runs the deployment, or a profile of it, as it is now.

    A field that both kinds have is copied.
    """
    copied = {field: spec[field] for field in ModelReplicaSpec.model_fields if field in spec}
    stamped, resolved = {engine.name: engine for engine in placement.engines}, bool(placement.profile)
    engines = [_engine(engine, stamped[engine["name"]], resolved=resolved) for engine in spec["engines"]]
    builder = {"builder": placement.builder} if placement.builder else {}
    volume = {"volume": placement.volume} if placement.volume else {}
    return {**copied, "clusterName": placement.cluster, **volume, **builder, "engines": engines}


def _held_spec(placement: PlacementMessage, observed: Object | None) -> dict[str, Any]:
    """Return a replica's present spec, on REVERT with the engines it last served with, and its placement's cluster."""
    source = mapping(observed.body.get("spec")) if observed else mapping(placement.spec)
    # Whatever the fields are: one that is left out would be removed, and the replica restarted.
    kept = {field: value for field, value in source.items() if field != _FOREIGN}
    spec = {**kept, "clusterName": placement.cluster}
    if placement.ending:
        spec["ending"] = True
    if placement.stamp is Stamp.REVERT and observed:
        spec["engines"] = mapping(observed.body.get("status"))["servedEngines"]
    return spec


def _annotations(source: Object) -> dict[str, Any]:
    """Return the metadata with the annotation for an endpoint picker, from the deployment or the held replica."""
    wish = mapping(source.metadata.get("annotations")).get(ANNOTATION_PICKER)
    return {"annotations": {ANNOTATION_PICKER: wish}} if isinstance(wish, str) else {}


def _revision(placement: PlacementMessage) -> dict[str, str]:
    return {LABEL_REVISION: placement.revision} if placement.revision else {}


def _model(spec: Mapping[str, Any]) -> dict[str, str]:
    model = mapping(spec.get("profile")).get("model")
    return {LABEL_MODEL: model} if isinstance(model, str) else {}


def _manifest(
    deployment: Object, placement: PlacementMessage, observed: Object | None, profile: Mapping[str, Any]
) -> Manifest:
    wanted = {**mapping(deployment.body.get("spec")), **profile}
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
                **_model(spec),
            },
            **_annotations(deployment if applied or observed is None else observed),
        },
        "spec": spec,
    }


def _desired(
    deployment: Object, placement: PlacementMessage, observed: Object | None, profile: Mapping[str, Any]
) -> Desired:
    """Return the replica to be.

    Its key depends on the deployment and its profile, and for a held replica on the replica's own version too.
    """
    version = None if placement.stamp is Stamp.APPLY or observed is None else observed.key
    return Desired(
        build=lambda: _manifest(deployment, placement, observed, profile),
        ready=observed is not None and ready_status(observed) == Status.TRUE,
        key=("ModelReplica", deployment.key, placement.identity, version, *sorted(profile.get("profile", {}).items())),
    )


def compose(request: Request) -> Result:
    """Return the ModelReplicas of the deployment's placements; fatal when no scheduling step ran before.

    If the Composition has another version, the placements may be misread, so existing replicas are held.
    """
    placements = read_placements(request)
    if placements is None:
        return Result(fatal="ModelDeployment: no placements in the pipeline context; run the step schedule first")
    if versions.differs(request):
        found = [each for each in placements if each.spec or each.resource in request.observed]
        placements = tuple(replace(each, stamp=Stamp.HOLD) for each in found)
    profiles = read_profiles(request)
    return Result(
        desired={
            placement.resource: _desired(
                request.composite,
                placement,
                request.observed.get(placement.resource),
                profiles.get(placement.profile, {}),
            )
            for placement in placements
        }
    )
