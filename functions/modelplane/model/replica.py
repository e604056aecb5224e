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
    """An observed ModelReplica."""

    namespace: str
    name: str
    uid: str
    #: The InferenceCluster of its spec.
    cluster: str
    #: Its engines as they are stamped on its spec.
    engines: tuple[StampedEngine, ...]
    #: The uid of the ModelDeployment that controls it, "" for a hand-written one.
    owner: str = ""
    #: Its composition resource name.
    resource: str = ""
    #: The number that tells the deployment's replicas on a cluster apart, None where its label is missing or no number.
    index: int | None = None
    #: Its creationTimestamp.
    created: str = ""
    #: Whether it has a deletionTimestamp.
    deleting: bool = False
    #: Whether one copy of each of its engines serves, by its last report.
    ready: bool = False
    #: Whether its Ready condition is of an earlier generation.
    stale: bool = False
    #: Whether all of its copies serve, with its present pods.
    complete: bool = True
    #: How many of its copies serve.
    copies: int = 0
    #: Whether no copy of an engine serves, because containers have ended with an error.
    crashed: bool = False
    #: Whether it has been Ready on this placement; it stays true when it is not Ready for a while.
    has_served: bool = False
    #: The engines with which it was last complete, None if that was not recorded.
    served_engines: tuple[StampedEngine, ...] | None = None
    #: The digest of everything that determines its pods; read for the deployment's own replicas only.
    content: str = ""
    #: The same digest when it was last complete.
    served_content: str = ""
    #: The revision that is stamped on it.
    revision: str = ""
    #: Whether an earlier version of Modelplane built its workloads.
    outdated_builder: bool = False
    #: Whether its pods are being deleted.
    ending: bool = False
    #: Whether none of them is left.
    ended: bool = False
    #: Its ModelCache, "" for none.
    cache: str = ""
    #: The claim that its pods mount, "" where that is not known.
    volume: str = ""
    #: The profile that it was placed with, "" for engines of the deployment's own.
    profile: str = ""
    #: The ClusterModel of that profile.
    model: str = ""
    #: The digest of that profile when it was placed.
    digest: str = ""
    #: The digest of the deployment's own fields that affect pods.
    choice: str = ""
    #: The digest of what clients see of its engines, "" where they cannot serve beside those of another spec.
    interface: str = ""
    #: The same digest when it was last complete.
    served_interface: str = ""
    #: Whether its own pass reports that its engines cannot be composed as written, and none of them runs.
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
