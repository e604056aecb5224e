"""Whatever has happened, a deployment comes to rest with no more replicas than it asks for, and those of its budget."""

from collections.abc import Callable
from dataclasses import replace

from hypothesis import given, note
from hypothesis import strategies as st

from modelplane.model.rollout import Amount
from profiles import with_content, with_engines
from property.played_rollout import BAD, GOOD, copies_of
from property.restless import RestlessWorld
from property.strategies import examples


class Overfull(RestlessWorld):
    """A restless world whose owner asks for what cannot be, pauses, and asks for fewer."""

    def grow(self) -> None:
        """Ask for another number of copies of each replica, which may fit nowhere."""
        engine = self.deployment.profiles[0].engines[0]
        copies = self._draw(st.sampled_from((1, 2, 3, 5)))
        self.deployment = with_engines(self.deployment, (replace(engine, copies=copies),))

    def break_in_place(self) -> None:
        """Change every replica in place to an image that does not come up: some copies of the earlier one go on."""
        given, paused = self.deployment.rollout, self.deployment.rollout.paused
        in_place = replace(given, max_surge=Amount(0), max_unavailable=Amount(3), paused=False)
        self.deployment = replace(with_content(self.deployment, BAD), rollout=in_place)
        self.rounds(2)
        self.deployment = replace(self.deployment, rollout=replace(given, paused=paused))

    def mend(self) -> None:
        """Ask for an image that comes up."""
        self.deployment = with_content(self.deployment, self._draw(st.sampled_from(GOOD)))

    def halt(self) -> None:
        """Pause the rollout."""
        self.deployment = replace(self.deployment, rollout=replace(self.deployment.rollout, paused=True))

    def shrink(self) -> None:
        """Ask for few."""
        self.deployment = replace(self.deployment, replicas=self._draw(st.integers(1, 2)))

    def settle(self) -> None:
        """Let a few passes go by."""
        self.rounds(2)

    def any_act(self) -> str:
        """Do one of these; return which."""
        acts: tuple[Callable[[], object], ...] = (
            self.grow, self.break_in_place, self.mend, self.halt, self.shrink, self.settle, self.live, self.reconcile,
        )  # fmt: skip
        act = self._draw(st.sampled_from(acts))
        act()
        return getattr(act, "__name__", "")


@given(st.data())
@examples(80)
def test_no_more_than_are_asked_for_and_the_surge_are_left_at_rest(data: st.DataObject) -> None:
    world = Overfull(data.draw)
    for _ in range(8):
        note(world.any_act())
    world.recover()
    world.rounds(12)
    own, asked = world.own(), world.deployment.replicas
    left = [(replica.uid, replica.cluster, replica.content, replica.copies) for replica in own]
    note(f"{asked=} {world.deployment.rollout} {world.serving} {left}")
    assert len(own) <= asked + max(1, world.budget.surge)
    if world.deployment.rollout.paused and all(world.serving.get(r.uid) == copies_of(r) for r in own):
        assert len(own) <= asked, "all of them serve whole, so that none is needed until another one does"
