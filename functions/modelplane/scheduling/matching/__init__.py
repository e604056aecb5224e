"""Which clusters and pools match a deployment, regardless of room."""

from modelplane.scheduling.matching.eligible import (
    denied,
    drift,
    find_not_allowed,
    lacking,
    refuse,
    repelling,
    rule_out,
)
from modelplane.scheduling.matching.options import ClusterOptions, Nearest, Options
from modelplane.scheduling.matching.selectors import bad_selectors, evaluate, matching
from modelplane.scheduling.matching.ways import (
    ClusterWays,
    EngineOption,
    OptionsByPool,
    PodSet,
    PoolOption,
    stamp,
    weigh_ways,
)

__all__ = [
    "ClusterOptions",
    "ClusterWays",
    "EngineOption",
    "Nearest",
    "Options",
    "OptionsByPool",
    "PodSet",
    "PoolOption",
    "bad_selectors",
    "denied",
    "drift",
    "evaluate",
    "find_not_allowed",
    "lacking",
    "matching",
    "refuse",
    "repelling",
    "rule_out",
    "stamp",
    "weigh_ways",
]
