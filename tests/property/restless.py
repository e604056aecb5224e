"""A restless world: clusters blink, pods crash, taints come and go, whatever the deployment is about to do."""

from collections.abc import Callable
from dataclasses import replace

from hypothesis import strategies as st

from modelplane.model.fleet import Cluster, Effect, Taint
from property.rollouts import RolloutHistory
from property.strategies import Draw

_ADDRESS = "192.0.2.1"


class RestlessWorld(RolloutHistory):
    """A deployment with a rival on clusters to which everything happens that may happen, in any order."""

    def __init__(self, draw: Draw) -> None:
        super().__init__(draw)
        self._pools = {name: cluster.pools for name, cluster in self.fleet.clusters.items()}

    def _turn(self, change: Callable[[Cluster], Cluster]) -> None:
        name = self._draw(st.sampled_from(sorted(self.fleet.clusters)))
        self.fleet.clusters[name] = change(self.fleet.clusters[name])

    def blink(self) -> None:
        """Let a cluster be not Ready though it answers, or Ready again."""
        self._turn(lambda cluster: replace(cluster, ready=not cluster.ready))

    def lose_address(self) -> None:
        """Let a cluster's gateway lose its address, or get it back."""
        self._turn(lambda cluster: replace(cluster, address=None if cluster.address else _ADDRESS))

    def unpublish(self) -> None:
        """Let a cluster publish no readable pools, or publish them again."""
        self._turn(lambda cluster: replace(cluster, pools=None if cluster.pools else self._pools[cluster.name]))

    def repel(self) -> None:
        """Taint a cluster NoSchedule, or take its taints away."""
        self._turn(lambda one: replace(one, taints=() if one.taints else (Taint("away", Effect.NO_SCHEDULE),)))

    def delete_cluster(self) -> None:
        """Begin to delete a cluster."""
        self._turn(lambda cluster: replace(cluster, deleting=True))

    def recover(self) -> None:
        """Let every cluster be well, without taints, and every pod come up and be seen."""
        for name, cluster in self.fleet.clusters.items():
            well = replace(cluster, answers=True, ready=True, address=_ADDRESS, taints=(), pools=self._pools[name])
            self.fleet.clusters[name] = replace(well, deleting=False)
        self.pass_all()
        self.come_up()

    def crash(self) -> None:
        """Let the pods of some replica crash, and let all replicas say what is so."""
        self.flap()
        self.observe_all()

    def rest(self) -> None:
        """Let nothing happen."""

    def live(self) -> str:
        """Let something happen to a cluster, to pods, and to what is asked for; return what."""
        of_clusters = (
            self.rest, self.rest, self.blink, self.lose_address, self.unpublish, self.lose_cluster, self.evict,
            self.evict, self.repel, self.delete_cluster, self.recover, self.recover,
        )  # fmt: skip
        of_pods = (
            self.crash, self.crash, self.rest, self.come_up, self.come_up, self.load_some, self.pass_some,
            self.observe_all, self.finish,
        )  # fmt: skip
        of_owners = (
            self.rescale, self.rescale, self.rescale, self.rest, self.rest, self.edit, self.recopy, self.reselect,
            self.restage, self.upgrade, self.pause, self.edit_rival, self.write_by_hand,
        )  # fmt: skip
        happened = [self._draw(st.sampled_from(some)) for some in (of_clusters, of_pods, of_owners)]
        for happening in happened:
            happening()
        return ", ".join(happening.__name__ for happening in happened)
