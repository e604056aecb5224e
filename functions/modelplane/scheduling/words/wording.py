"""The text of a refusal; no other module writes it.

Each text says where, what was found against what is needed, and what to do if the reader can do something about it.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence

from modelplane.model.placement import Holders
from modelplane.model.refusal import (
    PRECEDENCE,
    CapabilityShort,
    Closest,
    Deleting,
    LackedResource,
    MetadataDenied,
    NoCacheStorage,
    NodeTooSmall,
    NodeUndeclared,
    NoDevice,
    NoGatewayAddress,
    NoPools,
    NoRoom,
    NotAllowed,
    NotChecked,
    NotClaimable,
    NotMultiNode,
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

#: Most characters that are quoted of a selector, and of an error, whose end says what to write instead.
QUOTE, WHOLE = 120, 320


def quote(text: str, most: int = QUOTE) -> str:
    """Return a text on one line, cut where it is longer than `most` characters."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 3]}..."


_PLAIN: dict[type[Refusal], str] = {
    Deleting: "being deleted",
    NotReady: "not Ready",
    NoGatewayAddress: "without gateway address",
    NoPools: "without GPU pools",
    NotChecked: "not checked in this pass (the next one checks it, within a minute)",
}

#: What to do where a pool declares nothing: to declare what it may not have would place what cannot run there.
_UNDECLARED = "(if its nodes have that, declare it)"
#: Most pools that are named, and most replicas that hold one.
_POOLS, _REPLICAS = 3, 3


#: The remedy of each refusal, by its name. There is none for a cluster that is being deleted.
_REMEDIES: Mapping[str, str] = {
    "NotReady": "See the conditions of the InferenceClusters that are not Ready.",
    "NoGatewayAddress": "See BackendReady of the InferenceClusters without address.",
    "SelectorMismatch": "Correct spec.clusterSelector, or label the InferenceCluster.",
    "OutsideCache": "Widen spec.clusterSelector of the ModelCache.",
    "NoCacheStorage": "Set spec.cluster.existing.cache.storageClassName of the InferenceCluster.",
    "NotAllowed": "Ask the owner of the InferenceCluster to allow the namespace in spec.allowedNamespaces.",
    "MetadataDenied": "Remove that label or annotation, or have spec.stack.podMetadataPrefixes of a cluster open it.",
    "Tainted": "Tolerate the taint in spec.tolerations, or remove it from the InferenceCluster.",
    "NoPools": "See ClusterReady of the InferenceClusters without GPU pools.",
    "NotMultiNode": "Add a pool whose nodes share a fabric, or a profile that runs on one node.",
    "CapabilityShort": "Require less in the profile, or add a pool that has it.",
    "NoDevice": "Request devices that the fleet has, or add a pool of an InferenceClass that has such devices.",
    "TooFewDevices": "Request fewer devices in a pod, or add a pool with more of them on a node.",
    "SelectorError": "Guard the selector with has().",
    "NodeUndeclared": "Declare nodePools[].node of the InferenceCluster, or remove the requests for CPU and memory.",
    "NodeTooSmall": "Request less CPU or memory, or add a pool with larger nodes.",
    "NotClaimable": "Request a device that a DRA driver publishes, too.",
    "NoRoom": "Free nodes by scaling something down, or add nodes.",
    "SearchBound": "Narrow spec.clusterSelector or the device selectors, or request fewer devices.",
}
#: Refusals whose text says already what to do.
_WITH_REMEDY = frozenset({"SelectorError", "NotClaimable", "SearchBound"})


def remedies_of(reasons: Iterable[str]) -> list[str]:
    """Return the remedies of refusals with these names, the refusal that came closest to a placement first."""
    order = [kind.__name__ for kind in PRECEDENCE]
    return [_REMEDIES[reason] for reason in sorted({*reasons} & _REMEDIES.keys(), key=order.index, reverse=True)]


def remedy_of(reasons: Iterable[str]) -> str:
    """Return the remedy of the refusal that came closest to a placement, of these names."""
    return next(iter(remedies_of(reasons)), "See the conditions of the ModelDeployment.")


def closing_remedies(reasons: Iterable[str], room: int) -> str:
    """Return the remedies that the refusals' texts do not contain, to end a message: as many as fit into `room`."""
    text = "".join(f" {remedy}" for remedy in remedies_of({*reasons} - _WITH_REMEDY))
    while len(text) >= room:
        text = text[: text.rstrip(".").rfind(". ") + 1]
    return f".{text}" if text else ""


def _corrects_selector(refusal: Refusal) -> bool:
    """Tell whether a refusal's text asks to correct the selector, so that the remedy of its name does not apply."""
    return isinstance(refusal, NoDevice) and refusal.closest is not None and bool(refusal.closest.error)


def find_remedy(refusal: Refusal) -> str:
    """Return what to do about a refusal, "" where its text asks to correct the selector."""
    return "" if _corrects_selector(refusal) else remedy_of([refusal.reason])


def with_remedy(refusals: Iterable[Refusal]) -> set[str]:
    """Return the names of refusals, without those whose text asks to correct the selector."""
    return {each.reason for each in refusals if not _corrects_selector(each)}


def of_pools(refusal: Refusal) -> bool:
    """Tell whether a refusal is about a cluster's pools, not about the cluster itself."""
    return rank(refusal) > rank(NoPools())


def count(number: int, noun: str) -> str:
    """Return e.g. `1 node`, `2 nodes`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _where(pools: Collection[str]) -> str:
    names = sorted(pools)
    if not names:
        return ""
    more = f" and {len(names) - _POOLS} more" if len(names) > _POOLS else ""
    return f"{'pool' if len(names) == 1 else 'pools'} {', '.join(names[:_POOLS])}{more}: "


def _found(closest: Closest | None) -> str:
    """Return what a request needs and what the closest device has, to be appended to the request."""
    if closest is None:
        return " finds no device on its nodes"
    needs = f" needs {closest.needs}"
    if closest.error:
        return f"{needs}, which fails on the closest device ({closest.device}): {closest.error}; correct the selector"
    if closest.has:
        return f"{needs}, the closest device ({closest.device}) has {closest.has}"
    return f"{needs}, which the closest device ({closest.device}) does not satisfy"


def word(
    refusal: Refusal,
    *,
    pools: Collection[str] | None = None,
    at_most: bool = False,
    name_engine: bool = False,
    holding: str = "",
) -> str:
    """Return the text of a refusal, to follow the number of its clusters.

    `pools` are the pools that it applies to, its own pool if not given. `at_most`: some of the clusters have fewer
    nodes free. `name_engine`: requests are named with their engine. `holding`: the text of `word_holders`.
    """
    where = _where(({refusal.pool} - {""}) if pools is None else pools)
    if isinstance(refusal, CapabilityShort | NotMultiNode):
        return where + _of_capabilities(refusal)
    text = _text(refusal, at_most=at_most, name_engine=name_engine)
    return f"{where}{text} ({holding})" if holding else where + text


def _of_capabilities(refusal: CapabilityShort | NotMultiNode) -> str:
    """Return what a profile requires of a pool, and what the pool declares."""
    if isinstance(refusal, NotMultiNode):
        declares = "multiNodeCapable false" if refusal.declared else f"no multiNodeCapable {_UNDECLARED}"
        return f"multiNodeCapable true is needed by an engine of several nodes, the pool declares {declares}"
    declares = f"the pool declares {refusal.has or f'no {refusal.capability} {_UNDECLARED}'}"
    note = f" ({refusal.note})" if refusal.note else ""
    return f"{refusal.capability} {refusal.needs} is needed, {declares}{note}"


def word_holders(cluster: str, pool: str, holders: Holders | None) -> str:
    """Return on which cluster a pool lacks room, and what holds it; replicas of the own namespace are named."""
    if holders is None:
        return ""
    there = f"pool {pool} of {cluster}" if pool else cluster
    more = len(holders.own) - _REPLICAS
    held_by = [*holders.own[:_REPLICAS], *([f"{count(more, 'replica')} more"] if more > 0 else [])]
    held_by += [f"{count(holders.others, 'replica')} of other namespaces"] if holders.others else []
    if held_by:
        return f"{there} is held by {listed(held_by)}"
    # A pool that nothing holds is too small, or has no nodes at all.
    return f"nothing holds {there}: raise its nodeCount or maxNodeCount" if pool else f"nothing holds {there}"


def listed(texts: Sequence[str]) -> str:
    """Return e.g. `a, b and c`."""
    return f"{', '.join(texts[:-1])} and {texts[-1]}" if len(texts) > 1 else "".join(texts)


def _text(refusal: Refusal, *, at_most: bool, name_engine: bool) -> str:
    match refusal:
        case NoDevice(engine, request, _, closest):
            text = _request(request, engine if name_engine else "") + _found(closest)
        case TooFewDevices(engine, request, has, needs):
            asks = f"{_request(request, engine if name_engine else '')} needs {count(needs, 'device')}"
            text = f"{asks} of a node, which has {has} for it"
        case SelectorError(selector, device, why):
            error = f": {quote(why, WHOLE)}" if why else ""
            fails = f"selector `{quote(selector)}` fails on device {device}{error}"
            text = f"{fails} (correct it for every device of the class)"
        case NotClaimable(engine):
            text = f"engine {engine} would claim no device (request one that a DRA driver publishes)"
        case NodeUndeclared(engine, kind, needs):
            undeclared = f"and nodePools[].node.{kind} of the InferenceCluster does not say what a node has"
            text = f"engine {engine} needs {write_amount(kind, needs)} {kind} on a node, {undeclared}"
        case NodeTooSmall(engine, kind, needs, has):
            amounts = (write_amount(kind, each) for each in (needs, has))
            text = "engine {} needs {} {kind} on a node, which has {}".format(engine, *amounts, kind=kind)
        case NoRoom(engine, needs, free, lacked):
            short = _lacked(lacked, at_most=at_most) if lacked else ""
            short = short or f"needs {count(needs, 'node')}, {'at most ' * at_most}{free} free"
            text = f"no room for engine {engine}: {short}"
        case SearchBound(postponed=True):
            text = "not looked at yet (the next pass continues)"
        case SearchBound(states):
            remedy = "narrow spec.clusterSelector or the device selectors, or request fewer devices"
            text = f"not decided within {states} states of the search ({remedy})"
        case _:
            text = _of_cluster(refusal)
    return text


def _lacked(lacked: LackedResource, *, at_most: bool) -> str:
    """Return how much of CPU, memory or pods an engine needs, and how much is free."""
    if lacked.kind == "pods":
        return f"needs slots for {count(lacked.needs, 'pod')} without devices, {'at most ' * at_most}{lacked.free} free"
    needs, free = (write_amount(lacked.kind, each) for each in (lacked.needs, lacked.free))
    return f"needs {needs} {lacked.kind} on a node, {'at most ' * at_most}{free} free"


def write_amount(kind: str, amount: int) -> str:
    """Return an amount of CPU or memory, as `Resources` counts it, as a quantity."""
    if kind == "cpu":
        return f"{amount // 1000}" if amount % 1000 == 0 else f"{amount}m"
    units = (("Gi", 30), ("Mi", 20), ("Ki", 10))
    return next((f"{amount >> bits}{unit}" for unit, bits in units if amount % (1 << bits) == 0), f"{amount}")


def _of_cluster(refusal: Refusal) -> str:
    """Return a reason that the cluster itself has, in words."""
    match refusal:
        case Tainted(key):
            text = f"tainted ({key})"
        case NotAllowed(namespace, key, value):
            text = f"closed to namespace {namespace}, which lacks label {key}={value}"
        case MetadataDenied(key):
            text = f"not open to pods with {key}"
        case SelectorMismatch(key, value):
            text = f"without label {key}={value}"
        case OutsideCache(cache) | NoCacheStorage(cache):
            outside = isinstance(refusal, OutsideCache)
            text = f"{'outside' if outside else 'without storage class for'} ModelCache {cache}"
        case _:
            text = _PLAIN[type(refusal)]
    return text


def _request(name: str, engine: str) -> str:
    return f"request {name} of engine {engine}" if engine else f"request {name}"
