"""Rollouts that are history: what pods really run and whether they serve, beside what is observed of them."""

from collections.abc import Callable, Iterable
from dataclasses import replace

from hypothesis import strategies as st

from modelplane.model.deployment import Deployment, DeviceRequest, Engine, Member, Profile, Role
from modelplane.model.fleet import Cluster, Device, Effect, Pool, Taint
from modelplane.model.placement import EndCause, Footprint, Schedule
from modelplane.model.replica import Replica
from modelplane.model.rollout import Amount, Budget, Rollout
from profiles import with_content
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
    return Rollout() if draw(st.booleans()) else Rollout(draw(amounts()), draw(amounts()))


def _cluster(name: str, nodes: int) -> Cluster:
    device = Device("gpu", GPU, GPU, 1)
    return Cluster(name, {"region": "eu"}, ready=True, address="192.0.2.1", pools=(Pool("x", nodes, (device,)),))


def _deployment(name: str, replicas: int, rollout: Rollout) -> Deployment:
    engine = Engine("main", (Member(Role.STANDALONE, 1, (DeviceRequest("gpu", 1, (ANY_GPU,)),)),))
    uid = f"uid-{name}"
    return Deployment("team", name, uid, (Profile((engine,), GOOD[0]),), "2024-01-01", replicas, rollout=rollout)


def _pods(replica: Replica) -> tuple[object, ...]:
    """Return what the pods of a replica are made of."""
    return replica.engines, replica.content, replica.volume


class RolloutHistory:
    """A deployment and a rival on clusters of one-GPU nodes, and the pods of their replicas."""

    def __init__(self, draw: Draw) -> None:
        self._draw = draw
        sizes = {name: draw(st.integers(1, 4)) for name in ("a", "b", "c")}
        self.fleet = Fleet({name: _cluster(name, nodes) for name, nodes in sizes.items()})
        self.deployment = _deployment("ours", draw(st.integers(1, 6)), draw(rollouts()))
        if draw(st.booleans()):
            self.deployment = replace(self.deployment, cache="weights")
        self.stage(VOLUMES[0])
        self.rival = _deployment("rival", draw(st.integers(0, 2)), Rollout())
        #: What each replica's pods run and serve with, by uid; none: they do not serve.
        self.serving: dict[str, str] = {}
        self.rounds(4)

    def stage(self, volume: str, clusters: Iterable[str] = ("a", "b", "c")) -> None:
        """Let a volume of the cache be staged on clusters, "" for none, and stay on the others as it is."""
        before = self.fleet.cache.volumes if isinstance(self.fleet.cache, Footprint) else {}
        volumes = {**before, **dict.fromkeys(clusters, volume)}
        self.fleet.cache = Footprint("weights", {}, {name: found for name, found in volumes.items() if found})

    def restage(self) -> None:
        """Let another volume be staged on a cluster, or none be Ready there for a while."""
        self.stage(self._draw(st.sampled_from((*VOLUMES, ""))), [self._draw(st.sampled_from(("a", "b", "c")))])

    @property
    def budget(self) -> Budget:
        """Return the rollout's budget."""
        return self.deployment.rollout.budget(self.deployment.replicas)

    def own(self) -> tuple[Replica, ...]:
        """Return the deployment's replicas."""
        return tuple(replica for replica in self.fleet.own(self.deployment) if not replica.ending)

    def count(self) -> int:
        """Return how many of the deployment's replicas really serve, on clusters that answer."""
        return sum(r.uid in self.serving and self.fleet.clusters[r.cluster].answers for r in self.own())

    def reconcile(self, deployment: Deployment | None = None) -> Schedule:
        """Run a pass and carry it out: pods of what ended or changed no longer serve."""
        of = deployment or self.deployment
        before = {replica.uid: replica for replica in self.fleet.own(of)}
        decided = decide(of, self.fleet.snapshot()).schedule
        self.fleet.carry_out(of, decided, drain=True)
        self.fleet.tick()
        after = {replica.uid: replica for replica in self.fleet.own(of)}
        for uid, replica in before.items():
            now = after.get(uid)
            if now is None or now.ending or _pods(now) != _pods(replica):
                self.serving.pop(uid, None)
        return decided

    def load(self, uid: str) -> None:
        """Let the pods of a replica come up, if its image can."""
        replica = self.fleet.replicas.get(uid)
        waits = replica and replica.cache and not replica.volume
        if replica and replica.content != BAD and not (waits or replica.ending):
            self.serving[uid] = replica.content

    def observe(self, uid: str) -> None:
        """Let a replica say what is so of its pods, unless its cluster does not answer."""
        replica = self.fleet.replicas.get(uid)
        if replica is None or not self.fleet.clusters[replica.cluster].answers:
            return
        if uid in self.serving:
            self.fleet.serve([uid])
        else:
            self.fleet.replicas[uid] = replace(replica, ready=False)

    def rounds(self, number: int) -> None:
        """Let everything come up and be seen, and every deployment be reconciled, some times over."""
        for _ in range(number):
            self.reconcile()
            self.reconcile(self.rival)
            self.fleet.finish()
            for uid in list(self.fleet.replicas):
                self.load(uid)
                self.observe(uid)

    def edit(self) -> None:
        """Ask for another image, a bad one at times; or for an older one again."""
        self.deployment = with_content(self.deployment, self._draw(st.sampled_from((*GOOD, BAD))))

    def load_some(self) -> None:
        """Let the pods of some replica come up."""
        if uids := sorted(self.fleet.replicas):
            self.load(self._draw(st.sampled_from(uids)))

    def observe_all(self) -> None:
        """Let all replicas say what is so."""
        for uid in list(self.fleet.replicas):
            self.observe(uid)

    def flap(self) -> None:
        """Let the pods of some replica stop serving."""
        if uids := sorted(self.serving):
            del self.serving[self._draw(st.sampled_from(uids))]

    def rescale(self) -> None:
        """Ask for another number of replicas."""
        self.deployment = replace(self.deployment, replicas=self._draw(st.integers(1, 6)))

    def lose_cluster(self) -> None:
        """Let a cluster stop answering, or answer again."""
        name = self._draw(st.sampled_from(sorted(self.fleet.clusters)))
        cluster = self.fleet.clusters[name]
        self.fleet.clusters[name] = replace(cluster, answers=not cluster.answers, ready=not cluster.answers)

    def evict(self) -> None:
        """Taint a cluster, or take its taint away."""
        name = self._draw(st.sampled_from(sorted(self.fleet.clusters)))
        cluster = self.fleet.clusters[name]
        taints = () if cluster.taints else (Taint("out", Effect.NO_EXECUTE),)
        self.fleet.clusters[name] = replace(cluster, taints=taints)

    def pause(self) -> None:
        """Pause the rollout, or let it go on."""
        rollout = self.deployment.rollout
        self.deployment = replace(self.deployment, rollout=replace(rollout, paused=not rollout.paused))

    def edit_rival(self) -> None:
        """Let the rival be edited and reconciled."""
        self.rival = with_content(self.rival, self._draw(st.sampled_from(GOOD)))
        self.reconcile(self.rival)

    def happen(self, *happenings: Callable[[], object]) -> None:
        """Let one of these things happen."""
        self._draw(st.sampled_from(happenings))()

    def finish(self) -> None:
        """Let the last pods of what ends be gone."""
        self.fleet.finish()

    def mend(self) -> None:
        """Let every cluster answer and take replicas, an image that works be asked for, and the rollout go on."""
        for name, cluster in self.fleet.clusters.items():
            self.fleet.clusters[name] = replace(cluster, answers=True, ready=True, taints=())
        if self.deployment.profiles[0].content == BAD:
            self.deployment = with_content(self.deployment, GOOD[0])
        self.stage(VOLUMES[0])
        self.deployment = replace(self.deployment, rollout=replace(self.deployment.rollout, paused=False))


def taken(before: dict[str, Replica], history: RolloutHistory, decided: Schedule, served: frozenset[str]) -> list[str]:
    """Return the replicas that served and that the rollout took down in a pass: ended for a new one, or changed."""
    ended = {end.replica.uid for end in decided.ending if end.cause is EndCause.ROLLED_OUT}
    changed = {
        uid
        for uid, replica in before.items()
        if (now := history.fleet.replicas.get(uid)) and _pods(now) != _pods(replica)
    }
    return sorted((ended | changed) & served)
