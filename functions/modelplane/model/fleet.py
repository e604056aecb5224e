"""What the platform team publishes: clusters, their pools and the devices on each node of a pool."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum

from modelplane.model.catalogue import Capabilities
from modelplane.model.resources import DEFAULT_PODS, NOTHING, Resources


class ClaimKind(StrEnum):
    """How a declared device is used: `DRA` is claimed through a DeviceClass, `SYNTHETIC` is only matched."""

    DRA = "DRA"
    SYNTHETIC = "Synthetic"


class Effect(StrEnum):
    """Effect of a cluster taint: `NO_SCHEDULE` blocks new replicas, `NO_EXECUTE` also evicts."""

    NO_SCHEDULE = "NoSchedule"
    NO_EXECUTE = "NoExecute"


@dataclass(frozen=True, slots=True)
class Attribute:
    """One typed attribute of a device: `type` is string, bool, int or version, `value` of that type."""

    name: str
    type: str
    value: str | bool | int


@dataclass(frozen=True, slots=True)
class Device:
    """One kind of device on each node of a pool (an entry of `gpuPools[].devices`): equal content, equal value.

    `count` is devices per node. `capacity` holds (name, quantity text) pairs. Names are as declared: a bare name's
    domain is the driver. `attributes` and `capacity` are sorted by name.
    """

    name: str
    driver: str
    device_class: str | None = None
    count: int = 1
    claim: ClaimKind = ClaimKind.DRA
    attributes: tuple[Attribute, ...] = ()
    capacity: tuple[tuple[str, str], ...] = ()
    allow_multiple_allocations: bool = False


@dataclass(frozen=True, slots=True)
class PodToleration:
    """A toleration of pods on a pool, as Kubernetes has it: `effect` "" is every effect, `key` "" every key."""

    key: str = ""
    operator: str = "Equal"
    value: str = ""
    effect: str = ""

    def manifest(self) -> dict[str, str]:
        """Return it as a manifest has it, without what is absent."""
        return {name: text for name, text in asdict(self).items() if text}


@dataclass(frozen=True, slots=True)
class Pool:
    """A pool of `nodes` alike nodes, each with `devices`. `nodes` is never negative: null and negative read as 0.

    `capabilities` are None where the pool declares none. `charged` is what the replicas there took when the cluster
    was reconciled last (see `scheduling.charged`), None where it publishes nothing of that. `tolerations` are those of
    every pod of an engine there. `node` is what engines have of the CPU and memory of each node, as declared, and
    `pods` how many of their pods a node runs.
    """

    name: str
    nodes: int
    devices: tuple[Device, ...] = ()
    capabilities: Capabilities | None = None
    charged: str | None = None
    tolerations: tuple[PodToleration, ...] = ()
    node: Resources = NOTHING
    pods: int = DEFAULT_PODS


@dataclass(frozen=True, slots=True)
class Taint:
    """A taint of an InferenceCluster; an absent value is the empty one."""

    key: str
    effect: Effect
    value: str = ""


class Isolation(StrEnum):
    """Which namespaces of teams a cluster closes (InferenceCluster.spec.stack.isolation)."""

    OPEN = "Open"
    NEW_NAMESPACES = "NewNamespaces"
    ENFORCED = "Enforced"


class Mark(StrEnum):
    """Why a team's namespace has a NetworkPolicy of Modelplane: it was made with it, or the platform enforced it."""

    NONE = ""
    CREATION = "creation"
    ENFORCED = "enforced"


@dataclass(frozen=True, slots=True)
class Walls:
    """What keeps the teams on a cluster apart.

    In a namespace that `isolation` closes, only the team's own pods, those of gateways and the hosts of `gateway_cidrs`
    reach its pods. `enforces_pod_security`: pods that the pod security standard baseline refuses are not admitted.
    `drops_all`: engines that are built from now on have no capability but those that they add.
    """

    isolation: Isolation = Isolation.NEW_NAMESPACES
    gateway_cidrs: tuple[str, ...] = ()
    enforces_pod_security: bool = False
    drops_all: bool = False


@dataclass(frozen=True, slots=True)
class Cluster:
    """An InferenceCluster as the scheduler sees it.

    `pools` are in the operator's order; None means that the cluster has not (readably) published its pools: nothing
    can be placed, and nothing that runs there may be judged by them. `address` is what to dial for the cluster's
    gateway (`status.gateway.hostname`, else `status.gateway.address`), None while unknown; `mutual_tls`: by mutual TLS.
    `answers` is False once its API server does not: what runs there goes on, and nothing is known of it. `orphaned`:
    its owner has declared that it never answers again. `stages_caches`: it names a storage class for caches, without
    which none can be staged. `allowed`: the labels that a namespace carries whose deployments may use it, None for all.
    `replicas` are those that it counted when it was reconciled last. `pod_metadata` are the prefixes of labels and
    annotations that it opens to the pods of teams. `laid_out` is no part of the value: `scheduling.hardware` keeps
    there what it makes of `pools`.
    """

    name: str
    labels: Mapping[str, str] = field(default_factory=dict)
    ready: bool = False
    answers: bool = True
    orphaned: bool = False
    address: str | None = None
    mutual_tls: bool = False
    deleting: bool = False
    taints: tuple[Taint, ...] = ()
    pools: tuple[Pool, ...] | None = None
    stages_caches: bool = True
    allowed: Mapping[str, str] | None = None
    replicas: int = 0
    pod_metadata: tuple[str, ...] = ()
    laid_out: object = field(default=None, init=False, repr=False, compare=False)
