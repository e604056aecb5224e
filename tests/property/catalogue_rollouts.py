"""Edits of a ClusterModel that are history: what may happen to its profiles while replicas run on them."""

from dataclasses import replace

from hypothesis import strategies as st

from modelplane.model.catalogue import Capabilities, Requires
from modelplane.model.deployment import DeviceRequest, Engine, Member, ModelRef, Profile, Resolution, Role
from property.played_rollout import BAD, GOOD
from property.rollouts import RolloutHistory
from property.strategies import Draw

_NAMES = ("p", "q", "r")
_PRECISIONS: tuple[tuple[str, ...], ...] = ((), ("fp8",))


class CatalogueHistory(RolloutHistory):
    """A rollout of a deployment that began with engines of its own and names a ClusterModel since.

    `order` are the profiles that the model has, `contents` and `requires` what each says, by name. Profile r spans two
    nodes. `skipped` contradict themselves. `choice` is what the deployment itself asks of pods. `mode`: whether the
    deployment names the model, which may be gone, or states engines.
    """

    def __init__(self, draw: Draw) -> None:
        super().__init__(draw)
        self._stated = self.deployment.profiles
        self.order = list(_NAMES[: draw(st.integers(1, 3))])
        self.contents = dict.fromkeys(_NAMES, GOOD[0])
        self.requires = {name: draw(st.sampled_from(_PRECISIONS)) for name in _NAMES}
        self.skipped: set[str] = set()
        self.pinned = False
        self.choice = ""
        self.mode = "catalogue"
        for name, cluster in self.fleet.clusters.items():
            declared = Capabilities(precisions=draw(st.sampled_from(_PRECISIONS)), multi_node=draw(st.booleans()))
            pools = tuple(replace(pool, capabilities=declared) for pool in cluster.pools or ())
            self.fleet.clusters[name] = replace(cluster, pools=pools)
        self._apply()
        self.rounds(4)

    def _profile(self, name: str) -> Profile:
        asked = (DeviceRequest("gpu", 1, (), gpu=True),)
        members: tuple[Member, ...] = (Member(Role.STANDALONE, 1, asked),)
        if name == "r":
            members = (Member(Role.LEADER, 1, asked), Member(Role.WORKER, 1, asked))
        requires = Requires(precisions=self.requires[name], several_nodes=name == "r")
        said = f"{name}:{self.contents[name]}"
        return Profile((Engine(name, members),), f"{self.choice}{said}", name, requires, digest=said)

    def _apply(self) -> None:
        """Let the deployment be as the model and its own spec say."""
        if self.mode == "stated":
            self.deployment = replace(self.deployment, profiles=self._stated, model=None, resolution=Resolution())
            return
        served = [name for name in self.order if name not in self.skipped]
        gone = self.mode == "gone"
        found = Resolution(
            generation=None if gone else 1,
            problem="it is gone" if gone else "" if served else "nothing is left",
            skipped={} if gone else {name: "it contradicts itself" for name in self.order if name in self.skipped},
            edited=self._draw(st.booleans()),
        )
        self.deployment = replace(
            self.deployment,
            profiles=() if gone else tuple(map(self._profile, served)),
            model=ModelRef("m", pinned=self.pinned),
            resolution=found,
            choice=self.choice,
        )

    def _some(self) -> str:
        return self._draw(st.sampled_from(_NAMES))

    def edit_profile(self) -> None:
        """Give a profile another image, a bad one at times."""
        self.contents[self._some()] = self._draw(st.sampled_from((*GOOD, BAD)))
        self._apply()

    def require(self) -> None:
        """Let a profile require something else of its pool."""
        self.requires[self._some()] = self._draw(st.sampled_from(_PRECISIONS))
        self._apply()

    def add_or_remove(self) -> None:
        """Add a profile somewhere, or take it out; one is left."""
        name = self._some()
        if name not in self.order:
            self.order.insert(self._draw(st.integers(0, len(self.order))), name)
        elif len(self.order) > 1:
            self.order.remove(name)
        self._apply()

    def reorder(self) -> None:
        """Put the profiles into another order."""
        self.order = list(self._draw(st.permutations(self.order)))
        self._apply()

    def contradict(self) -> None:
        """Let a profile contradict itself, or no longer."""
        self.skipped ^= {self._some()}
        self._apply()

    def pin(self) -> None:
        """Let edits reach only new replicas, or all again."""
        self.pinned = not self.pinned
        self._apply()

    def choose(self) -> None:
        """Let the deployment itself ask something else of its pods."""
        self.choice = self._draw(st.sampled_from(("", "other drain, ")))
        self._apply()

    def leave(self) -> None:
        """Let the model be gone, or be there; or let the deployment state engines of its own."""
        self.mode = self._draw(st.sampled_from(("catalogue", "catalogue", "gone", "stated")))
        self._apply()

    def mend(self) -> None:
        """Let every cluster take replicas, and the model be there with profiles that can be served."""
        super_contents = {name: GOOD[0] if text == BAD else text for name, text in self.contents.items()}
        self.contents, self.skipped, self.pinned, self.mode = super_contents, set(), False, "catalogue"
        self._apply()
        super().mend()
