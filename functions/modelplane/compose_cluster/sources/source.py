"""The interface between InferenceCluster and the module of each source of clusters."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from modelplane.api.inferencecluster import InferenceClusterSpec
from modelplane.model.observation import Malformed
from modelplane.step import Manifest, Request


@dataclass(frozen=True, slots=True)
class Resource:
    """A composed resource. `ready`: everything that it needs to be ready has been observed."""

    body: Manifest
    ready: bool


@dataclass(frozen=True, slots=True)
class SecretKey:
    """A key of a Secret in the system namespace."""

    name: str
    key: str


@dataclass(frozen=True, slots=True)
class Kubeconfig:
    """The kubeconfig of a cluster; if it has no credentials, a cloud `identity` (its type and its Secret)."""

    secret: SecretKey
    identity: tuple[str, SecretKey] | None = None


@dataclass(frozen=True, slots=True)
class Provision:
    """The result of a source for one pass over a cluster.

    `resources` are composed besides those of every cluster, by composition resource name. `kubeconfig` is None until
    there is one. `storage_class` is for model caches, None for none, and `cache_user` the uid of downloads onto its
    volumes, None for root. `nodes` is the number of nodes of each node pool. `missing` are messages about what the
    cluster waits for.
    """

    kubeconfig: Kubeconfig | None
    nodes: Mapping[str, int]
    storage_class: str | None = None
    cache_user: int | None = None
    resources: Mapping[str, Resource] = field(default_factory=dict)
    missing: tuple[str, ...] = ()


class ClusterSource(Protocol):
    """One source. It reads its own block of the spec, and returns Malformed for a field that is invalid."""

    def __call__(self, request: Request, spec: InferenceClusterSpec) -> Provision | Malformed:
        """Return the source's result for the request's InferenceCluster."""
