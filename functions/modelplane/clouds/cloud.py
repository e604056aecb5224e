"""The interface between ManagedCluster and the package of each cloud, and the values that pass it.

A cloud is a pure function from what is asked for and what was observed of it to a Plan: the managed resources to
compose, and what is said of them. `compose_cluster.managed_cluster` carries a plan out the same way for every cloud. A
resource that a plan leaves out is deleted, so a plan holds what it cannot decide about.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final, NamedTuple, Protocol

#: managementPolicies of what is made and deleted with the cluster. Without LateInitialize the provider writes nothing
#: into the spec.
OWNED: Final = ("Observe", "Create", "Update", "Delete")
#: Those of what others may use too, or what ends with something else.
LEFT_BEHIND: Final = ("Observe", "Create", "Update")


class Kind(NamedTuple):
    """A kind of a provider."""

    api_version: str
    kind: str


@dataclass(frozen=True, slots=True)
class Held:
    """What replicas hold of a pool: the most nodes that their pods can be on, and their names, the first ones."""

    nodes: int = 0
    by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AskedPool:
    """A node pool as it is asked for. `recipe` is the block of the cloud in its class's provisioning.

    `allow_rolling`: edits may replace nodes under serving replicas. `leaving`: it is no longer asked for, and stays
    while replicas hold it.
    """

    name: str
    recipe: Mapping[str, Any]
    node_count: int | None = None
    least: int | None = None
    most: int | None = None
    zones: tuple[str, ...] = ()
    reservation: str = ""
    allow_rolling: bool = False
    leaving: bool = False
    held: Held = field(default_factory=Held)


@dataclass(frozen=True, slots=True)
class Asked:
    """A cluster as it is asked for.

    `settings` is the cloud's block of `spec.cluster`. `key` tells clusters of one name apart: it ends every name in the
    cloud. `account` is where the cloud bills (a project, a subscription). `since` is when the ManagedCluster was made.
    """

    cluster: str
    key: str
    settings: Mapping[str, Any]
    pools: tuple[AskedPool, ...]
    account: str
    since: str


@dataclass(frozen=True, slots=True)
class Managed:
    """A managed resource to compose. `secret` is the Secret for its connection details, "" for none."""

    kind: Kind
    name: str
    for_provider: Mapping[str, Any]
    init_provider: Mapping[str, Any] = field(default_factory=dict)
    policies: tuple[str, ...] = OWNED
    secret: str = ""


@dataclass(frozen=True, slots=True)
class Seen:
    """A managed resource as it was observed.

    `error` is why the provider's last try to observe, create or change it failed, in its words, "" if it did not;
    `there` is the provider's report of the external resource, empty before the first.
    """

    name: str
    for_provider: Mapping[str, Any] = field(default_factory=dict)
    init_provider: Mapping[str, Any] = field(default_factory=dict)
    ready: bool = False
    error: str = ""
    there: Mapping[str, Any] = field(default_factory=dict)


class PoolPhase(StrEnum):
    """The state of a node pool."""

    CREATING = "Creating"
    READY = "Ready"
    #: An edit is not carried out because replicas are on its nodes, or because the cloud cannot change the field.
    HELD = "Held"
    #: The cloud has refused it for now, and is asked again.
    WAITING = "Waiting"
    #: It does not come without somebody's doing.
    FAILED = "Failed"
    #: No longer asked for, and kept while replicas hold it.
    LEAVING = "Leaving"


@dataclass(frozen=True, slots=True)
class PoolReport:
    """What is said of a node pool. `nodes` are the most that it can have. `held` names the fields whose edit is held.

    `invalid`: the edit of one of them cannot be carried out at all.
    """

    name: str
    phase: PoolPhase
    nodes: int
    message: str = ""
    held: tuple[str, ...] = ()
    invalid: bool = False


@dataclass(frozen=True, slots=True)
class Key:
    """A key of a Secret in the system namespace."""

    name: str
    key: str


@dataclass(frozen=True, slots=True)
class Identity:
    """A cloud identity for a kubeconfig without credentials: its type for the providers, and its Secret."""

    type: str
    secret: Key


@dataclass(frozen=True, slots=True)
class Facts:
    """What the rest of Modelplane has to know of clusters of this cloud.

    `driver_root` is where a node has NVIDIA's driver, `pods` how many pods of engines a node takes, `annotations` are
    for the Service of the load balancer.
    """

    driver_root: str = "/"
    pods: int = 100
    annotations: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Plan:
    """The result of a cloud for one pass, by composition resource name.

    `kubeconfig` is None until there is one. `inside` are manifests for the cluster itself. `waits` says what the
    cluster waits for, and `refused` what of the spec cannot be made, each with a remedy.
    """

    resources: Mapping[str, Managed]
    pools: tuple[PoolReport, ...] = ()
    kubeconfig: Key | None = None
    identity: Identity | None = None
    storage_class: str = ""
    facts: Facts = field(default_factory=Facts)
    inside: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    waits: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Account:
    """Where the cloud's account is found: the provider's config that `spec.cluster` names, and a field of its spec."""

    config: Kind
    name: str
    field: str
    words: str


class Cloud(Protocol):
    """One cloud.

    `block` is the name of its blocks in `spec.cluster` and in a class's provisioning. `provider` is the name of the
    Provider package of its `main` kind, that of the clusters. `kinds` are all that plans and `account` name.
    """

    @property
    def block(self) -> str:
        """Return the name of the cloud's blocks."""

    @property
    def provider(self) -> str:
        """Return the name of the Provider package of the clusters."""

    @property
    def main(self) -> Kind:
        """Return the kind of the clusters."""

    @property
    def kinds(self) -> Sequence[Kind]:
        """Return the kinds of the provider that are composed or read."""

    def account(self, settings: Mapping[str, Any]) -> Account:
        """Return where the account of a cluster is found."""

    def network(self, cluster: str, settings: Mapping[str, Any]) -> str:
        """Return the addresses (CIDR) of the network that is made for a cluster, "" where one is brought."""

    def plan(self, asked: Asked, seen: Mapping[str, Seen]) -> Plan:
        """Return what is composed for a cluster."""
