"""The message by which `schedule` tells the later steps of a ModelDeployment's pipeline what to compose.

It is one text in the pipeline context, a JSON list a line: a context value is a protobuf Struct, and five hundred
placements cost a hundred times less as a text than as a tree of Struct values.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from operator import attrgetter
from typing import Any, Final

from modelplane.lru import Lru, weigh
from modelplane.model.deployment import Deployment
from modelplane.model.names import (
    CONTEXT_PLACEMENTS,
    CONTEXT_PROFILES,
    endpoint_resource,
    replica_name,
    replica_resource,
)
from modelplane.model.placement import Placement, Stamp
from modelplane.model.rollout import BUILDER
from modelplane.step import Request


@dataclass(frozen=True, slots=True)
class PlacementMessage:
    """One ModelReplica to compose, as the scheduler decided it.

    `pools` maps engine to pool. `classes` maps engine to one mapping per member: device request to DeviceClass, the
    requests that claim nothing left out; both only matter with APPLY. `address` is the cluster's gateway, None while
    unknown, `mutual_tls` whether it is reached by mutual TLS. `spec` is the replica's present spec where it is held and
    not among the observed resources.
    `revision` is what it carries, "" where that is not known; `builder` the least builder that it asks for, 0 for any.
    `tolerations` maps engine to those of its pool, one that has none left out.
    `shared_memory` maps engine to the bound of each member's shared memory in bytes, one that needs none left out.
    `volume` is the claim of the cache to mount with APPLY, "" for none. `ending`: the replica is
    to end. `profile` is the profile of a ClusterModel whose engines these are, "" for the deployment's own; then
    `selectors` maps as `classes` does, to the selectors of each claim as they are resolved on its pool.
    `identity` is the placement's own text, set when it is read: equal texts compose equal objects.
    """

    name: str
    resource: str
    endpoint: str
    cluster: str
    index: int
    stamp: Stamp
    pools: Mapping[str, str]
    classes: Mapping[str, Sequence[Mapping[str, str]]]
    address: str | None = None
    mutual_tls: bool = False
    spec: Mapping[str, Any] | None = None
    revision: str = ""
    builder: int = 0
    volume: str = ""
    ending: bool = False
    profile: str = ""
    selectors: Mapping[str, Sequence[Mapping[str, Sequence[str]]]] = field(default_factory=dict)
    tolerations: Mapping[str, Sequence[Mapping[str, str]]] = field(default_factory=dict)
    shared_memory: Mapping[str, Sequence[int]] = field(default_factory=dict)
    identity: str = ""


def encode_placement(
    placement: Placement,
    deployment: Deployment,
    *,
    address: str | None = None,
    mutual_tls: bool = False,
    spec: Mapping[str, Any] | None = None,
) -> PlacementMessage:
    """Return a placement of a deployment as the later steps need it; a held replica keeps its revision and builder."""
    replica, cluster, index = placement.replica, placement.cluster, placement.index
    held = replica if placement.stamp is not Stamp.APPLY else None
    return PlacementMessage(
        name=replica.name if replica else replica_name(deployment.namespace, deployment.name, cluster, index),
        resource=(replica.resource if replica else "") or replica_resource(cluster, index),
        endpoint=endpoint_resource(cluster, index),
        cluster=cluster,
        index=index,
        stamp=placement.stamp,
        pools={engine.name: engine.pool for engine in placement.engines},
        classes={
            engine.name: tuple({claim.name: claim.device_class for claim in m.claims} for m in engine.members)
            for engine in placement.engines
        },
        address=address,
        mutual_tls=mutual_tls,
        spec=spec,
        revision=held.revision if held else deployment.revision_of(deployment.find_profile(placement.profile)),
        builder=BUILDER if deployment.rollout.follow_upgrades and not held else 0,
        volume=placement.volume,
        ending=placement.ending,
        profile=placement.profile if deployment.model and not held else "",
        selectors=_selectors(placement) if deployment.model and not held else {},
        tolerations=_tolerations(placement),
        shared_memory=_shared_memory(placement),
    )


def _shared_memory(placement: Placement) -> dict[str, tuple[int, ...]]:
    of_engines = {engine.name: tuple(member.shared_memory for member in engine.members) for engine in placement.engines}
    return {name: bounds for name, bounds in of_engines.items() if any(bounds)}


def _tolerations(placement: Placement) -> dict[str, tuple[dict[str, str], ...]]:
    """Return the tolerations of the pools as a manifest has them, without what is absent."""
    of_engines = {engine.name: engine.members[0].tolerations for engine in placement.engines}
    return {
        name: tuple(each.manifest() for each in tolerations) for name, tolerations in of_engines.items() if tolerations
    }


def _selectors(placement: Placement) -> dict[str, tuple[dict[str, tuple[str, ...]], ...]]:
    return {
        engine.name: tuple({claim.name: claim.selectors for claim in member.claims} for member in engine.members)
        for engine in placement.engines
    }


#: What of a placement is on its line, in this order; the text of the line is its identity.
_FIELDS: Final = tuple(each.name for each in fields(PlacementMessage) if each.name != "identity")
_VALUES: Final = attrgetter(*_FIELDS)


def write_placements(placements: Iterable[PlacementMessage]) -> dict[str, str]:
    """Return the context that carries the placements."""
    encode = json.JSONEncoder(separators=(",", ":")).encode
    return {CONTEXT_PLACEMENTS: "\n".join([encode(_VALUES(one)) for one in placements])}


def write_profiles(placements: Iterable[PlacementMessage], specs: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """Return the context that carries what ModelReplicas take of the profiles that placements name, {} for none."""
    used = sorted({one.profile for one in placements} & specs.keys())
    return {CONTEXT_PROFILES: json.dumps({name: specs[name] for name in used}, separators=(",", ":"))} if used else {}


def read_profiles(request: Request) -> Mapping[str, Mapping[str, Any]]:
    """Return what ModelReplicas take of each profile that a placement names."""
    text = request.context.get(CONTEXT_PROFILES)
    if not isinstance(text, str):
        return {}
    found: Mapping[str, Mapping[str, Any]] = _PARSED.get(text, lambda: _weigh_profiles(text))
    return found


def _weigh_profiles(text: str) -> tuple[Mapping[str, Mapping[str, Any]], int]:
    found: Mapping[str, Mapping[str, Any]] = json.loads(text)
    return found, weigh((text, found))


#: The placements and the profiles of the last passes by their text, so that a settled deployment's are parsed once.
_PARSED: Final = Lru[Any](8 * 1024 * 1024)


def _parse_line(line: str) -> PlacementMessage:
    values = dict(zip(_FIELDS, json.loads(line), strict=True))
    return PlacementMessage(**{**values, "stamp": Stamp(values["stamp"]), "identity": line})


def _parse(text: str) -> tuple[PlacementMessage, ...]:
    return tuple(map(_parse_line, text.splitlines()))


def _weighed(text: str) -> tuple[tuple[PlacementMessage, ...], int]:
    placements = _parse(text)
    return placements, weigh((text, placements))


def read_placements(request: Request) -> tuple[PlacementMessage, ...] | None:
    """Return the placements of this pass, None when no step has written them."""
    text = request.context.get(CONTEXT_PLACEMENTS)
    return _PARSED.get(text, lambda: _weighed(text)) if isinstance(text, str) else None
