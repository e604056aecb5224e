"""What the ML team asks for: a ModelDeployment, reduced to what placement depends on."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from modelplane.model.catalogue import Requires
from modelplane.model.conditions import Reason
from modelplane.model.fleet import Effect
from modelplane.model.observation import Malformed
from modelplane.model.resources import NOTHING, Resources
from modelplane.model.rollout import Rollout

#: The modes of serving.
UNIFIED, PREFILL_DECODE = "Unified", "PrefillDecode"
#: Whether replicas run on distinct nodes (`replicasAcrossNodes`); PREFERRED is the default.
PREFERRED, NONE = "preferred", "none"


class Role(StrEnum):
    """The role of a member in its engine."""

    STANDALONE = "Standalone"
    LEADER = "Leader"
    WORKER = "Worker"


@dataclass(frozen=True, slots=True)
class DeviceRequest:
    """A request for `count` devices per pod that satisfy all `selectors` (CEL texts, tried in order).

    `gpu`: the devices must be of the entry that is the pool's GPU.
    """

    name: str
    count: int
    selectors: tuple[str, ...]
    gpu: bool = False


@dataclass(frozen=True, slots=True)
class Member:
    """One pod shape of an engine. `pods` is pods per copy: 1, or a Worker's `worker.nodes` (1 if unset).

    `requests` is empty for a member without nodeSelector: it matches any pool and claims nothing. `asked` is the CPU
    and memory that each pod requests. `shared_memory` is the bound of its shared memory in bytes: 0 where its memory
    limit is the bound, None where it depends on the pool's nodes.
    """

    role: Role
    pods: int = 1
    requests: tuple[DeviceRequest, ...] = ()
    asked: Resources = NOTHING
    shared_memory: int | None = None


@dataclass(frozen=True, slots=True)
class Engine:
    """One inference engine of a replica: `copies` instances of a Standalone, or of a Leader and its Workers."""

    name: str
    members: tuple[Member, ...]
    copies: int = 1


@dataclass(frozen=True, slots=True)
class Toleration:
    """A toleration of cluster taints. `effect` None matches both; `exists` with an empty key tolerates everything."""

    key: str = ""
    exists: bool = False
    value: str = ""
    effect: Effect | None = None


@dataclass(frozen=True, slots=True)
class Profile:
    """One way to serve a model: the engines of a replica.

    `content` is the digest of everything that determines its pods except their pools and claims. `name` is "" for the
    only profile of a deployment that states its engines itself; then nothing is required of a pool. Otherwise
    `requires` is what a pool has to declare, and `cluster_selector` holds labels that its cluster must carry.
    `revision` is the hash of its content and its device requests. `acting` are the labels and annotations of its pods
    that have an effect on a cluster. `digest` is the digest of its entry in the ClusterModel. `interface` is the digest
    of what clients see of its engines, "" where they cannot serve beside those of another spec.
    """

    engines: tuple[Engine, ...]
    content: str = ""
    name: str = ""
    requires: Requires | None = None
    cluster_selector: Mapping[str, str] = field(default_factory=dict)
    revision: str = ""
    acting: frozenset[str] = frozenset()
    digest: str = ""
    interface: str = ""


@dataclass(frozen=True, slots=True)
class ModelRef:
    """`spec.modelRef`: the ClusterModel's name, and the profiles that may be used (None for all).

    `pinned`: an edit of the ClusterModel reaches only replicas that are placed later.
    """

    name: str
    allowed: frozenset[str] | None = None
    pinned: bool = False

    def allows(self, profile: str) -> bool:
        """Tell whether replicas may run on a profile."""
        return self.allowed is None or profile in self.allowed


@dataclass(frozen=True, slots=True)
class Resolution:
    """The result of resolving a modelRef. `generation` is the ClusterModel's, None if there is none.

    `problem` is why no profile can be used and what to do, "" where one can. `skipped` says why, for each profile that
    cannot be used. `selector` is the model's own clusterSelector. `edited`: the deployment's status is for another
    generation or another ClusterModel, so no pass has seen this one. `unknown` are profiles that modelRef allows and
    the model does not have. `order` are the allowed profiles, the preferred one first, including those that cannot be
    used.
    """

    generation: int | None = None
    problem: str = ""
    skipped: Mapping[str, str] = field(default_factory=dict)
    selector: Mapping[str, str] = field(default_factory=dict)
    edited: bool = False
    unknown: tuple[str, ...] = ()
    order: tuple[str, ...] = ()

    @property
    def reason(self) -> Reason:
        """Return the reason of the conditions that are False because of the problem."""
        return Reason.MODEL_NOT_FOUND if self.generation is None else Reason.MODEL_NOT_ACCEPTED


@dataclass(frozen=True, slots=True)
class Deployment:
    """A ModelDeployment. Identity is (namespace, uid). `created` is RFC 3339 text, which sorts as time does.

    `cluster_selector` holds labels that a candidate must carry. `cache` is the referenced ModelCache's name, if any.
    `profiles` are the ways to serve it, the preferred one first: one where it states its engines itself, else those of
    the ClusterModel that `model` names, none where `resolution` has a problem. `revision`, which users see, is the hash
    of everything that determines its pods and of its device requests. `over_bound` is the first field that is larger
    than the API admits, in an object that was stored before the bound existed; else None. `carried` is the number of
    its replicas that one response of a function can carry. `choice` is the digest of its fields that affect pods apart
    from engines and ClusterModel.
    """

    namespace: str
    name: str
    uid: str
    profiles: tuple[Profile, ...]
    created: str = ""
    replicas: int = 1
    cluster_selector: Mapping[str, str] = field(default_factory=dict)
    tolerations: tuple[Toleration, ...] = ()
    cache: str | None = None
    rollout: Rollout = field(default_factory=Rollout)
    revision: str = ""
    over_bound: Malformed | None = None
    carried: int = 1_000_000
    model: ModelRef | None = None
    resolution: Resolution = field(default_factory=Resolution)
    choice: str = ""

    def find_profile(self, name: str) -> Profile | None:
        """Return the profile of that name; a deployment with engines of its own has only one."""
        if self.model is None:
            return next(iter(self.profiles), None)
        return next((each for each in self.profiles if each.name == name), None)

    def revision_of(self, profile: Profile | None) -> str:
        """Return the revision of a replica on a profile: the profile's where the deployment has several."""
        return (profile.revision if profile else "") or self.revision

    def rank_of(self, profile: Profile | None) -> int:
        """Return the position of a profile in the order of preference; None comes after all."""
        return len(self.profiles) if profile is None else self.profiles.index(profile)

    def place_of(self, profile: str) -> int:
        """Return the position of a profile in its ClusterModel, even if it is unusable; an unknown one comes last."""
        order = self.resolution.order or tuple(each.name for each in self.profiles)
        return order.index(profile) if profile in order else len(order)
