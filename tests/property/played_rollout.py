"""A rollout that is played: what pods really run and whether they serve, beside what is observed of them."""

from collections.abc import Iterable
from dataclasses import replace

from hypothesis import strategies as st

from modelplane.model.deployment import Deployment, DeviceRequest, Engine, Member, Profile, Role
from modelplane.model.fleet import Cluster, Device, Pool
from modelplane.model.placement import EndCause, Footprint, Schedule
from modelplane.model.replica import Replica
from modelplane.model.rollout import Amount, Rollout, RolloutBudget
from profiles import interface_of, port_of
from property.fleet import Fleet, decide
from property.oracles.selectors import ANY_GPU
from property.strategies import Draw

GPU = "gpu.nvidia.com"
#: Volumes of a cache.
VOLUMES = ("volume-1", "volume-2")
#: Images: those that come to serve, and one that never does.
GOOD, BAD = ("v1", "v2", "v3"), "bad"


@st.composite
def amounts(draw: st.DrawFn) -> Amount:
    """Return a budget: a number, or a percentage."""
    percent = draw(st.booleans())
    return Amount(draw(st.sampled_from((0, 25, 34, 100)) if percent else st.integers(0, 3)), percent=percent)


@st.composite
def rollouts(draw: st.DrawFn) -> Rollout:
    """Return the fields of spec.rollout; the default often."""
    given = Rollout() if draw(st.booleans()) else Rollout(draw(amounts()), draw(amounts()))
    return replace(given, follow_selectors=draw(st.booleans()), follow_upgrades=draw(st.booleans()))


def _cluster(name: str, nodes: int) -> Cluster:
    device = Device("gpu", GPU, GPU, 1)
    return Cluster(name, {"name": name}, ready=True, address="192.0.2.1", pools=(Pool("x", nodes, (device,)),))


def _deployment(name: str, replicas: int, rollout: Rollout, copies: int = 1) -> Deployment:
    engine = Engine("main", (Member(Role.STANDALONE, 1, (DeviceRequest("gpu", 1, (ANY_GPU,)),)),), copies)
    uid, seen = f"uid-{name}", interface_of((engine,), GOOD[0])
    profile = Profile((engine,), GOOD[0], interface=seen)
    return Deployment("team", name, uid, (profile,), "2024-01-01", replicas, rollout=rollout)


def pods_of(replica: Replica) -> tuple[object, ...]:
    """Return what the pods of a replica are made of by its spec: the number of copies is not of it."""
    engines = tuple(replace(engine, copies=1) for engine in replica.engines)
    return engines, replica.content, replica.volume, replica.outdated_builder


def copies_of(replica: Replica) -> int:
    """Return how many copies of all engines a replica asks for."""
    return sum(engine.copies for engine in replica.engines)


class PlayedRollout:
    """A deployment and a rival on clusters of one-GPU nodes, and the pods of their replicas.

    A pass of a deployment only writes the spec of its replicas. A pass of the replica then changes its pods, one copy
    after the other: the others serve with the earlier pods, if these are reached alike, until the new ones come up.
    What was said before is stale. Pods come up in their own time, and are then observed.
    """

    def __init__(self, draw: Draw) -> None:
        self._draw = draw
        sizes = {name: draw(st.integers(1, 4)) for name in ("a", "b", "c")}
        self.fleet = Fleet({name: _cluster(name, nodes) for name, nodes in sizes.items()})
        self.deployment = _deployment("ours", draw(st.integers(1, 6)), draw(rollouts()), draw(st.integers(1, 2)))
        if draw(st.booleans()):
            self.deployment = replace(self.deployment, cache="weights")
        self.stage(VOLUMES[0])
        self.rival = _deployment("rival", draw(st.integers(0, 2)), Rollout())
        #: What the pods of each replica are to be made of, by uid, and how many of its copies serve; none: not one.
        self.pods: dict[str, tuple[object, ...]] = {}
        self.serving: dict[str, int] = {}
        #: The replicas whose copies that serve are of earlier pods.
        self.earlier: set[str] = set()
        self.rounds(4)

    def stage(self, volume: str, clusters: Iterable[str] = ("a", "b", "c")) -> None:
        """Let a volume of the cache be staged on clusters, "" for none, and stay on the others as it is."""
        before = self.fleet.cache.volumes if isinstance(self.fleet.cache, Footprint) else {}
        volumes = {**before, **dict.fromkeys(clusters, volume)}
        self.fleet.cache = Footprint("weights", {}, {name: found for name, found in volumes.items() if found})

    @property
    def budget(self) -> RolloutBudget:
        """Return the rollout's budget."""
        return self.deployment.rollout.budget(self.deployment.replicas)

    def own(self) -> tuple[Replica, ...]:
        """Return the deployment's replicas."""
        return tuple(replica for replica in self.fleet.own(self.deployment) if not replica.ending)

    def count(self) -> int:
        """Return how many of the deployment's replicas really serve, on clusters that answer."""
        return sum(r.uid in self.serving and self.fleet.clusters[r.cluster].answers for r in self.own())

    def seen_to_serve(self) -> frozenset[str]:
        """Return the uids of those that say of what they carry now that they serve, on clusters that answer."""
        return frozenset(
            r.uid for r in self.own() if r.ready and r.proven and not r.stale and self.fleet.clusters[r.cluster].answers
        )

    def reconcile(self, deployment: Deployment | None = None) -> Schedule:
        """Run a pass and carry it out: the pods of what ended no longer serve, what a changed one says is stale."""
        of = deployment or self.deployment
        before = {replica.uid: replica for replica in self.fleet.own(of)}
        decided = decide(of, self.fleet.snapshot()).schedule
        self.fleet.carry_out(of, decided, drain=True)
        self.fleet.tick()
        after = {replica.uid: replica for replica in self.fleet.own(of)}
        for uid, replica in before.items():
            now = after.get(uid)
            if now is None or now.ending:
                self.serving.pop(uid, None)
            elif pods_of(now) != pods_of(replica) or now.engines != replica.engines:
                self.fleet.replicas[uid] = replace(now, stale=True)
        return decided

    def remaining(self, uid: str) -> int:
        """Return how many copies of a replica go on to serve while its pods are changed to those of its spec.

        A Deployment and a LeaderWorkerSet take one at a time, and one that does not serve first. None is reached whose
        port is not that of the spec.
        """
        replica, before = self.fleet.replicas[uid], self.pods.get(uid)
        if before is None or port_of(str(before[1])) != port_of(replica.content):
            return 0
        return min(self.serving.get(uid, 0), copies_of(replica) - 1)

    def own_pass(self, uid: str) -> None:
        """Let a replica that a cluster that answers runs change its pods to those of its spec, if they differ."""
        replica = self.fleet.replicas.get(uid)
        if replica is None or replica.ending or not self.fleet.clusters[replica.cluster].answers:
            return
        restarts = self.pods.get(uid) != pods_of(replica)
        left = self.remaining(uid) if restarts else min(self.serving.get(uid, 0), copies_of(replica))
        if restarts:
            replica = replace(replica, outdated_builder=False, complete=False, copies=left)
            replica = replace(replica, ready=replica.ready and left > 0)
            self.pods[uid] = pods_of(replica)
            self.earlier.add(uid)
        self.serving[uid] = left
        if not left:
            del self.serving[uid]
        self.fleet.replicas[uid] = replace(replica, stale=False)

    def load(self, uid: str) -> None:
        """Let the pods that a replica has come up, if their image can."""
        replica = self.fleet.replicas.get(uid)
        if replica is None or replica.ending or uid not in self.pods:
            return
        _, content, volume, _ = self.pods[uid]
        if not str(content).endswith(BAD) and (volume or not replica.cache):
            self.serving[uid] = copies_of(replica)
            self.earlier.discard(uid)

    def observe(self, uid: str) -> None:
        """Let a replica say how many of its copies serve, unless its cluster does not answer."""
        self.own_pass(uid)
        replica = self.fleet.replicas.get(uid)
        if replica is None or not self.fleet.clusters[replica.cluster].answers:
            return
        copies = self.serving.get(uid, 0)
        complete = copies == copies_of(replica) and uid not in self.earlier
        if complete:
            self.fleet.serve([uid])
        ready = complete or (copies > 0 and replica.has_served)
        now = replace(self.fleet.replicas[uid], ready=ready, complete=complete, copies=copies)
        self.fleet.replicas[uid] = now

    def pass_all(self) -> None:
        """Let every replica have its own pass, of which its pods are yet to tell."""
        for uid in list(self.fleet.replicas):
            self.own_pass(uid)

    def come_up(self) -> None:
        """Let the pods of every replica come up and be seen."""
        for uid in list(self.fleet.replicas):
            self.load(uid)
            self.observe(uid)

    def rounds(self, number: int) -> None:
        """Let everything come up and be seen, and every deployment be reconciled, some times over."""
        for _ in range(number):
            self.reconcile()
            self.reconcile(self.rival)
            self.fleet.finish()
            self.pass_all()
            self.come_up()


def taken(before: dict[str, Replica], history: PlayedRollout, decided: Schedule, served: frozenset[str]) -> list[str]:
    """Return the replicas that served and that the rollout took down in a pass: ended for a new one, or changed.

    One that goes on to serve while its copies are changed one after the other is not taken down.
    """
    ended = {end.replica.uid for end in decided.ending if end.cause is EndCause.ROLLED_OUT}
    changed = {
        uid
        for uid, replica in before.items()
        if (now := history.fleet.replicas.get(uid)) and pods_of(now) != pods_of(replica)
        if not (replica.interface and replica.interface == now.interface)
    }
    return sorted((ended | changed) & served)
