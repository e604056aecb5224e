"""Releases of a serving stack that do not come up as they should, with the pods that they should have."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from modelplane.model.names import OBSERVE_ONLY
from modelplane.preview.simulation.providers import (
    OBJECT,
    RELEASE,
    StatusPatch,
    condition_of,
    patch_of,
    simulated,
)
from modelplane.preview.simulation.stacks import ABSENT
from modelplane.preview.store import View
from modelplane.reading.tree import Manifest, Tree, child, mapping
from modelplane.stack import CHARTS

#: Passes for which a release that is late has no status.
LATE_PASSES = 3
_BUSY = "failed to upgrade release: another operation (install/upgrade/rollback) is in progress"
_UNREACHABLE = "cannot reach the cluster: i/o timeout"


class ReleaseFault(StrEnum):
    """What becomes of a release, in the states that provider-helm reports."""

    #: Each try fails until none is left.
    FAILS = "Fails"
    #: Helm was killed while it installed, and nothing heals it.
    HANGS = "Hangs"
    #: In each second pass the cluster does not answer, and its pods are gone.
    FLAPS = "Flaps"
    #: The provider says nothing for some passes.
    LATE = "Late"


@dataclass(slots=True)
class ReleaseFaults:
    """The faults of charts by name, over passes."""

    faults: Mapping[str, ReleaseFault]
    _now: int = 0
    _began: dict[str, int] = field(default_factory=dict)

    def statuses(self, view: View) -> Iterator[StatusPatch]:
        """Yield the statuses of the releases with faults and of the Objects that observe their workloads."""
        self._now += 1
        for release in simulated(view, RELEASE):
            chart = str(child(release, "spec", "forProvider", "chart", "name"))
            fault = self.faults.get(chart)
            if fault is None or list(child(release, "spec", "managementPolicies") or ()) == list(OBSERVE_ONLY):
                continue
            passed = self._now - self._began.setdefault(release["metadata"]["uid"], self._now)
            status = _status(release, fault, passed, view.now)
            if status is not None:
                yield patch_of(release, status)
                yield from _without_pods(view, release, chart)


def _status(release: Manifest, fault: ReleaseFault, passed: int, now: str) -> Tree | None:
    """Return the status of a release in the pass, None where it is as it should be."""
    if fault is ReleaseFault.LATE:
        return {"conditions": [], "atProvider": None} if passed < LATE_PASSES else None
    if fault is ReleaseFault.FLAPS and passed % 2 == 0:
        return None
    error = {ReleaseFault.HANGS: _BUSY, ReleaseFault.FLAPS: _UNREACHABLE}.get(fault, "")
    synced = condition_of(
        release, now, "Synced", "False" if error else "True", "ReconcileError" if error else "", message=error
    )
    if fault is ReleaseFault.FLAPS:
        return {"conditions": [synced]}
    failed = fault is ReleaseFault.FAILS
    said = "Release failed: timed out waiting for the condition" if failed else "Initial install underway"
    seen = {"state": "failed" if failed else "pending-install", "revision": 1, "releaseDescription": said}
    return {"atProvider": seen, "failed": 3, "conditions": [synced]}


def _without_pods(view: View, release: Manifest, chart: str) -> Iterable[StatusPatch]:
    """Yield that the workloads of a chart do not exist."""
    names = {each.name for each in CHARTS[chart][1].workloads}
    config = child(release, "spec", "providerConfigRef", "name")
    for obj in simulated(view, OBJECT):
        manifest = mapping(obj, "spec", "forProvider", "manifest")
        observing = list(child(obj, "spec", "managementPolicies") or ()) == list(OBSERVE_ONLY)
        same = child(obj, "spec", "providerConfigRef", "name") == config
        if observing and same and child(manifest, "metadata", "name") in names:
            absent = condition_of(obj, view.now, "Synced", "False", "ReconcileError", message=ABSENT)
            yield patch_of(obj, {"conditions": [absent], "atProvider": None})
