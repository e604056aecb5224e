"""An observed ModelReplica: its cluster and pools, what it claims there, and whether it has served."""

from dataclasses import dataclass, replace

from modelplane.model.deployment import Role
from modelplane.model.fleet import PodToleration
from modelplane.model.resources import NOTHING, Resources


@dataclass(frozen=True, slots=True)
class Claim:
    """A stamped device request: `count` devices of DeviceClass `device_class` that satisfy `selectors`."""

    name: str
    device_class: str
    count: int
    selectors: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StampedMember:
    """A member with its pool. `pods` per copy; `claims` is empty for a claimless member.

    `whole_nodes`: it claims more than is read, and each of its pods is charged a whole node. `tolerations` are those of
    the pool. `asked` is the CPU and memory that each pod requests. `shared_memory` is the bound of its shared memory in
    bytes: 0 where only its memory limit applies.
    """

    role: Role
    pool: str
    pods: int = 1
    claims: tuple[Claim, ...] = ()
    whole_nodes: bool = False
    tolerations: tuple[PodToleration, ...] = ()
    asked: Resources = NOTHING
    shared_memory: int = 0


@dataclass(frozen=True, slots=True)
class StampedEngine:
    """An engine as stamped on a replica; all its members are on one pool.

    `charged` is what it takes of its pool in the words of InferenceCluster `status.gpuPools[].charged`, where only that
    is known of it ("": its members say it).
    """

    name: str
    members: tuple[StampedMember, ...]
    copies: int = 1
    charged: str = ""

    @property
    def pool(self) -> str:
        """Return the pool of the engine."""
        return self.members[0].pool


def same_pods(one: tuple[StampedEngine, ...], two: tuple[StampedEngine, ...]) -> bool:
    """Tell whether both make the same pods; a different number of copies restarts none."""
    return one == two or [replace(each, copies=1) for each in one] == [replace(each, copies=1) for each in two]


@dataclass(frozen=True, slots=True)
class Replica:
    """An observed ModelReplica.

    `owner` is the uid of the controlling ModelDeployment ("" for a hand-written one), `resource` its composition
    resource name. `ready`: one copy of each of its engines serves, by its last report; `complete`: all of them do, with
    its present pods; `copies`: how many do; `crashed`: no copy of an engine does, because containers have ended with an
    error. `has_served`: it has been Ready on this placement; it stays true when it is not Ready for a while.
    `served_engines` are the engines it last served with. `index` is None where its label is missing or not a number.
    `content` and `served_content` are the digests of everything that determines its pods, now and when it last served;
    they are read for the deployment's own replicas only. `revision` is the one stamped on it, `outdated_builder`: an
    earlier version of Modelplane built its workloads. `cache` is its ModelCache, `volume` the claim that its pods
    mount, "" where it is not known. `ending`: its pods are being deleted; `ended`: none is left. `profile` is the
    deployment's profile that it was placed with, `model` the ClusterModel of that profile, "" for none, and `digest`
    the digest of the profile then. `choice` is the digest of the deployment's own fields that affect pods. `stale`: its
    Ready condition is of an earlier generation. `interface` and `served_interface` are the digests of what clients see
    of its engines, now and when it was last complete, "" where they cannot serve beside those of another spec.
    `refused`: its own pass reports that its engines cannot be composed as written, and none of them runs.
    """

    namespace: str
    name: str
    uid: str
    cluster: str
    engines: tuple[StampedEngine, ...]
    owner: str = ""
    resource: str = ""
    index: int | None = None
    created: str = ""
    deleting: bool = False
    ready: bool = False
    stale: bool = False
    complete: bool = True
    copies: int = 0
    crashed: bool = False
    has_served: bool = False
    served_engines: tuple[StampedEngine, ...] | None = None
    content: str = ""
    served_content: str = ""
    revision: str = ""
    outdated_builder: bool = False
    ending: bool = False
    ended: bool = False
    cache: str = ""
    volume: str = ""
    profile: str = ""
    model: str = ""
    digest: str = ""
    choice: str = ""
    interface: str = ""
    served_interface: str = ""
    refused: bool = False

    @property
    def proven(self) -> bool:
        """Return whether it has served with the present content of its pods, or before that content was recorded.

        The number of copies is not part of the content: while more copies load, the others keep serving.
        """
        same = self.served_engines is None or same_pods(self.served_engines, self.engines)
        return self.has_served and same and self.served_content == self.content

    @property
    def was_complete(self) -> bool:
        """Return whether it has been complete with the present content of its pods; copies may be missing now."""
        return self.proven and (self.complete or self.served_engines is not None)

    @property
    def at_size(self) -> bool:
        """Return whether it is proven, with its present number of copies."""
        return self.proven and self.served_engines in (None, self.engines)
