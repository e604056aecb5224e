"""The catalogue: what a profile of a ClusterModel expands to, and whether a pool satisfies what it requires. Pure."""

from modelplane.catalogue.comparison import amount, compare, parse_bandwidth, shortness
from modelplane.catalogue.expansion import GPU_REQUEST, Expansion, driver_selector, expand
from modelplane.catalogue.gpu import (
    Offer,
    declared_memory,
    doubt_device,
    doubt_memory,
    find_candidates,
    find_gpu,
    no_gpu,
    offer_of,
)
from modelplane.catalogue.profile import InvalidProfile

__all__ = [
    "GPU_REQUEST",
    "Expansion",
    "InvalidProfile",
    "Offer",
    "amount",
    "compare",
    "declared_memory",
    "doubt_device",
    "doubt_memory",
    "driver_selector",
    "expand",
    "find_candidates",
    "find_gpu",
    "no_gpu",
    "offer_of",
    "parse_bandwidth",
    "shortness",
]
