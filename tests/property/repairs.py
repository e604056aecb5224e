"""Replicas whose pods crash, and go on to crash until what they are made of changes."""

from dataclasses import replace

from hypothesis import strategies as st

from profiles import with_content
from property.rollouts import RolloutHistory
from property.strategies import Draw


class RepairHistory(RolloutHistory):
    """A rollout in which what serves may crash."""

    def __init__(self, draw: Draw) -> None:
        #: The pods that crash: of which replica, and what they are made of.
        self.crashing: set[tuple[str, object]] = set()
        super().__init__(draw)

    def crash(self) -> None:
        """Let the pods of some replica that serves crash."""
        if uids := sorted(self.serving.keys() & self.pods.keys()):
            uid = self._draw(st.sampled_from(uids))
            self.crashing.add((uid, self.pods[uid]))
            del self.serving[uid]

    def load(self, uid: str) -> None:
        """Let the pods of a replica come up, unless they crash."""
        if (uid, self.pods.get(uid)) not in self.crashing:
            super().load(uid)

    def observe(self, uid: str) -> None:
        """Let a replica say what is so of its pods, and whether they crash."""
        super().observe(uid)
        replica = self.fleet.replicas.get(uid)
        if replica and self.fleet.clusters[replica.cluster].answers:
            crashed = (uid, self.pods.get(uid)) in self.crashing and uid not in self.serving
            self.fleet.replicas[uid] = replace(replica, crashed=crashed)

    def fix(self) -> None:
        """Ask for an image that does not crash."""
        self.deployment = with_content(self.deployment, "fixed")
