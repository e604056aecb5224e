"""Reads the spec of a ModelReplica strictly: an invalid field must not be ignored."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Final

from modelplane.api.modelreplica import ModelReplicaSpec
from modelplane.kube.pod import MemberPod
from modelplane.model.deployment import NONE, PREFERRED, PREFILL_DECODE, UNIFIED, Role
from modelplane.model.names import ANNOTATION_PICKER
from modelplane.model.observation import Malformed
from modelplane.observed.fields import mapping
from modelplane.observed.strict import read_strictly
from modelplane.step import Object

#: Most gangs of a replica whose workers are observed, each by an Object that the provider polls. They are divided
#: evenly among the engines; for other copies the leader's readiness counts for the workers.
GANG_LIMIT: Final = 32


class Phase(StrEnum):
    """The phase of an engine in a PrefillDecode pair."""

    PREFILL = "Prefill"
    DECODE = "Decode"


@dataclass(frozen=True, slots=True, kw_only=True)
class Member(MemberPod):
    """A member of an engine: what its template, its pool and its resources say of its pods, verbatim, and its role."""

    role: Role
    #: The member's `deviceRequests`, verbatim.
    requests: Sequence[Mapping[str, Any]] = ()
    #: Pods per copy: 1, or a Worker's `worker.nodes`.
    nodes: int = 1


@dataclass(frozen=True, slots=True)
class Engine:
    """An engine: `copies` instances of its members."""

    name: str
    copies: int
    members: tuple[Member, ...]
    #: Its phase in a PrefillDecode pair, else None.
    phase: Phase | None = None
    #: The number of copies of a gang, from the first, whose workers are observed.
    observed_copies: int = 0
    #: Whether its pods prefer nodes without pods of the deployment's other replicas.
    spread: bool = True

    @property
    def roles(self) -> frozenset[Role]:
        """Return the roles of the members, which define the engine's topology."""
        return frozenset(member.role for member in self.members)

    def member(self, role: Role) -> Member:
        """Return the member of a role that the engine has."""
        return next(member for member in self.members if member.role is role)

    @property
    def serving(self) -> Member:
        """Return the member that takes requests."""
        return self.member(Role.LEADER if Role.LEADER in self.roles else Role.STANDALONE)


@dataclass(frozen=True, slots=True)
class ReplicaSpec:
    """A ModelReplica's spec."""

    cluster: str
    mode: str
    #: The referenced ModelCache, if any.
    cache: str | None
    engines: tuple[Engine, ...]
    #: `spec.engines` verbatim.
    block: Sequence[Mapping[str, Any]]
    #: Whether an endpoint picker chooses the copy for a request; a PrefillDecode pair has to have one.
    picked: bool = False
    #: The claim of the cache that the deployment has chosen.
    volume: str | None = None
    #: The least builder that the deployment asks for, 0 for any.
    builder: int = 0
    #: Whether it is to end.
    ending: bool = False
    #: How long its pods go on answering while they are being deleted.
    drain_seconds: int = 0


def _member(member: Mapping[str, Any]) -> Member:
    template = member["template"]
    metadata, pod = mapping(template.get("metadata")), template["spec"]
    limits = mapping(mapping(member.get("resources")).get("limits"))
    return Member(
        role=Role(member.get("role", Role.STANDALONE)),
        pool=member["nodePoolName"],
        container=pod["containers"][0],
        requests=tuple(member.get("deviceRequests") or ()),
        labels=mapping(metadata.get("labels")),
        annotations=mapping(metadata.get("annotations")),
        pull_secrets=tuple(pod.get("imagePullSecrets") or ()),
        nodes=mapping(member.get("worker")).get("nodes", 1),
        tolerations=tuple(member.get("tolerations") or ()),
        resources=mapping(member.get("resources")),
        shared_memory=member.get("sharedMemory") or limits.get("memory"),
    )


def _engine(engine: Mapping[str, Any], mode: str) -> Engine:
    members = tuple(_member(member) for member in engine["members"])
    phase = Phase(engine["phase"]) if mode == PREFILL_DECODE and engine.get("phase") else None
    spread = engine.get("replicasAcrossNodes", PREFERRED) != NONE
    return Engine(engine["name"], engine.get("copies", 1), members, phase, spread=spread)


def _engines(block: Sequence[Mapping[str, Any]], mode: str) -> tuple[Engine, ...]:
    engines = [_engine(engine, mode) for engine in block]
    share = max(1, GANG_LIMIT // max(1, sum(Role.WORKER in engine.roles for engine in engines)))
    return tuple(replace(engine, observed_copies=min(engine.copies, share)) for engine in engines)


def _wrong(spec: ModelReplicaSpec) -> tuple[str, str] | None:
    """Return (path, what is needed) of a list of the wrong length, which the model does not check; else None."""
    for engine in spec.engines:
        for index, member in enumerate(engine.members):
            pod = member.template.spec
            if pod is None or len(pod.containers) != 1:
                path = f"engines[{engine.name}].members[{index}].template.spec.containers"
                return path, "needs exactly one container: give it one that is named engine"
        if not engine.members:
            return f"engines[{engine.name}].members", "is empty: give it a Standalone, or a Leader and a Worker"
    return None if spec.engines else ("engines", "is empty: give it an engine")


def read_spec(replica: Object) -> ReplicaSpec | Malformed:
    """Return the spec of a ModelReplica, Malformed with the field if its XRD would refuse it."""
    typed = read_strictly(ModelReplicaSpec, replica)
    if isinstance(typed, Malformed):
        return typed
    if wrong := _wrong(typed):
        path, needs = wrong
        return Malformed("ModelReplica", replica.name, f"spec.{path}", needs)
    block, mode = replica.body["spec"]["engines"], typed.serving.mode if typed.serving else UNIFIED
    return ReplicaSpec(
        cluster=typed.clusterName,
        mode=mode,
        cache=typed.modelCacheRef.name if typed.modelCacheRef else None,
        engines=_engines(block, mode),
        block=block,
        volume=typed.volume,
        builder=typed.builder or 0,
        ending=typed.ending or False,
        drain_seconds=typed.drainSeconds,
        picked=mode == PREFILL_DECODE or mapping(replica.metadata.get("annotations")).get(ANNOTATION_PICKER) == "true",
    )
