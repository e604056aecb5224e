"""The scheduler's decision: one `Schedule` of placements and refusals."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from modelplane.model.fleet import Cluster
from modelplane.model.observation import Gap, Malformed
from modelplane.model.rank import Choice
from modelplane.model.refusal import Refusal
from modelplane.model.replica import Replica, StampedEngine


class Stamp(StrEnum):
    """Which engines a replica is composed with.

    `APPLY`: the deployment's engines, in `Placement.engines`. `HOLD`: the observed spec, unchanged (an edit that does
    not fit, a leaving replica, an input that cannot be read). `REVERT`: `status.servedEngines`, after a growth for
    which another replica took the room.
    """

    APPLY = "Apply"
    HOLD = "Hold"
    REVERT = "Revert"


class EndCause(StrEnum):
    """Why an observed replica is no longer composed. A replica ends for no other cause."""

    SCALE_DOWN = "ScaleDown"
    EVICTED = "Evicted"
    REPLACED = "Replaced"
    YIELDED = "Yielded"
    DUPLICATE = "Duplicate"
    ROLLED_OUT = "RolledOut"


@dataclass(frozen=True, slots=True)
class Placement:
    """One replica to compose on (cluster, index).

    `engines` are the deployment's engines on the chosen pools (with APPLY), else the stamped ones. `replica` is the
    observed one, None for a new one. `leaving`: it ends once others serve. `why` is one sentence why it is leaving,
    held or reverted; "" otherwise. `updated`: its spec is as the deployment asks. `serving`: it serves now with its
    present spec, and its cluster answers. `profile` is the profile of its engines. `volume` is the claim of the cache
    to mount (with APPLY), "" while none is staged there. `ending`: it only exists until its pods have finished their
    requests. `carries`: its spec was as asked before this pass. `changes`: this pass changes its engines, so that its
    conditions are outdated; `by_copy`: it goes on to serve meanwhile. `choice`: how the cluster of a new replica was
    chosen, None for one that exists.
    """

    cluster: str
    index: int
    engines: tuple[StampedEngine, ...]
    replica: Replica | None = None
    stamp: Stamp = Stamp.APPLY
    leaving: bool = False
    why: str = ""
    updated: bool = True
    serving: bool = False
    profile: str = ""
    volume: str = ""
    ending: bool = False
    carries: bool = True
    changes: bool = False
    by_copy: bool = False
    choice: Choice | None = None


@dataclass(frozen=True, slots=True)
class End:
    """An observed replica that ends, and the cause."""

    replica: Replica
    cause: EndCause


@dataclass(frozen=True, slots=True)
class Footprint:
    """The clusters a ModelCache selects: labels a cluster must carry; empty selects all.

    `volumes` are the claims on which it is staged, by cluster, for clusters where it is Ready.
    """

    cache: str
    selector: Mapping[str, str] = field(default_factory=dict)
    volumes: Mapping[str, str] = field(default_factory=dict)


class CacheState(StrEnum):
    """Why a deployment's cache has no footprint. NOT_REQUIRED: the deployment names no cache."""

    NOT_REQUIRED = "NotRequired"
    UNRESOLVED = "Unresolved"


@dataclass(frozen=True, slots=True)
class FleetView:
    """All inputs of one scheduling pass besides the deployment; each part may be not fetched yet."""

    #: The deployment's observed ModelReplicas.
    own: tuple[Replica, ...] = ()
    #: The clusters of `own` by name; a name without a key was not fetched, `Gap.ABSENT` does not exist.
    clusters: Mapping[str, Cluster | Gap | Malformed] = field(default_factory=dict)
    #: The clusters that carry the labels of `candidate_labels`.
    candidates: tuple[Cluster, ...] | Gap = Gap.NOT_FETCHED
    #: All ModelReplicas of a cluster, by cluster name; without a key they were not fetched.
    residents: Mapping[str, tuple[Replica, ...]] = field(default_factory=dict)
    #: Every ModelReplica that carries the deployment's label, own and deleting ones included.
    siblings: tuple[Replica, ...] | Gap = Gap.NOT_FETCHED
    #: The footprint, or why there is none.
    cache: Footprint | CacheState | Gap | Malformed = CacheState.NOT_REQUIRED
    #: The replicas that the deployment's own status lists, None before it lists any; never older than a fetched list.
    listed: frozenset[str] | None = None
    #: The labels of the deployment's namespace.
    namespace: Mapping[str, str] | Gap = Gap.NOT_FETCHED
    #: The guess of the earlier call of the pass that chose these `candidates` among all; None if they are all.
    shortlisted: "Guess | None" = None
    #: Whether nothing more can be fetched in this pass.
    final: bool = False
    #: The clusters that earlier passes read and found full, numbered from 1 on, the longest ago first. Only the order
    #: in which clusters that publish nothing are read depends on it.
    found_full: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Guess:
    """A decision by what all candidates publish, before the replicas of the chosen ones are read.

    `why`: (profile, why no candidate takes another replica on it). `choice`: a digest of the decision on the chosen
    candidates, "" where nothing has to be confirmed.
    """

    why: tuple[tuple[str, str], ...] = ()
    choice: str = ""


@dataclass(frozen=True, slots=True)
class Needs:
    """What must be fetched before the pass can be decided: only what the decision depends on, all at once.

    `candidates`: all of them, even if the view has a shortlist. `shortlist`: the guess for all candidates; the
    residents are those of the chosen ones, so that the others need not be fetched again.
    """

    clusters: frozenset[str] = frozenset()
    residents: frozenset[str] = frozenset()
    candidates: bool = False
    siblings: bool = False
    cache: bool = False
    namespace: bool = False
    shortlist: Guess | None = None

    def __bool__(self) -> bool:
        """Tell whether anything is needed."""
        return bool(self.clusters or self.residents or self.candidates or self.siblings or self.cache or self.namespace)

    def __or__(self, other: "Needs") -> "Needs":
        """Return the needs of both; at most one of them has a shortlist."""
        return Needs(
            self.clusters | other.clusters,
            self.residents | other.residents,
            self.candidates or other.candidates,
            self.siblings or other.siblings,
            self.cache or other.cache,
            self.namespace or other.namespace,
        )


@dataclass(frozen=True, slots=True)
class BadSelector:
    """A selector of the deployment that does not compile, with why and where.

    Where is the profile, the engine, the request, the selector itself, and the 1-based position in it.
    """

    engine: str
    request: str
    selector: str
    line: int
    column: int
    why: str
    profile: str = ""


@dataclass(frozen=True, slots=True)
class HeldEdit:
    """A replica that is held because an edit does not fit, and why it does not."""

    replica: Replica
    refusal: Refusal


@dataclass(frozen=True, slots=True)
class TooSmall:
    """A replica that runs on a pool that has become too small: nodes it needs there, nodes the others leave it."""

    replica: Replica
    pool: str
    needs: int
    free: int


@dataclass(frozen=True, slots=True)
class Rolling:
    """The progress of a rollout.

    `waiting_for` is the replica that has to serve before it continues. `no_room`: the next replica found no place
    beside the others; `too_large`: because a response cannot carry it. `surge_only`: none of the waiting replicas can
    be changed in place. `paused` as in spec.rollout. `refusals`: by profile, why each candidate cannot take the next
    replica; a candidate without a refusal has room on devices alone that are more capable than the replica's.
    """

    waiting_for: Placement | None = None
    no_room: bool = False
    paused: bool = False
    too_large: bool = False
    surge_only: bool = False
    refusals: Mapping[str, Mapping[str, Refusal]] = field(default_factory=dict)

    @property
    def waits_for_room(self) -> bool:
        """Tell whether an edit waits until there is room for it, so that replicas are not as asked."""
        return self.no_room and not self.paused


@dataclass(frozen=True, slots=True)
class Drift:
    """A replica on a cluster that the deployment no longer allows, and why."""

    replica: Replica
    why: str


@dataclass(frozen=True, slots=True)
class Holders:
    """What holds a pool: the names of replicas of the deployment's own namespace, and how many of other namespaces."""

    own: tuple[str, ...] = ()
    others: int = 0


@dataclass(frozen=True, slots=True)
class Schedule:
    """The outcome of a pass."""

    #: How many replicas are asked for.
    replicas: int
    #: Every replica to compose, sorted by (cluster, index).
    placements: tuple[Placement, ...] = ()
    #: The observed replicas that end.
    ending: tuple[End, ...] = ()
    #: max(0, replicas - placements that are not leaving).
    unplaced: int = 0
    #: Why each candidate cannot take another replica, with a ClusterModel those of the best profile; empty when nothing
    #: is unplaced.
    refusals: Mapping[str, Refusal] = field(default_factory=dict)
    #: The candidates that could not be asked, each with why, where evicted replicas stay until they are.
    awaited: Mapping[str, Refusal] = field(default_factory=dict)
    #: With a ClusterModel, the refusals of each profile.
    profile_refusals: Mapping[str, Mapping[str, Refusal]] = field(default_factory=dict)
    #: The same as text, for profiles that were checked with more candidates in view.
    why: Mapping[str, str] = field(default_factory=dict)
    #: How many replicas could run on each profile that is better than theirs, beside the present ones.
    improvable: Mapping[str, int] = field(default_factory=dict)
    #: Why nothing of the ClusterModel can be placed, "" where it can.
    problem: str = ""
    #: The number of clusters considered, None when it is not known.
    candidates: int | None = None
    #: The replicas that are held because an edit does not fit.
    held_edits: tuple[HeldEdit, ...] = ()
    #: The replicas that run on a pool that has become too small.
    too_small: tuple[TooSmall, ...] = ()
    #: The progress of the rollout, None when none is under way.
    rolling: Rolling | None = None
    #: The replicas on clusters that the deployment no longer allows.
    drifted: tuple[Drift, ...] = ()
    #: What holds the pools (cluster, pool) that refusals name as lacking room.
    holders: Mapping[tuple[str, str], Holders] = field(default_factory=dict)
    #: The selectors that do not compile.
    bad_selectors: tuple[BadSelector, ...] = ()
    #: The field of the spec that is larger than the API admits, None where none is.
    over_bound: Malformed | None = None
    #: Whether not everything is decided yet, and the next pass continues.
    postponed: bool = False
    #: The footprint of the ModelCache, or why there is none.
    cache: Footprint | CacheState | Gap | Malformed = CacheState.NOT_REQUIRED

    @property
    def settled(self) -> bool:
        """Tell whether every replica is placed and serves, and none is leaving."""
        rolls = self.rolling is not None and not self.rolling.paused
        return (
            self.unplaced == 0
            and not rolls
            and not self.postponed
            and not any(p.leaving or p.replica is None or not p.replica.has_served for p in self.placements)
        )
