"""The words of a refusal, as kube-scheduler would say them; nothing else in the house writes them."""

from modelplane.model.refusal import (
    Deleting,
    NoDevice,
    NoGatewayAddress,
    NoPools,
    NoRoom,
    NotClaimable,
    NotReady,
    OutsideCache,
    Refusal,
    SearchBound,
    SelectorError,
    SelectorMismatch,
    Tainted,
    TooFewDevices,
    rank,
)

_PLAIN: dict[type[Refusal], str] = {
    Deleting: "being deleted",
    NotReady: "not Ready",
    NoGatewayAddress: "without gateway address",
    NoPools: "without GPU pools",
}

#: Most characters of a selector or an error that are quoted.
QUOTE = 120


def quote(text: str) -> str:
    """Return a text on one line, cut where it is long."""
    line = " ".join(text.split())
    return line if len(line) <= QUOTE else f"{line[: QUOTE - 3]}..."


def of_pools(refusal: Refusal) -> bool:
    """Tell whether the cluster itself would do, and its pools do not."""
    return rank(refusal) > rank(NoPools())


def count(number: int, noun: str) -> str:
    """Return e.g. `1 node`, `2 nodes`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def word(refusal: Refusal) -> str:
    """Return the refusal in a few words, to stand behind the number of clusters it holds for."""
    match refusal:
        case Tainted(key):
            text = f"tainted ({key})"
        case SelectorMismatch(key, value):
            text = f"without label {key}={value}"
        case OutsideCache(cache):
            text = f"outside ModelCache {cache}"
        case NoDevice(_, request, _, nearest):
            text = f"no device for request {request}" + (f": {quote(nearest)}" if nearest else "")
        case TooFewDevices(_, request, has, needs):
            text = f"too few devices for request {request}: has {has}, needs {needs}"
        case SelectorError(selector, device, why):
            text = f"selector error on device {device}: {quote(selector)}" + (f": {quote(why)}" if why else "")
        case NotClaimable(engine):
            text = f"NotClaimable: engine {engine} would claim no real device"
        case NoRoom(_, needs, free):
            text = f"NoRoom: needs {count(needs, 'node')}, {free} free"
        case SearchBound(states):
            text = f"SearchBound: gave up after {states} ways to arrange the engines"
        case _:
            text = _PLAIN[type(refusal)]
    return text
