"""What a source of clusters gives: the interface between InferenceCluster and the module of each source."""

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
    """The kubeconfig of a cluster; where it carries no credentials, a cloud `identity` (its type and its Secret)."""

    secret: SecretKey
    identity: tuple[str, SecretKey] | None = None


@dataclass(frozen=True, slots=True)
class Provision:
    """What a source makes of a cluster in one pass.

    `resources` are what it composes by composition resource name, beside what every cluster has. `kubeconfig` is None
    until there is one. `storage_class` is for model caches, None for none, and `cache_user` downloads onto its volumes,
    None for root. `nodes` are, by node pool, the nodes that replicas are placed on. `missing` says
    what the cluster waits for, a message each.
    """

    kubeconfig: Kubeconfig | None
    nodes: Mapping[str, int]
    storage_class: str | None = None
    cache_user: int | None = None
    resources: Mapping[str, Resource] = field(default_factory=dict)
    missing: tuple[str, ...] = ()


class ClusterSource(Protocol):
    """One source. It reads its own block of the spec; Malformed names what of it cannot be carried out."""

    def __call__(self, request: Request, spec: InferenceClusterSpec) -> Provision | Malformed:
        """Return what the source makes of the request's InferenceCluster."""
