"""The sources of clusters, by the value of `spec.cluster.source`; the XRD's enum names these and no others."""

from collections.abc import Mapping
from typing import Final

from modelplane.compose_cluster.sources import existing
from modelplane.compose_cluster.sources.source import Kubeconfig, Provision, Resource, SecretKey, Source

SOURCES: Final[Mapping[str, Source]] = {"Existing": existing.provision}

__all__ = ["SOURCES", "Kubeconfig", "Provision", "Resource", "SecretKey", "Source"]
