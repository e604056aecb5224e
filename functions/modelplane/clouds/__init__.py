"""The clouds in which clusters are made: what is composed for each, in view of what is observed. Pure.

docs/develop.md, "Add a cloud", has the steps to another one.
"""

from modelplane.clouds.cloud import (
    Account,
    Asked,
    AskedPool,
    Cloud,
    Facts,
    Held,
    Identity,
    Key,
    Kind,
    Managed,
    Plan,
    PoolPhase,
    PoolReport,
    Seen,
)
from modelplane.clouds.names import cluster_key
from modelplane.clouds.registry import CLOUDS

__all__ = [
    "CLOUDS",
    "Account",
    "Asked",
    "AskedPool",
    "Cloud",
    "Facts",
    "Held",
    "Identity",
    "Key",
    "Kind",
    "Managed",
    "Plan",
    "PoolPhase",
    "PoolReport",
    "Seen",
    "cluster_key",
]
