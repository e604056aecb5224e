"""What is observed of a cluster's serving stack. Every value has a state for "not known"."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from modelplane.stack.parts import Part


class Asked(StrEnum):
    """How a part is to be handled."""

    MANAGED = "Managed"
    PRESENT = "Present"


class Origin(StrEnum):
    """Who has installed a part, as recorded in the ServingStack's status."""

    MODELPLANE = "Modelplane"
    OTHER = "Other"


class Found(StrEnum):
    """Whether a cluster has an object."""

    UNKNOWN = "Unknown"
    ABSENT = "Absent"
    THERE = "There"


@dataclass(frozen=True, slots=True)
class ReleaseState:
    """A composed Release.

    `may_install`: the Release that is observed may create the release on the cluster. `found`: whether the cluster has
    it. `state` is Helm's status of its last revision, `description` what Helm says of it, `revision` its number and
    `failed` how often Helm's work was undone to be tried again. `error` is why the provider could not act on it last
    time, "" if it could. `acted`: the provider has acted on the present Release.
    """

    may_install: bool = False
    found: Found = Found.UNKNOWN
    state: str = ""
    description: str = ""
    revision: int = 0
    failed: int = 0
    version: str = ""
    error: str = ""
    acted: bool = True


@dataclass(frozen=True, slots=True)
class Counts:
    """The pods of a workload: how many it wants, and how many of them are available as it is now.

    `current`: its controller has acted on its present spec. `stalled` is why the controller no longer expects the
    others to come up, in its own words, "" while it does.
    """

    wanted: int
    available: int
    current: bool = True
    stalled: str = ""


@dataclass(frozen=True, slots=True)
class StackObservation:
    """What is observed of a cluster.

    `shown` tells for each part whether what shows it is there, `kubernetes` the same of Dynamic Resource Allocation.
    `releases` are by chart. `workloads` are by name, None for one that is absent; one that is left out is not known.
    `origins` are those recorded in an earlier pass. `pools`: the cluster has the kind InferencePool, None
    while that is not known.
    """

    shown: Mapping[Part, Found] = field(default_factory=dict)
    kubernetes: Found = Found.UNKNOWN
    releases: Mapping[str, ReleaseState] = field(default_factory=dict)
    workloads: Mapping[str, Counts | None] = field(default_factory=dict)
    origins: Mapping[Part, Origin] = field(default_factory=dict)
    pools: bool | None = None

    def shows(self, part: Part) -> Found:
        """Return whether what shows a part is there."""
        return self.shown.get(part, Found.UNKNOWN)

    def release(self, chart: str) -> ReleaseState | None:
        """Return the composed Release of a chart, None if there is none."""
        return self.releases.get(chart)
