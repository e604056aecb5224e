"""The sources of clusters, by the value of `spec.cluster.source`; the XRD's enum names these and no others."""

from collections.abc import Mapping
from typing import Final

from modelplane.clouds import CLOUDS
from modelplane.compose_cluster.sources import existing, made
from modelplane.compose_cluster.sources.source import (
    BARRIER,
    CONFIG,
    ClusterSource,
    Kubeconfig,
    PoolState,
    Provision,
    Resource,
    SecretKey,
)

SOURCES: Final[Mapping[str, ClusterSource]] = {
    "Existing": existing.provision,
    **{name: made.source_of(name, cloud) for name, cloud in CLOUDS.items()},
}

__all__ = [
    "BARRIER",
    "CONFIG",
    "SOURCES",
    "ClusterSource",
    "Kubeconfig",
    "PoolState",
    "Provision",
    "Resource",
    "SecretKey",
]
