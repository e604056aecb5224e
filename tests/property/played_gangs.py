"""A LeaderWorkerSet (0.8) on Kubernetes 1.35, played: its gangs, its controller, the StatefulSet of its leaders.

Both controllers are written down from their code, as far as edits of the templates with maxSurge 0 take them.
"""

import copy
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from unit.compose_replica import replicas as given
from unit.compose_replica.test_gang import stateful_set

RESOURCE = "leaderworkerset-main"
_WORKERS = 1


@dataclass
class Gang:
    """A gang made of templates; one whose image cannot be pulled never becomes ready."""

    templates: str
    ready: bool = False


@dataclass
class Leaders:
    """The StatefulSet of the leaders."""

    update: str
    current: str
    partition: int = 0
    max_unavailable: int = 1


@dataclass
class PlayedGangs:
    """A replica whose gangs serve, its Objects, and what is on its cluster; `least` is how few have ever served."""

    copies: int
    edits: int = 0
    asked: str = ""
    bad: set[str] = field(default_factory=set)
    least: int = 64

    def __post_init__(self) -> None:
        self.body = self._edited()
        self.objects = given.serving(self.body)
        self.applied = self._manifest()
        self.asked = _mark(self.applied)
        self.leaders = Leaders(self.asked, self.asked)
        self.gangs: list[Gang | None] = [Gang(self.leaders.update, ready=True) for _ in range(self.copies)]
        self.observe()
        self.body["status"] = dict(given.run(self.body, self.objects).status or {})

    @property
    def serving(self) -> int:
        return sum(gang is not None and gang.ready for gang in self.gangs)

    @property
    def done(self) -> bool:
        """Tell whether all gangs serve as the last edit asks."""
        return all(gang is not None and gang.ready and gang.templates == self.asked for gang in self.gangs)

    def _edited(self) -> dict[str, Any]:
        image = {"spec": {"containers": [given.container(image=f"engine:{self.edits}")]}}
        return given.replica(given.gang(self.copies, _WORKERS, template=image))

    def _manifest(self) -> dict[str, Any]:
        found: dict[str, Any] = self.objects[RESOURCE]["spec"]["forProvider"]["manifest"]
        return copy.deepcopy(found)

    def edit(self) -> None:
        self.edits += 1
        self.body = self._edited() | {"status": self.body["status"]}
        self.asked = _mark(given.manifest_of(given.run(self.body, self.objects), RESOURCE))

    def edit_badly(self) -> None:
        self.edit()
        self.bad.add(self.asked)

    def reconcile(self) -> None:
        """Let a pass compose the replica; the Object of the gangs is then not applied yet, if it changes."""
        result = given.run(self.body, self.objects)
        self.body["status"] = dict(result.status or {})
        composed, seen = result.desired[RESOURCE].build(), self.objects[RESOURCE]
        if composed["spec"] != seen["spec"]:
            seen["status"] |= {"conditions": []}
        self.objects[RESOURCE] = seen | {"spec": composed["spec"], "metadata": seen["metadata"] | composed["metadata"]}

    def deploy(self) -> None:
        """Let a pass compose the replica, and the provider apply it."""
        self.reconcile()
        self.provide()

    def provide(self) -> None:
        """Let the provider apply the Object of the gangs."""
        self.applied = self._manifest()
        self.objects[RESOURCE]["status"] |= {"conditions": [given.synced()]}

    def observe(self) -> None:
        """Let the provider observe everything."""
        there = self._manifest_with(self.applied)
        self.objects[RESOURCE]["status"] |= {"atProvider": {"manifest": there}}
        ready = stateful_set(self.copies, self.serving, self.leaders.update)
        self.objects["leaders-main"]["status"] |= {"atProvider": {"manifest": ready}}
        for index, gang in enumerate(self.gangs):
            status = self.objects[f"workers-{index}-main"]["status"]
            if gang is None:
                status |= {"conditions": [given.synced("False", "external resource does not exist")]}
            else:
                made = stateful_set(_WORKERS, _WORKERS * gang.ready, gang.templates)
                status |= {"conditions": [given.synced()], "atProvider": {"manifest": made}}

    def _manifest_with(self, applied: Mapping[str, Any]) -> dict[str, Any]:
        updated = sum(gang is not None and gang.templates == self.leaders.update for gang in self.gangs)
        counts = {"replicas": self.copies, "readyReplicas": self.serving, "updatedReplicas": updated}
        metadata = {**applied["metadata"], "generation": 1}
        return {**copy.deepcopy(dict(applied)), "metadata": metadata, "status": counts}

    def control_gangs(self) -> None:
        """Let LeaderWorkerSet's controller set the partition (`rollingUpdateParameters`), and apply the StatefulSet."""
        settings = self.applied["spec"]["rolloutStrategy"]["rollingUpdateConfiguration"]
        mark, found = _mark(self.applied), self.leaders
        if mark != found.update:
            partition = self.copies
        elif found.partition:
            partition = min(found.partition, self._next_partition(settings["maxUnavailable"]))
        else:
            partition = 0
        partition = max(partition, settings.get("partition", 0))
        self.leaders = Leaders(mark, found.current, partition, settings["maxUnavailable"])

    def _next_partition(self, step: int) -> int:
        ready = [gang is not None and gang.ready for gang in self.gangs]
        updated = [gang is not None and gang.templates == self.leaders.update for gang in self.gangs]
        tail = 0
        while tail < self.copies and ready[-1 - tail] and updated[-1 - tail]:
            tail += 1
        least = max(0, self.copies - tail - step)
        partition = least + ready[:least].count(False)
        for index in range(min(partition, self.copies - 1), least - 1, -1):
            if ready[index] and not updated[index]:
                break
            partition = index
        return partition

    def control_leaders(self) -> None:
        """Let the StatefulSet's controller create what is missing, and delete what is outdated as far as it may."""
        found = self.leaders
        for index, gang in enumerate(self.gangs):
            if gang is None:
                self.gangs[index] = Gang(found.current if index < found.partition else found.update)
        budget = found.max_unavailable - (self.copies - self.serving)
        for index in range(self.copies - 1, found.partition - 1, -1):
            gang = self.gangs[index]
            if budget > 0 and gang and gang.templates != found.update:
                self.gangs[index], budget = None, budget - 1
        if all(gang is not None and gang.ready and gang.templates == found.update for gang in self.gangs):
            found.current = found.update
        self.least = min(self.least, self.serving)

    def control(self) -> None:
        """Let both controllers act, twice: the StatefulSet's deletes before it creates."""
        for step in 2 * (self.control_gangs, self.control_leaders):
            step()

    def load(self) -> None:
        """Let the engines of all gangs come up whose image can be pulled."""
        for gang in self.gangs:
            if gang is not None:
                gang.ready = gang.ready or gang.templates not in self.bad

    def settle(self) -> None:
        """Let everything happen, again and again, until nothing more does."""
        for _ in range(8 * self.copies):
            if self.done:
                return
            for step in (self.reconcile, self.provide, self.control_gangs, self.control_leaders, self.load):
                step()
                self.observe()


def _mark(manifest: Mapping[str, Any]) -> str:
    template = manifest["spec"]["leaderWorkerTemplate"]["leaderTemplate"]
    return str(template["metadata"]["annotations"]["modelplane.ai/template"])
