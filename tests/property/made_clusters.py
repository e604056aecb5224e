"""Strategies: InferenceClusters on GKE as the XRD admits them, the longest and oddest names among them."""

from typing import Any

from hypothesis import strategies as st

from modelplane.preview.admission import admit
from unit.compose_cluster.made import cluster

REGIONS = st.sampled_from(["us-central1", "europe-west4", "northamerica-northeast2"])
#: Of an InferenceCluster: up to 63 characters, with dots and digits first.
NAMES = st.from_regex(r"\A[a-z0-9]([a-z0-9-]{0,20}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,20}[a-z0-9])?){0,2}\Z").filter(
    lambda name: len(name) <= 63
)
LONG_NAMES = st.builds(lambda letter: letter * 63, st.sampled_from("a9z"))
POOL_NAMES = st.from_regex(r"\A[a-z0-9]([-a-z0-9]{0,38}[a-z0-9])?\Z").filter(lambda name: name != "system")
ZONES = st.lists(st.sampled_from("abcdef"), min_size=1, max_size=6, unique=True)
#: Fields that a GKE block may have besides its region.
SETTINGS = st.fixed_dictionaries(
    {},
    optional={
        "kubernetesVersion": st.sampled_from(["1.34", "1.35", "1.36"]),
        "credentials": st.sampled_from([{"type": "ProviderConfig", "name": "team"}, {"name": "other"}]),
        "maintenance": st.sampled_from([{"nodeUpgrades": "Automatic"}, {"start": "23:30"}]),
        "apiAccessCIDRs": st.lists(st.sampled_from(["192.0.2.0/24", "198.51.100.7/32"]), min_size=1, unique=True),
        "network": st.one_of(
            st.builds(lambda part: {"cidr": f"10.{part}.0.0/16"}, st.integers(0, 255)),
            st.just({"existing": {"network": "n", "subnetwork": "s", "podRange": "p", "serviceRange": "q"}}),
        ),
    },
)


@st.composite
def pools(draw: st.DrawFn, region: str) -> dict[str, Any]:
    """Return a node pool, of a fixed size or scaled."""
    zones = [f"{region}-{letter}" for letter in draw(ZONES)]
    made: dict[str, Any] = {"name": draw(POOL_NAMES), "className": "l4", "zones": zones}
    if draw(st.booleans()):
        made["nodeCount"] = len(zones) * draw(st.integers(0, 2))
    else:
        made["maxNodeCount"] = draw(st.integers(1, 12))
        if draw(st.booleans()):
            made["minNodeCount"] = draw(st.integers(0, made["maxNodeCount"]))
    if draw(st.booleans()):
        made["reservation"] = "mine"
    return made


@st.composite
def clusters(draw: st.DrawFn) -> dict[str, Any]:
    """Return an InferenceCluster, with its defaults, as a server stores it."""
    region = draw(REGIONS)
    found = draw(st.lists(pools(region), min_size=1, max_size=4, unique_by=lambda pool: pool["name"]))
    settings = {"region": region, **draw(SETTINGS)}
    name = draw(st.one_of(NAMES, LONG_NAMES))
    return admit(cluster(*found, name=name, gke=settings))
