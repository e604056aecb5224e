"""The message of `schedule` to the later steps of a ModelDeployment's pipeline: what to compose.

It is one text in the pipeline context, with a JSON list on each line. A context value is a protobuf Struct, and five
hundred placements cost a hundred times less as a text than as a tree of Struct values.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from operator import attrgetter
from typing import Any, Final

from modelplane.lru import Lru, weigh
from modelplane.model.deployment import Deployment, Role
from modelplane.model.fleet import PodToleration
from modelplane.model.names import (
    CONTEXT_PLACEMENTS,
    CONTEXT_PROFILES,
    endpoint_resource,
    replica_name,
    replica_resource,
)
from modelplane.model.placement import Placement, Stamp
from modelplane.model.replica import Claim, StampedEngine, StampedMember
from modelplane.model.resources import Resources
from modelplane.model.rollout import BUILDER
from modelplane.step import Request


@dataclass(frozen=True, slots=True)
class PlacementMessage:
    """One ModelReplica to compose, and its ModelEndpoint."""

    #: Name of the ModelReplica.
    name: str
    #: Composition resource names of the ModelReplica and of its ModelEndpoint.
    resource: str
    endpoint: str
    #: The InferenceCluster, and the number that tells the deployment's replicas there apart.
    cluster: str
    index: int
    #: Which engines the replica is composed with.
    stamp: Stamp
    #: With APPLY, the engines of the deployment or of a profile on their pools; else none.
    engines: tuple[StampedEngine, ...] = ()
    #: Address of the cluster's gateway, None while it is unknown.
    address: str | None = None
    #: Whether that is reached by mutual TLS.
    mutual_tls: bool = False
    #: The present spec of a held replica that is not among the observed resources.
    spec: Mapping[str, Any] | None = None
    #: The replica's revision, "" if it is not known.
    revision: str = ""
    #: The least builder that it asks for, 0 for any.
    builder: int = 0
    #: With APPLY, the claim of the cache to mount, "" for none.
    volume: str = ""
    #: Whether the replica only exists until its pods have finished their requests.
    ending: bool = False
    #: The profile of the ClusterModel that the engines are from, "" for the deployment's own. Only with a profile are
    #: the selectors of claims sent: those of the request, resolved on its pool. Without, those of the request stand.
    profile: str = ""
    #: The text of the message, set when it is read: equal texts compose equal objects.
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
        engines=placement.engines if placement.stamp is Stamp.APPLY else (),
        address=address,
        mutual_tls=mutual_tls,
        spec=spec,
        revision=held.revision if held else deployment.revision_of(deployment.find_profile(placement.profile)),
        builder=BUILDER if deployment.rollout.follow_upgrades and not held else 0,
        volume=placement.volume,
        ending=placement.ending,
        profile=placement.profile if deployment.model and not held else "",
    )


#: The fields on the line of a placement, in this order; the text of the line is its identity.
_FIELDS: Final = tuple(each.name for each in fields(PlacementMessage) if each.name != "identity")
_VALUES: Final = attrgetter(*_FIELDS)


@cache
def _getter(kind: type) -> Callable[[Any], tuple[Any, ...]]:
    return attrgetter(*(each.name for each in fields(kind)))


def _list_fields(value: Any) -> tuple[Any, ...]:
    """Return the values of an engine, or of a part of it, in the order of its fields."""
    kind: type = type(value)
    return _getter(kind)(value)


def _list_without_selectors(value: Any) -> tuple[Any, ...]:
    if isinstance(value, Claim):
        return value.name, value.device_class, value.count, ()
    return _list_fields(value)


_ENCODE: Final = json.JSONEncoder(separators=(",", ":"), default=_list_fields).encode
_ENCODE_WITHOUT_SELECTORS: Final = json.JSONEncoder(separators=(",", ":"), default=_list_without_selectors).encode


def _write(one: PlacementMessage) -> str:
    return (_ENCODE if one.profile else _ENCODE_WITHOUT_SELECTORS)(_VALUES(one))


def write_placements(placements: Iterable[PlacementMessage]) -> dict[str, str]:
    """Return the context that carries the placements."""
    return {CONTEXT_PLACEMENTS: "\n".join(map(_write, placements))}


def _read_member(values: Sequence[Any]) -> StampedMember:
    role, pool, pods, claims, whole_nodes, tolerations, asked, shared_memory = values
    return StampedMember(
        Role(role),
        pool,
        pods,
        tuple(Claim(name, kind, count, tuple(selectors)) for name, kind, count, selectors in claims),
        whole_nodes,
        tuple(PodToleration(*each) for each in tolerations),
        Resources(*asked),
        shared_memory,
    )


def _read_engine(values: Sequence[Any]) -> StampedEngine:
    name, members, copies, charged = values
    return StampedEngine(name, tuple(map(_read_member, members)), copies, charged)


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
    engines = tuple(map(_read_engine, values["engines"]))
    return PlacementMessage(**{**values, "stamp": Stamp(values["stamp"]), "engines": engines, "identity": line})


def _parse(text: str) -> tuple[PlacementMessage, ...]:
    return tuple(map(_parse_line, text.splitlines()))


def _weighed(text: str) -> tuple[tuple[PlacementMessage, ...], int]:
    placements = _parse(text)
    return placements, weigh((text, placements))


def read_placements(request: Request) -> tuple[PlacementMessage, ...] | None:
    """Return the placements of this pass, None when no step has written them."""
    text = request.context.get(CONTEXT_PLACEMENTS)
    return _PARSED.get(text, lambda: _weighed(text)) if isinstance(text, str) else None
