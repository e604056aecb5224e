"""A restless world: clusters blink, pods crash, taints come and go, whatever the deployment is about to do."""

from collections.abc import Callable
from dataclasses import replace

from hypothesis import strategies as st

from modelplane.model.fleet import Cluster, Effect, Taint
from modelplane.model.rollout import Amount
from property.played_rollout import copies_of
from property.rollouts import RolloutHistory
from property.strategies import Draw

_ADDRESS = "192.0.2.1"


class RestlessWorld(RolloutHistory):
    """A deployment with a rival on clusters to which everything happens that may happen, in any order.

    On a cluster that does not answer a pass of a replica changes nothing but what the pass has seen.
    """

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

    def own_pass(self, uid: str) -> None:
        """Let a replica have its own pass, which changes its pods, and sees how many copies of them serve."""
        replica = self.fleet.replicas.get(uid)
        if replica is None or replica.ending:
            return
        if not self.fleet.clusters[replica.cluster].answers:
            self.fleet.replicas[uid] = replace(replica, stale=False)
            return
        super().own_pass(uid)
        now, copies = self.fleet.replicas[uid], self.serving.get(uid, 0)
        now = replace(now, ready=copies > 0 and replica.ready)
        if uid in self.earlier or copies != copies_of(replica):
            now = replace(now, complete=False, copies=copies)
        self.fleet.replicas[uid] = now

    def lose_copy(self) -> None:
        """Let one copy of some replica that has several crash, and let all replicas say what is so."""
        if uids := sorted(uid for uid, copies in self.serving.items() if copies > 1):
            self.serving[self._draw(st.sampled_from(uids))] -= 1
        self.observe_all()

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
            self.crash, self.crash, self.lose_copy, self.rest, self.come_up, self.come_up, self.load_some,
            self.pass_some, self.observe_all, self.finish,
        )  # fmt: skip
        of_owners = (
            self.rescale, self.rescale, self.rescale, self.rest, self.rest, self.edit, self.recopy, self.reselect,
            self.restage, self.upgrade, self.pause, self.edit_rival, self.write_by_hand,
        )  # fmt: skip
        happened = [self._draw(st.sampled_from(some)) for some in (of_clusters, of_pods, of_owners)]
        for happening in happened:
            happening()
        return ", ".join(happening.__name__ for happening in happened)

    def scale_amid_an_edit(self) -> str:
        """Let an edit change replicas in place, each meet a fate of its own, and fewer be asked for; return what."""
        in_place = replace(self.deployment.rollout, max_surge=Amount(0), max_unavailable=Amount(1))
        self.deployment = replace(self.deployment, rollout=in_place, replicas=self._draw(st.integers(2, 3)))
        self.rounds(3)
        self.toggle()
        if edited := sorted({r.cluster for r in self.own() if r.stale}):
            name = self._draw(st.sampled_from(edited))
            answers = self._draw(st.booleans())
            self.fleet.clusters[name] = replace(self.fleet.clusters[name], answers=answers, ready=answers)
        fates = {r.uid: self._draw(st.sampled_from(("none", "crash", "crash", "pass"))) for r in self.own()}
        for uid, fate in fates.items():
            if fate == "crash" and self.fleet.clusters[self.fleet.replicas[uid].cluster].answers:
                self.serving.pop(uid, None)
                self.observe(uid)
            elif fate == "pass":
                self.own_pass(uid)
        if self._draw(st.booleans()):
            self.pause()
            self.edit()
        self.deployment = replace(self.deployment, replicas=self._draw(st.integers(1, 2)))
        return f"{fates}"
