"""Why a cluster or pool was not chosen: values whose text is built only when it is shown.

The classes are in the order of precedence (docs/scheduling.md, "Refusals"): a cluster's refusal is the first that
applies, and a cluster whose pools are refused for different reasons gets the one that is last in this order.
"""

from dataclasses import dataclass, field, replace
from enum import Enum, auto
from fractions import Fraction


class Answer(Enum):
    """What a refusal says of the cluster.

    `NO`: it was asked, and takes no other replica. `OUTSIDE`: a selector leaves it out, so that it is no candidate.
    `NONE`: it could not be asked, and may well take one.
    """

    NO = auto()
    OUTSIDE = auto()
    NONE = auto()


@dataclass(frozen=True, slots=True)
class Refusal:
    """A reason not to place on a cluster. Its name (`type(refusal).__name__`) is what status and JSON show.

    `profile` is the deployment's profile that the cluster's pools do not host, "" for a reason that applies to all.
    `pool` is the pool that came nearest to hosting it, "" if it is not known or the reason is the cluster's own.
    `others` are the refusals of the cluster's other pools, where none satisfies what a profile requires.
    """

    profile: str = field(default="", kw_only=True)
    pool: str = field(default="", kw_only=True)
    others: "tuple[Refusal, ...]" = field(default=(), kw_only=True)

    @property
    def reason(self) -> str:
        """Return the refusal's name, e.g. `NoRoom`."""
        return type(self).__name__

    @property
    def answer(self) -> Answer:
        """Return what it says of the cluster: nothing ends for lack of room while a candidate's answer is missing."""
        return Answer.NO


@dataclass(frozen=True, slots=True)
class Unanswered(Refusal):
    """A refusal of a cluster that could not be asked."""

    @property
    def answer(self) -> Answer:
        """Return that there is no answer."""
        return Answer.NONE


@dataclass(frozen=True, slots=True)
class Outside(Refusal):
    """A refusal of a cluster that a selector leaves out."""

    @property
    def answer(self) -> Answer:
        """Return that it is no candidate."""
        return Answer.OUTSIDE


@dataclass(frozen=True, slots=True)
class Deleting(Refusal):
    """The cluster is being deleted."""


@dataclass(frozen=True, slots=True)
class NotReady(Unanswered):
    """The cluster is not Ready."""


@dataclass(frozen=True, slots=True)
class NoGatewayAddress(Unanswered):
    """The cluster's gateway has no address yet."""


@dataclass(frozen=True, slots=True)
class SelectorMismatch(Outside):
    """The cluster lacks a label of the deployment's clusterSelector (only reported when asked to explain)."""

    key: str
    value: str


@dataclass(frozen=True, slots=True)
class OutsideCache(Outside):
    """The cluster is not selected by the deployment's ModelCache."""

    cache: str


@dataclass(frozen=True, slots=True)
class NoCacheStorage(Refusal):
    """The cluster names no storage class on which the deployment's ModelCache could be staged, as others do."""

    cache: str


@dataclass(frozen=True, slots=True)
class NotAllowed(Refusal):
    """The cluster does not accept the deployment's namespace, which lacks a label that the cluster requires."""

    namespace: str
    key: str
    value: str


@dataclass(frozen=True, slots=True)
class MetadataDenied(Refusal):
    """Pods of the deployment carry a label or annotation (`key`) that the cluster does not allow to teams."""

    key: str


@dataclass(frozen=True, slots=True)
class Tainted(Refusal):
    """The cluster has a taint that the deployment does not tolerate."""

    key: str
    effect: str


@dataclass(frozen=True, slots=True)
class NoPools(Refusal):
    """The cluster publishes no GPU pool. Not `published`: it has not said yet, readably, which pools it has."""

    published: bool = field(default=True, compare=False)

    @property
    def answer(self) -> Answer:
        """Return that it takes no other replica, if it has published that."""
        return Answer.NO if self.published else Answer.NONE


@dataclass(frozen=True, slots=True)
class Nearness:
    """How near a device comes to satisfying a member's requests.

    `requests` is the number of the member's requests that find a device, `held` the number of conditions of the next
    request that hold. `selectors` and `conditions` are the positions of the first condition that does not hold: its
    selector, and its place in that. `distance` is how far the value is from the one that it asks for, relative to the
    latter; None if not known.
    """

    requests: int = 0
    held: int = 0
    selectors: int = 0
    conditions: int = 0
    distance: Fraction | None = None

    @property
    def rank(self) -> tuple[int, int, int, int, bool, Fraction]:
        """Return the sort key of devices, the nearest last."""
        known = self.distance is not None
        return self.requests, self.held, self.selectors, self.conditions, known, -(self.distance or Fraction(0))


@dataclass(frozen=True, slots=True)
class NotMultiNode(Refusal):
    """A profile spans several nodes, and the pool does not support that. `declared`: it declares so explicitly."""

    declared: bool = True


@dataclass(frozen=True, slots=True)
class CapabilityShort(Refusal):
    """A pool does not declare what a profile requires; `has` is what it declares, "" for nothing.

    `note` says why the declared value does not satisfy the requirement, "" where the values show it.
    """

    capability: str
    has: str
    needs: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Closest:
    """The device of a pool that came closest to satisfying a request, as texts.

    `needs` is what the selector asks for that it does not match, `device` its driver and product, `has` the value that
    it has instead, "" where nothing can be compared. `error` is set when the selector has an error on it. `nearness`
    compares it with the closest devices of other pools.
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
    """A selector has an error on a device that Kubernetes would evaluate too: the pods would stay pending."""

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
    """CPU or memory (`kind`, in the units of `Resources`) that a pod needs, and that is free on a node in any case.

    For the kind pods, it is the number of the engine's pods without devices that the pool has to run, and can run.
    """

    kind: str
    needs: int
    free: int


@dataclass(frozen=True, slots=True)
class NoRoom(Refusal):
    """The pool's devices match, but there is no room: the nodes that the engine needs, and those free in any case.

    `lacked` is set where the nodes lack CPU, memory or pod slots, and not devices.
    """

    engine: str
    needs: int
    free: int
    lacked: LackedResource | None = None

    @property
    def need(self) -> "NoRoom":
        """Return the refusal without its pool and what is free there: the need alone."""
        lacked = replace(self.lacked, free=0) if self.lacked else None
        return replace(self, pool="", free=0, lacked=lacked)

    @property
    def left(self) -> int:
        """Return how much is free of the kind that is short: nodes, CPU or memory of a node, or pod slots."""
        return self.lacked.free if self.lacked else self.free

    def with_left(self, left: int) -> "NoRoom":
        """Return the refusal with `left` free of the kind that is short."""
        if self.lacked:
            return replace(self, lacked=replace(self.lacked, free=left))
        return replace(self, free=left)


@dataclass(frozen=True, slots=True)
class SearchBound(Unanswered):
    """The exact search over the cluster's pools hit its bound of states; it does not guess.

    `postponed`: it did not, but the call has used up its allowance; the next pass continues.
    """

    states: int
    postponed: bool = False


@dataclass(frozen=True, slots=True)
class NotChecked(Unanswered):
    """The cluster may have room by what it publishes, but this pass had no call left to read its replicas."""


#: The order of precedence: of one pool's reasons the first applies; of several pools, the last one is the nearest.
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
    NotMultiNode,
    CapabilityShort,
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
    """Return the refusal with its profile set."""
    return refusal if refusal.profile == profile else replace(refusal, profile=profile)


def rank(refusal: Refusal) -> int:
    """Return the refusal's position in the order of precedence."""
    return PRECEDENCE.index(type(refusal))
