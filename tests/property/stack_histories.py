"""Histories of a ServingStack: what its cluster runs, and what happens between two passes."""

from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from modelplane.stack import CHARTS, Part
from modelplane.stack.parts import Workload
from unit.compose_cluster.stacks import ABSENT, KINDS, Cluster, synced

_WORKLOADS: tuple[Workload, ...] = tuple(each for _, chart in CHARTS.values() for each in chart.workloads)
#: What a provider may say of an object between two passes: nothing yet, an error, or that it is gone.
ANSWERS: tuple[dict[str, Any], ...] = (
    {},
    {"conditions": synced("cannot reach the cluster: i/o timeout")},
    {"conditions": synced(ABSENT)},
    {"conditions": "nonsense", "atProvider": [1]},
)
#: What the API server may say of the provider's kinds.
_KINDS: tuple[dict[str, Any], ...] = (
    KINDS,
    {},
    dict.fromkeys(KINDS),
    {"helm-release": {"type": "object"}, "helm-config": None},
)
_RELEASES = (
    {"state": "failed", "revision": 1, "failed": 1, "releaseDescription": "x"},
    {"state": "failed", "revision": 2, "failed": 3, "releaseDescription": "x"},
    {"state": "pending-rollback", "revision": 3, "releaseDescription": "x"},
    {"state": "uninstalled", "revision": 1, "releaseDescription": "x"},
)


@dataclass(frozen=True, slots=True)
class Event:
    """What happens before a pass: answers by composed resource, and changes of the cluster and of the spec."""

    silent: frozenset[str]
    answers: dict[str, int]
    pods: dict[str, int]
    release: tuple[str, int] | None
    kinds: int
    parts: dict[str, str] | None
    observe_only: bool
    forgets: bool

    def happen(self, cluster: Cluster) -> None:
        """Change the cluster and its providers' answers."""
        cluster.pods |= self.pods
        if self.release:
            name, number = self.release
            if name in cluster.releases:
                cluster.releases[name] = dict(_RELEASES[number])
        cluster.kinds = dict(_KINDS[self.kinds])
        if self.parts is not None:
            cluster.spec = {"parts": self.parts, "observeOnly": self.observe_only}
        if self.forgets:
            cluster.status = {}
        for name, number in self.answers.items():
            if name in cluster.composed:
                cluster.composed[name]["status"] = dict(ANSWERS[number])


_RESOURCES = st.sampled_from(
    sorted(
        [f"release-{name}" for name in CHARTS]
        + [f"shown-{part}" for part in Part]
        + [f"workload-{each.name}" for each in _WORKLOADS]
        + ["kubernetes", "helm-config"]
    )
)
_ASKED = st.dictionaries(st.sampled_from([str(part) for part in Part]), st.sampled_from(["Managed", "Present"]))

EVENTS = st.builds(
    Event,
    silent=st.frozensets(_RESOURCES, max_size=8),
    answers=st.dictionaries(_RESOURCES, st.integers(0, len(ANSWERS) - 1), max_size=6),
    pods=st.dictionaries(st.sampled_from([each.name for each in _WORKLOADS]), st.integers(0, 1), max_size=3),
    release=st.none()
    | st.tuples(st.sampled_from([chart.release for _, chart in CHARTS.values()]), st.integers(0, len(_RELEASES) - 1)),
    kinds=st.sampled_from([0, 0, 0, 1, 2, 3]),
    parts=st.none() | _ASKED,
    observe_only=st.booleans(),
    forgets=st.booleans(),
)

CLUSTERS = st.builds(
    Cluster,
    runs=st.sets(st.sampled_from(list(Part)), max_size=3),
    starts=st.booleans(),
    kubernetes=st.sampled_from([True, True, True, False]),
)
