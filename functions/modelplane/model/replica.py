"""A ModelReplica as it is observed: where it is pinned, what it claims there, and whether it has served."""

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

    `whole_nodes`: it claims more than is looked into, and each of its pods is charged a whole node. `tolerations` are
    those of the pool. `asked` is what each pod asks of its node beside devices. `shared_memory` bounds
    what it may fill of its shared memory, in bytes: 0 where its memory limit does, if anything.
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
    """An engine as stamped on a replica; all its members are on one pool."""

    name: str
    members: tuple[StampedMember, ...]
    copies: int = 1

    @property
    def pool(self) -> str:
        """Return the pool of the engine."""
        return self.members[0].pool


def same_pods(one: tuple[StampedEngine, ...], two: tuple[StampedEngine, ...]) -> bool:
    """Tell whether pods of one and the other are alike: the number of copies restarts none."""
    return one == two or [replace(each, copies=1) for each in one] == [replace(each, copies=1) for each in two]


@dataclass(frozen=True, slots=True)
class Replica:
    """An observed ModelReplica.

    `owner` is the uid of the controlling ModelDeployment ("" for a hand-written one), `resource` its composition
    resource name. `serves`: it has been Ready on this placement (a flap does not unserve it). `served_engines` is
    the engines block it last served with. `index` is None where its label is missing or no number. `content` and
    `served_content` are the digests of what its pods are made of, and were when it last served; of the deployment's
    own replicas alone. `revision` is the one that it was given, `outdated_builder` whether an earlier version of
    Modelplane built its workloads. `cache` is the ModelCache that it names, `volume` the claim of it that its pods
    mount, "" where that is not known. `ending`: its pods are being deleted; `ended`: none is left.
    `profile` is the deployment's profile that it was placed with, `model` the ClusterModel that had it, "" for none,
    and `digest` that of what the profile said. `choice` is the digest of what the deployment itself asked of its pods.
    `stale`: its Ready is of an earlier generation. `refused`: its own pass says that its engines are not composed as
    they are written, and nothing of them runs.
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
    serves: bool = False
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
    refused: bool = False

    @property
    def proven(self) -> bool:
        """Return whether it has served with what its pods are made of now; one that did not record with what has, too.

        The number of copies is not part of it: while more of them load, the others serve on.
        """
        same = self.served_engines is None or same_pods(self.served_engines, self.engines)
        return self.serves and same and self.served_content == self.content

    @property
    def at_size(self) -> bool:
        """Return whether it is proven, and at the number of copies that it carries now."""
        return self.proven and self.served_engines in (None, self.engines)
