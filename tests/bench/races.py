"""Deployments that race for the last room of a fleet of ten thousand clusters, sampled: what collides, and what heals.

Every pass runs the scheduler as the function does. In each round all deployments decide from the fleet as it stood at
the round's start, and rank by what clusters published up to two rounds before. Nearly all clusters are full.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from random import Random

from bench.figures import Figure, at_most
from modelplane.model.deployment import Deployment
from modelplane.model.fleet import Cluster
from modelplane.model.names import replica_name, replica_resource
from modelplane.model.observation import Gap
from modelplane.model.placement import FleetView, Guess, Needs, Schedule
from modelplane.model.replica import Replica
from modelplane.schedule.rounds import CALLS, Rounds
from modelplane.scheduling import schedule
from modelplane.scheduling.pools.hardware import layout
from modelplane.scheduling.room.ledger import charge_of
from modelplane.scheduling.room.room import has_room
from publishing import published
from unit.scheduling.scene import cluster, deployment, pool, stamped

NODES, SPARE = 5, 12
RACERS, SAMPLES = 4, 3

_Residents = dict[str, tuple[Replica, ...]]


class _Full:
    """Clusters with whole-node replicas on every node, and what they have published: what all races begin with."""

    def __init__(self, clusters: int) -> None:
        names = [f"c{number:05}" for number in range(clusters)]
        self.bare = {name: cluster(name, pool(NODES)) for name in names}
        self.residents: _Residents = {name: tuple(self._other(name, index) for index in range(NODES)) for name in names}
        self.told = {name: published(each, self.residents[name]) for name, each in self.bare.items()}

    @staticmethod
    def _other(name: str, index: int) -> Replica:
        uid = f"other-{name}-{index}"
        return Replica(
            "others", uid, uid, name, (stamped(),), owner="others", created="2024", ready=True, has_served=True
        )


class _Fleet:
    """A fleet that is full but for a node of each of a few clusters."""

    def __init__(self, random: Random, full: _Full) -> None:
        free = random.sample(list(full.bare), SPARE)
        #: The clusters on which something may have changed.
        self.touched = set(free)
        self.bare = full.bare
        self.residents = {**full.residents, **{name: full.residents[name][:-1] for name in free}}
        self.told = {**full.told, **{name: published(self.bare[name], self.residents[name]) for name in free}}
        self.read = self._clock = 0

    def decide(self, one: Deployment, start: _Residents, told: Mapping[str, Cluster]) -> Schedule:
        """Return what a pass decides that reads the fleet of `start` and ranks by what was `told`."""
        own = tuple(r for name in sorted(self.touched) for r in self.residents[name] if r.owner == one.uid)
        needs, shortlist, guess = Needs(), frozenset[str](), Guess()
        for rounds in map(Rounds, range(CALLS)):
            candidates = (told[name] for name in sorted(shortlist)) if shortlist else told.values()
            read = {
                name: (*(r for r in start[name] if r.owner != one.uid), *(r for r in own if r.cluster == name))
                for name in needs.residents
            }
            self.read = max(self.read, sum(map(len, read.values())))
            view = FleetView(
                own=own,
                clusters={name: self.bare[name] for name in needs.clusters},
                candidates=tuple(candidates) if needs.candidates else Gap.NOT_FETCHED,
                residents=read,
                siblings=own if needs.siblings else Gap.NOT_FETCHED,
                shortlisted=guess if shortlist else None,
                final=rounds.final,
            )
            found = schedule(one, view)
            if isinstance(found, Schedule):
                return found
            narrow = found.shortlist if rounds.may_narrow else None
            shortlist, guess = (frozenset(), guess) if narrow is None else (needs.residents | found.residents, narrow)
            needs = Needs(
                needs.clusters | found.clusters, needs.residents | found.residents, candidates=True, siblings=True
            )
        raise AssertionError("no decision within the calls of a pass")

    def carry_out(self, one: Deployment, decided: Schedule) -> None:
        """Compose what was decided."""
        self._clock += 1
        for end in decided.ending:
            on = end.replica.cluster
            self.residents[on] = tuple(r for r in self.residents[on] if r.uid != end.replica.uid)
        for each in decided.placements:
            if each.replica is None:
                name = replica_name(one.namespace, one.name, each.cluster, each.index)
                born = Replica(one.namespace, name, f"{name}-{self._clock}", each.cluster, each.engines, one.uid)
                place = replica_resource(each.cluster, each.index)
                self.touched.add(each.cluster)
                born = replace(born, resource=place, index=each.index, created=f"2025-{self._clock:06}")
                self.residents[each.cluster] = (*self.residents[each.cluster], born)

    def overcommitted(self) -> int:
        """Return how many pools have no room for what is on them."""
        found = 0
        for name in self.touched:
            where = layout(self.bare[name])
            charge = charge_of((each.engines for each in self.residents[name]), where)
            found += not all(has_room(p.nodes, p.hardware.counts, s) for p, s in zip(where.pools, charge, strict=True))
        return found


def _race(random: Random, full: _Full) -> tuple[int, int, int, int]:
    """Return of one race: pools that collided, the rounds until none does, replicas read at most, and unplaced."""
    fleet = _Fleet(random, full)
    racers = [replace(deployment(replicas=SPARE // RACERS, name=f"racer-{number}")) for number in range(RACERS)]
    tellings, collided, healed, unplaced = [dict(fleet.told)] * 3, 0, 0, 0
    for number in range(1, RACERS + 3):
        start, unplaced = dict(fleet.residents), 0
        for one in random.sample(racers, len(racers)):
            decided = fleet.decide(one, start, random.choice(tellings))
            unplaced += decided.unplaced
            fleet.carry_out(one, decided)
        now = {name: published(fleet.bare[name], fleet.residents[name]) for name in fleet.touched}
        tellings = [*tellings[1:], {**tellings[-1], **now}]
        found = fleet.overcommitted()
        collided, healed = max(collided, found), number if found else healed
    return collided, healed + 1, fleet.read, unplaced


def races(clusters: int = 10_000) -> Iterator[Figure]:
    """Yield how many rounds collisions take to heal, of sampled races; 10,000 clusters hold 50,000 replicas."""
    full = _Full(clusters)
    found = [_race(Random(seed), full) for seed in range(SAMPLES)]  # noqa: S311 - samples, no secret
    name = f"{SAMPLES} races of {RACERS} deployments for the last {SPARE} nodes of {clusters:,} clusters"
    yield Figure(f"{name}: pools that collided at most", max(each[0] for each in found), "pools")
    yield at_most("... rounds until none does", max(each[1] for each in found), RACERS + 1, "rounds")
    yield at_most("... replicas that one pass reads at most", max(each[2] for each in found), 3_000, "replicas")
    yield at_most("... not placed at the end", max(each[3] for each in found), 0, "replicas")
