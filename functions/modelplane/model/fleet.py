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
    """One kind of device on each node of a pool: an entry of `gpuPools[].devices`.

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
    """A toleration of pods on a pool, with Kubernetes' meaning: `effect` "" is every effect, `key` "" every key."""

    key: str = ""
    operator: str = "Equal"
    value: str = ""
    effect: str = ""

    def manifest(self) -> dict[str, str]:
        """Return it as in a manifest, without absent fields."""
        return {name: text for name, text in asdict(self).items() if text}


@dataclass(frozen=True, slots=True)
class Pool:
    """A pool of `nodes` identical nodes, each with `devices`. `nodes` is not negative: null and negative read as 0.

    `capabilities` are None where the pool declares none. `charged` is what replicas took when the cluster was last
    reconciled (see `scheduling.room.charge`), None where it is not published. `tolerations` are added to every pod of
    an engine there. `node` is the declared CPU and memory of each node that engines may use, `pods` the number of
    engines' pods that a node runs.
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
    """Which team namespaces a cluster closes with a NetworkPolicy (InferenceCluster.spec.stack.isolation)."""

    OPEN = "Open"
    NEW_NAMESPACES = "NewNamespaces"
    ENFORCED = "Enforced"


class Mark(StrEnum):
    """Why a team's namespace has Modelplane's NetworkPolicy: it was created with it, or the platform enforces it."""

    NONE = ""
    CREATION = "creation"
    ENFORCED = "enforced"


class Egress(StrEnum):
    """What pods reach from a namespace that is closed (InferenceCluster.spec.stack.egress)."""

    NONE = "None"
    NO_METADATA = "NoMetadata"
    RESTRICTED = "Restricted"


@dataclass(frozen=True, slots=True)
class TeamIsolation:
    """What isolates the teams on a cluster from each other.

    In a namespace that `isolation` closes, pods are reached only by the team's own pods, those of gateways, and the
    hosts of `gateway_cidrs`. `egress` says what they reach, None what they reached when Modelplane made the namespace;
    `egress_cidrs` are the networks beyond the cluster that they reach where it is restricted.
    `enforces_pod_security`: the pod security standard baseline is enforced. `drops_all`:
    engines that are built from now on have only the Linux capabilities that they add.
    """

    isolation: Isolation = Isolation.NEW_NAMESPACES
    gateway_cidrs: tuple[str, ...] = ()
    egress: Egress | None = None
    egress_cidrs: tuple[str, ...] = ()
    enforces_pod_security: bool = False
    drops_all: bool = False


@dataclass(frozen=True, slots=True)
class Cluster:
    """An InferenceCluster as the scheduler sees it.

    `pools` are in the operator's order; None if the cluster has not published them, or not readably: then nothing can
    be placed there, and existing replicas are not checked against them. `address` is what to dial for the cluster's
    gateway (`status.gateway.hostname`, else `status.gateway.address`), None while unknown; `mutual_tls`: by mutual TLS.
    `answers` is False once its API server does not answer: its pods keep running, and their state is not known.
    `foreign`: it is another one than before, or of another installation, so that nothing is changed or removed there.
    `orphaned`: its owner has declared that it will never answer again. `stages_caches`: it names a storage class for
    caches. `allowed`: the labels that a namespace must carry for its deployments to use the cluster, None for all
    namespaces. `replicas` is the number that it counted when it was last reconciled. `pod_metadata` are the prefixes of
    labels and annotations that it allows on the pods of teams. `laid_out` is no part of the value: a cache of
    `scheduling.hardware` for what it derives from `pools`.
    """

    name: str
    labels: Mapping[str, str] = field(default_factory=dict)
    ready: bool = False
    answers: bool = True
    orphaned: bool = False
    foreign: bool = False
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
