"""What the scheduler decided: one `Schedule`, made of placements and refusals."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from modelplane.model.fleet import Cluster
from modelplane.model.observation import Gap, Malformed
from modelplane.model.refusal import Refusal
from modelplane.model.replica import Replica, StampedEngine


class Stamp(StrEnum):
    """Which engines a replica is composed with.

    `APPLY`: the deployment's, on `Placement.engines`. `HOLD`: its spec as observed, unchanged (an edit that does not
    fit, a leaving replica, an input that cannot be read). `REVERT`: `status.servedEngines`, after a growth that raced.
    """

    APPLY = "Apply"
    HOLD = "Hold"
    REVERT = "Revert"


class EndCause(StrEnum):
    """Why an observed replica is no longer composed. Nothing else may end one."""

    SCALE_DOWN = "ScaleDown"
    EVICTED = "Evicted"
    REPLACED = "Replaced"
    YIELDED = "Yielded"
    DUPLICATE = "Duplicate"
    ROLLED_OUT = "RolledOut"


@dataclass(frozen=True, slots=True)
class Placement:
    """One replica to compose on (cluster, index).

    `engines` are the deployment's engines resolved on the chosen pools (with APPLY), else what is stamped. `replica`
    is the observed one, None for a new one. `leaving`: it ends once others serve. `why` says in one
    sentence why it is leaving, held or reverted; "" otherwise. `updated`: it carries what the deployment asks for.
    `serving`: it serves now with what it carries, and its cluster answers. `profile` is the deployment's profile whose
    engines these are. `volume` is the claim of the cache to mount (with APPLY), "" while none is staged there.
    `ending`: only its pods are still there, which finish what they have taken. `carries`: the replica has all that is
    asked for in its spec already. `changes`: this pass changes its engines, so that what it says of them is past.
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


@dataclass(frozen=True, slots=True)
class End:
    """An observed replica that is no longer composed, and the cause."""

    replica: Replica
    cause: EndCause


@dataclass(frozen=True, slots=True)
class Footprint:
    """The clusters a ModelCache selects: labels a cluster must carry; empty selects all.

    `volumes` are the claims on which it is staged, by cluster; a cluster where it is not Ready is missing.
    """

    cache: str
    selector: Mapping[str, str] = field(default_factory=dict)
    volumes: Mapping[str, str] = field(default_factory=dict)


class CacheState(StrEnum):
    """States of a deployment's cache that give no footprint. NOT_REQUIRED: the deployment names no cache."""

    NOT_REQUIRED = "NotRequired"
    UNRESOLVED = "Unresolved"


@dataclass(frozen=True, slots=True)
class FleetView:
    """All that one scheduling pass may look at, each part possibly not fetched yet.

    `own`: the deployment's observed ModelReplicas. `clusters`: clusters by name (those of `own`); a name that is not
    a key was not fetched, `Gap.ABSENT` was looked for and does not exist. `candidates`: the clusters that carry the
    labels of `candidate_labels`. `residents`: every ModelReplica of one cluster, by cluster name; no key: not
    fetched. `siblings`: every ModelReplica that carries the deployment's label, own and deleting ones included.
    `cache`: the footprint, or why there is none. `listed`: the names that the deployment's own status lists as its
    replicas, None before it lists any; it is never older than a fetched list. `shortlisted`: `candidates` are only
    those that an earlier call of the pass chose among all, and this is what it guessed; None: all. `final`: nothing
    more can be fetched in this pass. `namespace`: the labels of the deployment's namespace. `found_full`: the clusters
    that earlier passes read and found full, by a number from 1 on, the longest ago first; only the order in which those
    are read that publish nothing follows from it.
    """

    own: tuple[Replica, ...] = ()
    clusters: Mapping[str, Cluster | Gap | Malformed] = field(default_factory=dict)
    candidates: tuple[Cluster, ...] | Gap = Gap.NOT_FETCHED
    residents: Mapping[str, tuple[Replica, ...]] = field(default_factory=dict)
    siblings: tuple[Replica, ...] | Gap = Gap.NOT_FETCHED
    cache: Footprint | CacheState | Gap | Malformed = CacheState.NOT_REQUIRED
    listed: frozenset[str] | None = None
    namespace: Mapping[str, str] | Gap = Gap.NOT_FETCHED
    shortlisted: "Guess | None" = None
    final: bool = False
    found_full: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Guess:
    """What was decided on all candidates by what they publish, before the replicas of those that were chosen are read.

    `why`: each profile's name, and why no candidate takes another replica on it. `choice`: a digest of what the
    decision comes to on the chosen ones, "" where nothing has to be confirmed.
    """

    why: tuple[tuple[str, str], ...] = ()
    choice: str = ""


@dataclass(frozen=True, slots=True)
class Needs:
    """What must be fetched before the pass can be decided; asked for all at once, only what the decision turns on.

    `candidates`: all of them, also where the view has a shortlist. `shortlist`: the residents are those of clusters
    that were chosen among all candidates, so that the others need not be fetched again, and this was guessed of all.
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
        """Return all that either asks for; a shortlist is of one alone."""
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
    """A selector of the deployment that does not compile: why, and where.

    That is the profile, the engine, the request, the selector itself, and the 1-based position in it.
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
    """A replica that is held because the edit does not fit, and why it does not."""

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
    """How far a rollout is.

    `waiting_for` is the replica that has to serve before it goes on. `no_room`: the next one found no place beside
    the others, `too_large`: because a response cannot carry it. `surge_only`: none that waits can be changed where it
    stands. `paused` as in spec.rollout.
    """

    waiting_for: Placement | None = None
    no_room: bool = False
    paused: bool = False
    too_large: bool = False
    surge_only: bool = False


@dataclass(frozen=True, slots=True)
class Drift:
    """A replica on a cluster that the deployment no longer allows, and in words why."""

    replica: Replica
    why: str


@dataclass(frozen=True, slots=True)
class Holders:
    """What holds a pool: the names of replicas of the deployment's own namespace, and how many of other namespaces."""

    own: tuple[str, ...] = ()
    others: int = 0


@dataclass(frozen=True, slots=True)
class Schedule:
    """The outcome of a pass.

    `placements`: every replica to compose, sorted by (cluster, index). `ending`: observed ones that go. `unplaced`:
    max(0, replicas - placements that are not leaving). `refusals`: for every candidate why it cannot take another
    (empty when nothing is unplaced); with a ClusterModel those of the best profile, and `profile_refusals` those of
    each profile; `why` says so in words, of profiles of which it was said with more candidates in view. `improvable`:
    how many replicas could run on each profile that is better than theirs, beside what is there. `problem` is why
    nothing of the ClusterModel can be placed, "" where it can. `rolling`: None when no replica is on its way to what is
    asked. `candidates`: how many clusters were considered, None when they are not known.
    `holders`: what holds the pools (cluster, pool) that refusals name for a lack of room.
    """

    replicas: int
    placements: tuple[Placement, ...] = ()
    ending: tuple[End, ...] = ()
    unplaced: int = 0
    refusals: Mapping[str, Refusal] = field(default_factory=dict)
    profile_refusals: Mapping[str, Mapping[str, Refusal]] = field(default_factory=dict)
    why: Mapping[str, str] = field(default_factory=dict)
    improvable: Mapping[str, int] = field(default_factory=dict)
    problem: str = ""
    candidates: int | None = None
    held_edits: tuple[HeldEdit, ...] = ()
    too_small: tuple[TooSmall, ...] = ()
    rolling: Rolling | None = None
    drifted: tuple[Drift, ...] = ()
    holders: Mapping[tuple[str, str], Holders] = field(default_factory=dict)
    bad_selectors: tuple[BadSelector, ...] = ()
    over_bound: Malformed | None = None
    cache: Footprint | CacheState | Gap | Malformed = CacheState.NOT_REQUIRED

    @property
    def settled(self) -> bool:
        """Tell whether nothing is unplaced, leaving or not yet serving."""
        rolls = self.rolling is not None and not self.rolling.paused
        return (
            self.unplaced == 0
            and not rolls
            and not any(p.leaving or p.replica is None or not p.replica.serves for p in self.placements)
        )
