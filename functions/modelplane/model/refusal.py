"""Why a cluster or pool was not chosen, as values whose text is built only when it is shown.

The order of the classes is the order of precedence (docs/scheduling.md, "Refusals"): of several reasons the first that
holds is a cluster's, and a cluster whose pools fail differently counts under the pool that failed latest in this order.
"""

from dataclasses import dataclass, field, replace
from fractions import Fraction


@dataclass(frozen=True, slots=True)
class Refusal:
    """A reason not to place on a cluster. Its name (`type(refusal).__name__`) is what status and JSON show.

    `profile` is the deployment's profile that the cluster's pools do not host, "" for a reason that holds for all.
    `pool` is the pool that came nearest to hosting it, "" where it is not known or the reason is the cluster's own.
    """

    profile: str = field(default="", kw_only=True)
    pool: str = field(default="", kw_only=True)

    @property
    def reason(self) -> str:
        """Return the refusal's name, e.g. `NoRoom`."""
        return type(self).__name__


@dataclass(frozen=True, slots=True)
class Deleting(Refusal):
    """The cluster is being deleted."""


@dataclass(frozen=True, slots=True)
class NotReady(Refusal):
    """The cluster is not Ready."""


@dataclass(frozen=True, slots=True)
class NoGatewayAddress(Refusal):
    """The cluster's gateway has no address yet."""


@dataclass(frozen=True, slots=True)
class SelectorMismatch(Refusal):
    """The cluster lacks a label of the deployment's clusterSelector (only reported when asked to explain)."""

    key: str
    value: str


@dataclass(frozen=True, slots=True)
class OutsideCache(Refusal):
    """The cluster is not selected by the deployment's ModelCache."""

    cache: str


@dataclass(frozen=True, slots=True)
class NoCacheStorage(Refusal):
    """The cluster names no storage class on which the deployment's ModelCache could be staged, as others do."""

    cache: str


@dataclass(frozen=True, slots=True)
class NotAllowed(Refusal):
    """The cluster is not for the namespace of the deployment, which lacks a label that it asks for."""

    namespace: str
    key: str
    value: str


@dataclass(frozen=True, slots=True)
class MetadataDenied(Refusal):
    """Pods of the deployment carry a label or annotation (`key`) that the cluster does not open to teams."""

    key: str


@dataclass(frozen=True, slots=True)
class Tainted(Refusal):
    """The cluster has a taint that the deployment does not tolerate."""

    key: str
    effect: str


@dataclass(frozen=True, slots=True)
class NoPools(Refusal):
    """The cluster publishes no GPU pool."""


@dataclass(frozen=True, slots=True)
class Nearness:
    """How near a device comes to a member's requests: the more of each, and the smaller the distance, the nearer.

    `requests` of the member find a device, `selectors` of the next request hold, `conditions` of its next selector, and
    the value that the next condition compares is `distance` away (in parts of what is asked for), None if not known.
    """

    requests: int = 0
    selectors: int = 0
    conditions: int = 0
    distance: Fraction | None = None

    @property
    def rank(self) -> tuple[int, int, int, bool, Fraction]:
        """Return what devices are ordered by, the nearest last."""
        known = self.distance is not None
        return self.requests, self.selectors, self.conditions, known, -(self.distance or Fraction(0))


@dataclass(frozen=True, slots=True)
class CapabilityShort(Refusal):
    """A pool does not declare what a profile requires of it: `has` is what it declares, "" for nothing.

    `note` says why two values that are both declared do not compare, "" where the values say it.
    """

    capability: str
    has: str
    needs: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class NotMultiNode(Refusal):
    """A profile spans several nodes, and the pool is not for that. `declared`: it says so, rather than nothing."""

    declared: bool = True


@dataclass(frozen=True, slots=True)
class Closest:
    """The device of a pool that came closest to satisfying a request, in words.

    `needs` is what the selector that it fails asks for, `device` its driver and product, `has` what it has of that,
    "" where nothing can be compared. `error` is set when the selector fails on it with an error. `nearness` compares it
    with the closest devices of other pools.
    """

    needs: str
    device: str
    has: str = ""
    error: str = ""
    nearness: Nearness = field(default=Nearness(), compare=False)


@dataclass(frozen=True, slots=True)
class NoDevice(Refusal):
    """No device of the pool satisfies a request: which selector failed, and on which device, if the pool has any."""

    engine: str
    request: str
    selector: int
    closest: Closest | None = None


@dataclass(frozen=True, slots=True)
class TooFewDevices(Refusal):
    """Devices match a request, but a node has too few of them."""

    engine: str
    request: str
    has: int
    needs: int


@dataclass(frozen=True, slots=True)
class SelectorError(Refusal):
    """A selector fails with an error on a device that Kubernetes would evaluate too: its pods would stay pending."""

    text: str
    device: str
    why: str = ""


@dataclass(frozen=True, slots=True)
class NodeUndeclared(Refusal):
    """An engine asks for CPU or memory (`kind`, as `Resources` counts it), of which the pool declares none."""

    engine: str
    kind: str
    needs: int


@dataclass(frozen=True, slots=True)
class NodeTooSmall(Refusal):
    """An engine asks for more CPU or memory (`kind`, as `Resources` counts it) than a node of the pool has."""

    engine: str
    kind: str
    needs: int
    has: int


@dataclass(frozen=True, slots=True)
class NotClaimable(Refusal):
    """Everything matches, but no member of an engine would claim a real (DRA) device."""

    engine: str


@dataclass(frozen=True, slots=True)
class LackedResource:
    """CPU or memory (`kind`, as `Resources` counts it) that a pod needs of a node, and that is surely free there.

    Of the kind pods it is how many of the engine's pods that take no device the pool has to run, and surely runs.
    """

    kind: str
    needs: int
    free: int


@dataclass(frozen=True, slots=True)
class NoRoom(Refusal):
    """The pool fits by kind, but not beside what is there: nodes the engine needs, nodes that are surely free.

    `lacked` is set where CPU, memory or slots for pods are what the nodes lack, and not devices.
    """

    engine: str
    needs: int
    free: int
    lacked: LackedResource | None = None

    @property
    def need(self) -> "NoRoom":
        """Return what is needed alone: without the pool, and what is free there."""
        lacked = replace(self.lacked, free=0) if self.lacked else None
        return replace(self, pool="", free=0, lacked=lacked)

    @property
    def left(self) -> int:
        """Return what is free of that which is short: nodes, CPU or memory of a node, or slots for pods."""
        return self.lacked.free if self.lacked else self.free

    def with_left(self, left: int) -> "NoRoom":
        """Return the refusal where so much of that which is short is free."""
        if self.lacked:
            return replace(self, lacked=replace(self.lacked, free=left))
        return replace(self, free=left)


@dataclass(frozen=True, slots=True)
class SearchBound(Refusal):
    """The exact search over the cluster's pools hit its bound of visited states; nothing is guessed."""

    states: int


@dataclass(frozen=True, slots=True)
class NotChecked(Refusal):
    """The cluster may have room by what it publishes, and its replicas were not read in this pass any more."""


#: The order of precedence; of several reasons of one pool the first holds, of several pools the latest is nearest.
PRECEDENCE: tuple[type[Refusal], ...] = (
    Deleting,
    NotReady,
    NoGatewayAddress,
    SelectorMismatch,
    OutsideCache,
    NoCacheStorage,
    NotAllowed,
    MetadataDenied,
    Tainted,
    NoPools,
    CapabilityShort,
    NotMultiNode,
    NoDevice,
    TooFewDevices,
    SelectorError,
    NodeUndeclared,
    NodeTooSmall,
    NotClaimable,
    NoRoom,
    SearchBound,
    NotChecked,
)


def of_profile(refusal: Refusal, profile: str) -> Refusal:
    """Return the refusal as that of a profile."""
    return refusal if refusal.profile == profile else replace(refusal, profile=profile)


def rank(refusal: Refusal) -> int:
    """Return the refusal's place in the order of precedence."""
    return PRECEDENCE.index(type(refusal))
