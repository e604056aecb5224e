"""Worlds in which the parts of one cluster's serving stack go through every fault, one after the other."""

from dataclasses import dataclass

from hypothesis import strategies as st

from modelplane.preview.simulation.release_faults import ReleaseFault
from modelplane.preview.worlds import World, faulty_releases, healthy, unreachable
from modelplane.stack import CHARTS

CLUSTER = "east"


@dataclass(frozen=True, slots=True)
class Weather:
    """What becomes of the releases for some rounds, and whether the cluster and the provider answer.

    `charts` is where the installation says that charts come from.
    """

    faults: dict[str, ReleaseFault]
    reached: bool
    answered: bool
    charts: str
    rounds: int

    def world(self) -> World | None:
        """Return the world."""
        if not self.answered:
            return None
        below = healthy if self.reached else unreachable({CLUSTER})
        return faulty_releases(self.faults, below)


WEATHERS = st.builds(
    Weather,
    faults=st.dictionaries(st.sampled_from(sorted(CHARTS)), st.sampled_from(ReleaseFault), max_size=4),
    reached=st.sampled_from([True, True, False]),
    answered=st.sampled_from([True, True, False]),
    charts=st.sampled_from(["", "", "https://mirror.example.org"]),
    rounds=st.integers(1, 3),
)
#: How the parts are asked for, edited between two weathers; None for no edit.
EDITS = st.none() | st.dictionaries(
    st.sampled_from(["lws", "metrics", "dra", "certManager"]), st.sampled_from(["Managed", "Present"]), min_size=1
)
