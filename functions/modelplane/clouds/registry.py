"""The clouds by the value of `spec.cluster.source`."""

from collections.abc import Mapping
from typing import Final

from modelplane.clouds.cloud import Cloud
from modelplane.clouds.gke import GKE

CLOUDS: Final[Mapping[str, Cloud]] = {"GKE": GKE}
