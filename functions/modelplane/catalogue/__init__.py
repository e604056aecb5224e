"""The catalogue: what a profile of a ClusterModel expands to, and whether a pool satisfies what it requires. Pure."""

from modelplane.catalogue.comparison import amount, compare, parse_bandwidth
from modelplane.catalogue.expansion import GPU_REQUEST, Expansion, driver_selector, expand
from modelplane.catalogue.profile import InvalidProfile

__all__ = [
    "GPU_REQUEST",
    "Expansion",
    "InvalidProfile",
    "amount",
    "compare",
    "driver_selector",
    "expand",
    "parse_bandwidth",
]
