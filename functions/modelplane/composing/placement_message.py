"""The message of `schedule` to the later steps of a ModelDeployment's pipeline: what to compose.

It is one text in the pipeline context, with a JSON list on each line. A context value is a protobuf Struct, and five
hundred placements cost a hundred times less as a text than as a tree of Struct values.
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
    """One ModelReplica to compose.

    `pools` maps each engine to its pool. `classes` maps each engine to one mapping per member, from device request to
    DeviceClass, without requests that claim nothing; both are used only with APPLY. `address` is the cluster's gateway,
    None while unknown; `mutual_tls`: it is reached by mutual TLS. `spec` is the present spec of a held replica that is
    not among the observed resources.
    `revision` is the replica's revision, "" if not known; `builder` the least builder that it asks for, 0 for any.
    `tolerations` maps engines to those of their pools, without engines that have none. `shared_memory` maps engines to
    the bound of each member's shared memory in bytes, without engines that need none. `volume` is the claim of the
    cache to mount with APPLY, "" for none. `ending`: the replica is ending. `profile` is the profile of the
    ClusterModel that the engines are from, "" for the deployment's own engines; with a profile, `selectors` has the
    same form as `classes`, with the selectors of each claim resolved on its pool. `identity` is the text of the
    placement, set when it is read: equal texts compose equal objects.
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
    """Return the message for a placement; a held replica keeps its revision and builder."""
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
    """Return the tolerations of the pools as in a manifest, without absent fields."""
    of_engines = {engine.name: engine.members[0].tolerations for engine in placement.engines}
    return {
        name: tuple(each.manifest() for each in tolerations) for name, tolerations in of_engines.items() if tolerations
    }


def _selectors(placement: Placement) -> dict[str, tuple[dict[str, tuple[str, ...]], ...]]:
    return {
        engine.name: tuple({claim.name: claim.selectors for claim in member.claims} for member in engine.members)
        for engine in placement.engines
    }


#: The fields on the line of a placement, in this order; the text of the line is its identity.
_FIELDS: Final = tuple(each.name for each in fields(PlacementMessage) if each.name != "identity")
_VALUES: Final = attrgetter(*_FIELDS)


def write_placements(placements: Iterable[PlacementMessage]) -> dict[str, str]:
    """Return the context that carries the placements."""
    encode = json.JSONEncoder(separators=(",", ":")).encode
    return {CONTEXT_PLACEMENTS: "\n".join([encode(_VALUES(one)) for one in placements])}


def write_profiles(placements: Iterable[PlacementMessage], specs: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """Return the context with what ModelReplicas take from the profiles of placements, {} without any."""
    used = sorted({one.profile for one in placements} & specs.keys())
    return {CONTEXT_PROFILES: json.dumps({name: specs[name] for name in used}, separators=(",", ":"))} if used else {}


def read_profiles(request: Request) -> Mapping[str, Mapping[str, Any]]:
    """Return what ModelReplicas take from each profile that a placement names."""
    text = request.context.get(CONTEXT_PROFILES)
    if not isinstance(text, str):
        return {}
    found: Mapping[str, Mapping[str, Any]] = _PARSED.get(text, lambda: _weigh_profiles(text))
    return found


def _weigh_profiles(text: str) -> tuple[Mapping[str, Mapping[str, Any]], int]:
    found: Mapping[str, Mapping[str, Any]] = json.loads(text)
    return found, weigh((text, found))


#: Cache of parsed placements and profiles by their text: those of a settled deployment are parsed once.
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
