"""Random histories of a deployment on a fleet: edits, taints, flaps, lost and renamed pools, deletions, other teams."""

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from hypothesis import strategies as st

from modelplane.model.deployment import Deployment, DeviceRequest, Engine, Member, Role
from modelplane.model.fleet import Cluster, Effect, Pool, Taint
from profiles import with_engines
from property.fleet import Decided, Fleet, Snapshot, decide
from property.oracles.placing import admissible
from property.oracles.selectors import ANY_GPU
from property.strategies import Draw, clusters, deployments, engine_lists, residents, taints, tolerations

T = TypeVar("T")
ADDRESS = "192.0.2.1"
#: What most pools can host.
MODEST = Engine("e0", (Member(Role.STANDALONE, 1, (DeviceRequest("r0", 1, (ANY_GPU,)),)),))


class History:
    """A deployment, its rival and their fleet, to which things happen."""

    def __init__(self, draw: Draw) -> None:
        self._draw = draw
        fleet = {
            name: replace(draw(clusters(name, st.integers(1, 4))), ready=True, address=ADDRESS, labels={"region": "eu"})
            for name in ("a", "b", "c")
        }
        self.fleet = Fleet(fleet, draw(residents(fleet, most=2)))
        self.deployment: Deployment = draw(deployments(1))
        if not any(next(admissible(cluster, self.deployment, ()), None) for cluster in fleet.values()):
            self.deployment = with_engines(self.deployment, (MODEST,))
        self.rival: Deployment = draw(deployments(2, most=2))

    def reconcile(self) -> Decided:
        """Run a pass of the deployment and carry it out; often what it placed comes to serve."""
        decided = decide(self.deployment, self.fleet.snapshot())
        self.fleet.carry_out(self.deployment, decided.schedule, linger=self._draw(st.booleans()))
        self.fleet.tick()
        if self._draw(st.booleans()):
            self.fleet.serve()
        return decided

    def disturb(self) -> str:
        """Let one thing happen and return what."""
        happenings: tuple[Callable[[], None], ...] = (
            self.serve_some,
            self.serve_all,
            self.flap,
            self.bury,
            self.rescale,
            self.resize,
            self.edit_engines,
            self.tolerate,
            self.select_nowhere,
            self.taint,
            self.evict,
            self.lose_readiness,
            self.mend,
            self.delete_cluster,
            self.rename_pool,
            self.resize_pool,
            self.unpublish_pools,
            self.reconcile_rival,
            self.delete_by_hand,
        )
        happening = self._draw(st.sampled_from(happenings))
        happening()
        return happening.__name__

    def _pick(self, items: list[T]) -> T | None:
        return self._draw(st.sampled_from(items)) if items else None

    def _pick_cluster(self) -> str | None:
        used = {replica.cluster for replica in self.fleet.own(self.deployment)} & set(self.fleet.clusters)
        return self._pick(sorted(used) * 3 + sorted(self.fleet.clusters))

    def _change_cluster(self, change: Callable[[Cluster], Cluster]) -> None:
        name = self._pick_cluster()
        if name is not None:
            self.fleet.clusters[name] = change(self.fleet.clusters[name])

    def _change_pool(self, change: Callable[[Pool], Pool]) -> None:
        def one(cluster: Cluster) -> Cluster:
            if not cluster.pools:
                return cluster
            used = {e.pool for r in self.fleet.own(self.deployment) if r.cluster == cluster.name for e in r.engines}
            chosen = self._pick([pool for pool in cluster.pools if pool.name in used] or list(cluster.pools))
            return replace(cluster, pools=tuple(change(pool) if pool is chosen else pool for pool in cluster.pools))

        self._change_cluster(one)

    def serve_some(self) -> None:
        """Let some replica become Ready."""
        uid = self._pick(sorted(self.fleet.replicas))
        self.fleet.serve([uid] if uid else [])

    def serve_all(self) -> None:
        """Let every replica become Ready."""
        self.fleet.serve()

    def flap(self) -> None:
        """Let every replica lose its readiness; those that have served keep that."""
        self.fleet.replicas = {uid: replace(r, ready=False) for uid, r in self.fleet.replicas.items()}

    def bury(self) -> None:
        """Let what is being deleted be gone."""
        self.fleet.bury()

    def rescale(self) -> None:
        """Ask for another number of replicas."""
        self.deployment = replace(self.deployment, replicas=self._draw(st.integers(0, 4)))

    def resize(self) -> None:
        """Change the size of the first engine: its copies, or its workers."""
        first, *rest = self.deployment.profiles[0].engines
        members: tuple[Member, ...] = tuple(
            replace(m, pods=self._draw(st.integers(1, 2))) if m.role is Role.WORKER else m for m in first.members
        )
        first = replace(first, copies=self._draw(st.integers(1, 3)), members=members)
        self.deployment = with_engines(self.deployment, (first, *rest))

    def edit_engines(self) -> None:
        """Ask for other engines."""
        self.deployment = with_engines(self.deployment, self._draw(engine_lists()))

    def tolerate(self) -> None:
        """Tolerate other taints."""
        self.deployment = replace(self.deployment, tolerations=self._draw(tolerations()))

    def select_nowhere(self) -> None:
        """Select clusters that do not exist, or again those that do."""
        selector = self._draw(st.sampled_from(({}, {"region": "mars"}, {"region": "eu"})))
        self.deployment = replace(self.deployment, cluster_selector=selector)

    def taint(self) -> None:
        """Taint a cluster, or take its taints away."""
        self._change_cluster(lambda cluster: replace(cluster, taints=self._draw(taints())))

    def evict(self) -> None:
        """Drive replicas away from a cluster."""
        self._change_cluster(lambda cluster: replace(cluster, taints=(Taint("k", Effect.NO_EXECUTE),)))

    def lose_readiness(self) -> None:
        """Let a cluster be NotReady, or without address."""
        lost = self._draw(st.sampled_from(({"ready": False}, {"address": None})))
        self._change_cluster(lambda cluster: replace(cluster, **lost))  # type: ignore[arg-type]

    def mend(self) -> None:
        """Let all clusters be well."""
        for name, cluster in self.fleet.clusters.items():
            self.fleet.clusters[name] = replace(cluster, ready=True, address=ADDRESS, taints=())

    def delete_cluster(self) -> None:
        """Begin to delete a cluster, or let it be gone."""
        name = self._pick_cluster()
        if name is not None and self._draw(st.booleans()):
            self.fleet.clusters[name] = replace(self.fleet.clusters[name], deleting=True)
        elif name is not None:
            del self.fleet.clusters[name]

    def rename_pool(self) -> None:
        """Give a pool of a cluster another name."""
        self._change_pool(lambda pool: replace(pool, name=f"{pool.name}-new"[:10]))

    def resize_pool(self) -> None:
        """Give a pool of a cluster another number of nodes."""
        self._change_pool(lambda pool: replace(pool, nodes=self._draw(st.integers(0, 4))))

    def unpublish_pools(self) -> None:
        """Let a cluster publish no readable pools."""
        self._change_cluster(lambda cluster: replace(cluster, pools=None))

    def reconcile_rival(self) -> None:
        """Run a pass of the other deployment."""
        self.fleet.carry_out(self.rival, decide(self.rival, self.fleet.snapshot()).schedule)

    def delete_by_hand(self) -> None:
        """Delete a replica by hand."""
        uid = self._pick(sorted(self.fleet.replicas))
        if uid is not None:
            self.fleet.replicas[uid] = replace(self.fleet.replicas[uid], deleting=True)


@st.composite
def histories(draw: st.DrawFn, most: int = 5) -> tuple[Deployment, Snapshot]:
    """Draw a deployment in the middle of a history, right after something happened."""
    history = History(draw)
    for _ in range(draw(st.integers(0, most))):
        history.reconcile()
        history.disturb()
    return history.deployment, history.fleet.snapshot()
