"""The interface between InferenceCluster and the module of each source of clusters.

A source is a pure function of the InferenceCluster's request and spec, like a step. It returns a Provision: what it
composes and what it has found out. `compose_cluster.provisioning` carries it out the same way for every source:

- **Kinds.** A kind that has no CRD fails the whole reconcile, when it is required and when it is composed. So a source
  declares the kinds of its provider in `kinds`. While one of them is missing, or not known yet, nothing of that kind is
  composed or required, everything observed is held, and ClusterReady says what is missing and `install`. Kinds that
  every control cluster has (`requirements.is_certain`) are not declared; a pass with another one fails.
- **Nothing is lost.** What a source leaves out of `resources` is deleted. If an input is missing, it returns what was
  observed (`composing.hold`), and says so in `missing`.
- **Deletion.** Crossplane deletes all composed resources of a deleted InferenceCluster at once, and calls no function
  any more. What has to stay longer is in `outlives` from the beginning.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from modelplane.api.inferencecluster import InferenceClusterSpec
from modelplane.model.conditions import Reason
from modelplane.model.observation import Malformed
from modelplane.step import Manifest, Request, Requirement, SchemaRequirement

#: Composition resource name of the ClusterProviderConfig, which `outlives` may name.
CONFIG = "provider-config"
#: That of the Object whose deletion deletes the cluster's load balancer (`barrier`), composed if `outlives` names it.
BARRIER = "load-balancer"


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
class PoolState:
    """What a source knows of a node pool.

    `nodes` is the most nodes that it can have, on which replicas are placed. `message` is why it is not as asked, in
    its provider's words, "" if it is: it is reported, and does not make the cluster unready. `leaving`: it is asked for
    no more, and stays while replicas are on it.
    """

    nodes: int
    message: str = ""
    leaving: bool = False


@dataclass(frozen=True, slots=True)
class Provision:
    """The result of a source for one pass over a cluster.

    `kubeconfig` is None until there is one. `pools` has every node pool of the spec by name, and those that leave.
    `storage_class` is for model caches, None for none, and `cache_user` the uid of downloads onto its volumes, None for
    root. `driver_root` is where nodes have NVIDIA's driver, "" if the source does not know, and `pods` how many pods of
    engines one takes, None for the default.

    `resources` are composed besides those of every cluster, by composition resource name. `missing` are messages about
    what the cluster waits for, and `reason` is that of ClusterReady then. `requirements` are objects that the source
    has to read. `kinds` are those of its provider that it composes or requires, and `install` says how to get them.

    `outlives` orders deletion: a resource (the key) stays until those that need it are gone, by composition resource
    names. `made`: the source makes the cluster and deletes it as a whole, so that what Modelplane composes inside it
    (the Gateway, the installation's mark) is not deleted first, by way of a cluster that may already be gone.
    """

    kubeconfig: Kubeconfig | None
    pools: Mapping[str, PoolState]
    storage_class: str | None = None
    cache_user: int | None = None
    resources: Mapping[str, Resource] = field(default_factory=dict)
    missing: tuple[str, ...] = ()
    reason: Reason = Reason.PROVISIONING
    requirements: tuple[Requirement, ...] = ()
    kinds: tuple[SchemaRequirement, ...] = ()
    install: str = ""
    outlives: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    made: bool = False
    driver_root: str = ""
    pods: int | None = None


class ClusterSource(Protocol):
    """One source. It reads its own block of the spec, and returns Malformed for a field that is invalid."""

    def __call__(self, request: Request, spec: InferenceClusterSpec) -> Provision | Malformed:
        """Return the source's result for the request's InferenceCluster."""
