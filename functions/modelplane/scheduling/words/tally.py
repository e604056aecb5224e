"""Counts the clusters that are refused alike, and says why once for all of them."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from modelplane.model.deployment import Deployment
from modelplane.model.placement import Holders, Schedule
from modelplane.model.refusal import NoRoom, Refusal
from modelplane.scheduling.words.wording import count, find_remedy, of_pools, word, word_holders

#: Most reasons of a cluster's other pools that are told beside that of the nearest one.
MOST_OTHERS = 4


@dataclass(frozen=True, slots=True)
class Counted:
    """A refusal's name, the clusters it holds for, and its words.

    `profile` is "" where it holds for all. `of_pools`: the words begin with pools. `remedy` is what to do, "" where the
    words say it.
    """

    reason: str
    count: int
    message: str
    profile: str = ""
    of_pools: bool = field(default=False, compare=False)
    remedy: str = field(default="", compare=False)


@dataclass(slots=True)
class _Alike:
    """Clusters that are refused for the same reason: how many, in which pools, and how many nodes they have free.

    `others` are the refusals of their other pools, with the names of these.
    """

    count: int = 0
    pools: set[str] = field(default_factory=set)
    free: set[int] = field(default_factory=set)
    holding: str = ""
    others: dict[Refusal, set[str]] = field(default_factory=dict)

    def add(self, cluster: str, refusal: Refusal, holders: Holders | None) -> None:
        """Add a cluster. Of clusters that lack room for one need, only the nearest one's holders are known."""
        self.count += 1
        self.holding = (word_holders(cluster, refusal.pool, holders) if holders else "") or self.holding
        if refusal.pool:
            self.pools.add(refusal.pool)
        if isinstance(refusal, NoRoom):
            self.free.add(refusal.left)

    def add_others(self, refusal: Refusal) -> None:
        """Add the other pools of a refusal, which clusters that are alike share."""
        for other in refusal.others:
            self.others.setdefault(replace(other, pool=""), set()).add(other.pool)

    def describe(self, refusal: Refusal, deployment: Deployment) -> str:
        """Return the text of the reason, which is given without its pool and the nodes that are free."""
        if isinstance(refusal, NoRoom):
            refusal = refusal.with_left(max(self.free))
        several = any(len(profile.engines) > 1 for profile in deployment.profiles)
        at_most = len(self.free) > 1
        pools = self.pools | self.others.get(refusal, set())
        text = word(refusal, pools=pools, at_most=at_most, name_engine=several, holding=self.holding)
        others = sorted(word(each, pools=names) for each, names in self.others.items() if each != refusal)
        more = [count(len(others) - MOST_OTHERS, "more reason")] if len(others) > MOST_OTHERS else []
        return "; ".join((text, *others[:MOST_OTHERS], *more))


#: What holds the pools that lack room, by cluster and pool.
HoldersByPool = Mapping[tuple[str, str], Holders]


def tally(refusals: Mapping[str, Refusal], holders: HoldersByPool, deployment: Deployment) -> list[Counted]:
    """Return each distinct refusal with its clusters, the most frequent first, then by name and text.

    Pools that refuse alike are one entry whatever their names, and so are clusters that lack room for the same need.
    """
    alike: dict[Refusal, _Alike] = {}
    shared: dict[int, _Alike] = {}  # clusters that are alike share their refusal, which is compared once
    for name, refusal in refusals.items():
        found = shared.get(id(refusal))
        if found is None:
            reason = refusal.need if isinstance(refusal, NoRoom) else replace(refusal, pool="", others=())
            found = shared[id(refusal)] = alike.setdefault(reason, _Alike())
            found.add_others(refusal)
        found.add(name, refusal, holders.get((name, refusal.pool)) if holders else None)
    entries = [
        Counted(
            reason.reason,
            each.count,
            each.describe(reason, deployment),
            reason.profile,
            of_pools=bool(each.pools),
            remedy=find_remedy(reason),
        )
        for reason, each in alike.items()
    ]
    return sorted(entries, key=_frequency)


def _frequency(entry: Counted) -> tuple[int, str, str]:
    """Return the sort key of counted refusals, the most frequent first."""
    return -entry.count, entry.reason, entry.message


@dataclass(frozen=True, slots=True)
class Tallies:
    """The refusals of a schedule, counted once: those of clusters themselves, and by profile those of their pools."""

    clusters: list[Counted] = field(default_factory=list)
    pools: Mapping[str, list[Counted]] = field(default_factory=dict)

    def all(self) -> list[Counted]:
        """Return every refusal, by profile; one that all profiles share appears once."""
        by_profile = (sorted(self.clusters + of_pools, key=_frequency) for of_pools in self.pools.values())
        return list(dict.fromkeys(each for of_profile in by_profile for each in of_profile))


def tally_schedule(schedule: Schedule, deployment: Deployment) -> Tallies:
    """Return the counted refusals of a schedule."""
    of_clusters = {name: each for name, each in schedule.refusals.items() if not of_pools(each) and not each.profile}
    rest = {
        profile: {name: each for name, each in found.items() if name not in of_clusters}
        for profile, found in (schedule.profile_refusals or {"": schedule.refusals}).items()
    }
    return Tallies(
        tally(of_clusters, schedule.holders, deployment),
        {profile: tally(found, schedule.holders, deployment) for profile, found in rest.items()},
    )


def word_refusals(refusals: Mapping[str, Refusal], deployment: Deployment, holders: HoldersByPool | None = None) -> str:
    """Return why clusters take no other replica, each reason with its number of clusters; "" for none."""
    return "; ".join(f"{each.count} {each.message}" for each in tally(refusals, holders or {}, deployment))
