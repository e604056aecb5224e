"""Rollouts that are history: the things that may happen to one, in any order."""

from collections.abc import Callable
from dataclasses import replace

from hypothesis import strategies as st

from modelplane.model.fleet import Effect, Taint
from modelplane.model.replica import Replica
from profiles import with_content, with_engines
from property.played_rollout import BAD, GOOD, VOLUMES, PlayedRollout, copies_of
from property.strategies import Draw


class RolloutHistory(PlayedRollout):
    """A rollout to which things happen."""

    def __init__(self, draw: Draw) -> None:
        super().__init__(draw)
        self._written = 0
        if draw(st.booleans()):
            self.fill()

    def fill(self) -> None:
        """Let every node of the fleet be taken, so that no other replica has room."""
        for name, cluster in self.fleet.clusters.items():
            held = sum(copies_of(each) for each in self.fleet.replicas.values() if each.cluster == name)
            pools = tuple(replace(pool, nodes=held) for pool in cluster.pools or ())
            self.fleet.clusters[name] = replace(cluster, pools=pools)

    def restage(self) -> None:
        """Let another volume be staged on a cluster, or none be Ready there for a while."""
        self.stage(self._draw(st.sampled_from((*VOLUMES, ""))), [self._draw(st.sampled_from(("a", "b", "c")))])

    def edit(self) -> None:
        """Ask for another image, a bad one at times; or for an older one again."""
        self.deployment = with_content(self.deployment, self._draw(st.sampled_from((*GOOD, BAD))))

    def toggle(self) -> None:
        """Ask for the other one of two images that work, and let a pass see it."""
        content = GOOD[1] if self.deployment.profiles[0].content == GOOD[0] else GOOD[0]
        self.deployment = with_content(self.deployment, content)
        self.reconcile()

    def recopy(self) -> None:
        """Ask for another number of copies."""
        engine, copies = self.deployment.profiles[0].engines[0], self._draw(st.integers(1, 2))
        self.deployment = with_engines(self.deployment, (replace(engine, copies=copies),))

    def reselect(self) -> None:
        """Select other clusters, or all of them."""
        selected: tuple[dict[str, str], ...] = ({}, {"name": "a"}, {"name": "b"})
        self.deployment = replace(self.deployment, cluster_selector=self._draw(st.sampled_from(selected)))

    def upgrade(self) -> None:
        """Let a later version of Modelplane build workloads otherwise: what runs is of an earlier builder."""
        for uid, replica in self.fleet.replicas.items():
            if not replica.ending and uid in self.pods:
                self.fleet.replicas[uid] = replace(replica, outdated_builder=True)
                self.pods[uid] = (*self.pods[uid][:-1], True)

    def write_by_hand(self) -> None:
        """Let somebody write a ModelReplica where a node is free; whether it comes to serve is another matter."""
        held = [r for r in self.fleet.replicas.values() if r.cluster == "a"]
        nodes = sum(pool.nodes for pool in self.fleet.clusters["a"].pools or ())
        if held and nodes > sum(map(copies_of, held)):
            self._written += 1
            name = f"by-hand-{self._written}"
            engines = tuple(replace(engine, copies=1) for engine in held[0].engines)
            created = f"2024-07-01T00:00:{self._written:02}Z"
            self.fleet.replicas[name] = Replica("team", name, name, "a", engines, created=created)

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

    def pass_some(self) -> None:
        """Let some replica have its own pass, of which its pods are yet to tell."""
        if uids := sorted(self.fleet.replicas):
            self.own_pass(self._draw(st.sampled_from(uids)))

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
        rollout = replace(self.deployment.rollout, paused=False)
        self.deployment = replace(self.deployment, cluster_selector={}, rollout=rollout)
