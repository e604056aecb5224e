"""How many nodes of each pool can be used, by the inventory of its cluster, and what differs from the class. Pure.

A node that is not Ready, lacks something that is declared, or has devices that others have claimed is no node of its
pool: the pool has one node less, and the rules of room stay as they are. Nothing counts beyond what is declared.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from modelplane.cel.quantity import QuantityError, parse
from modelplane.model.fleet import ClaimKind
from modelplane.model.inventory import Inventory, NodeState, PublishedDevices
from modelplane.observed.fields import count, mapping, mappings, text
from modelplane.observed.resources import read_node

_MOST_WORDS: Final = 1024
#: Most characters that are repeated of a published value.
_MOST_VALUE: Final = 128


class BoundReason(StrEnum):
    """Why nodes of a pool cannot be used."""

    NODES_MISSING = "NodesMissing"
    NOT_PUBLISHED = "NotPublished"
    USED_BY_OTHERS = "UsedByOthers"


@dataclass(frozen=True, slots=True)
class PoolBound:
    """The nodes of a pool that replicas are placed on, and why they are fewer than declared."""

    nodes: int
    reason: BoundReason
    message: str

    def published(self) -> dict[str, Any]:
        """Return it as in the status of an InferenceCluster."""
        return {"nodes": self.nodes, "reason": str(self.reason), "message": self.message}


def find_bound(entry: Mapping[str, Any], inventory: Inventory, *, grows: bool) -> PoolBound | None:
    """Return the bound of a published pool, None where as many nodes as declared can be used.

    `grows`: an autoscaler makes nodes when they are needed, so that none of it is missing.
    """
    declared, name = count(entry.get("nodes")), text(entry.get("name"))
    usable = 0
    lost: dict[BoundReason, int] = {}
    words: dict[tuple[BoundReason, str], int] = {}
    for state, nodes in inventory.nodes(name):
        found = _why_not(entry, state)
        if found is None:
            usable += nodes
        elif not (grows and found[0] is BoundReason.NODES_MISSING):
            lost[found[0]] = lost.get(found[0], 0) + nodes
            words[found] = words.get(found, 0) + nodes
    bound = max(usable, declared - sum(lost.values())) if grows else usable
    if bound >= declared:
        return None
    absent = declared - usable - sum(lost.values())
    if absent > 0 and not grows:
        lost[BoundReason.NODES_MISSING] = lost.get(BoundReason.NODES_MISSING, 0) + absent
        words[BoundReason.NODES_MISSING, f"no node has the label modelplane.ai/pool={name}"] = absent
    reason = max(lost, key=lambda each: (lost[each], each))
    ordered = sorted(words.items(), key=lambda each: (-each[1], each[0]))
    said = "; ".join(f"{nodes}: {why}" for (_, why), nodes in ordered)
    message = f"{bound} of {declared} nodes can be used. Of the others {said}"
    return PoolBound(bound, reason, message[:_MOST_WORDS])


def _why_not(entry: Mapping[str, Any], state: NodeState) -> tuple[BoundReason, str] | None:
    """Return why such nodes cannot be used, None if they can."""
    if not state.ready:
        return BoundReason.NODES_MISSING, "not Ready, or cordoned"
    for taint in state.taints:
        if not _is_tolerated(taint, mappings(entry.get("tolerations"))):
            return BoundReason.NODES_MISSING, f"taint {taint}, which the pool's tolerations lack"
    lacking = _lacking_devices(entry, state) or _lacking_resources(entry, state)
    if lacking:
        return BoundReason.NOT_PUBLISHED, lacking
    if state.used_by:
        return BoundReason.USED_BY_OTHERS, f"devices are allocated to ResourceClaim {state.used_by}"
    return None


def _is_tolerated(taint: str, tolerations: Iterable[Mapping[str, Any]]) -> bool:
    rest, _, effect = taint.rpartition(":")
    key, _, value = rest.partition("=")
    return any(
        text(each.get("effect")) in ("", effect)
        and (
            text(each.get("key")) in ("", key)
            if each.get("operator") == "Exists"
            else (text(each.get("key")), text(each.get("value"))) == (key, value)
        )
        for each in tolerations
    )


def _claimable(entry: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [each for each in mappings(entry.get("devices")) if each.get("claim") != ClaimKind.SYNTHETIC]


def _lacking_devices(entry: Mapping[str, Any], state: NodeState) -> str:
    wanted: dict[str, int] = {}
    for device in _claimable(entry):
        driver = text(device.get("driver"))
        wanted[driver] = wanted.get(driver, 0) + count(device.get("count"), 1)
    for driver, declared in sorted(wanted.items()):
        of_driver = [each for each in state.devices if each.driver == driver]
        has, sick = sum(each.usable for each in of_driver), sum(each.unhealthy for each in of_driver)
        if has < declared:
            unhealthy = f", {sick} more are unhealthy" if sick else ""
            return f"{driver} publishes {has} of {declared} devices{unhealthy}"
    return ""


def _lacking_resources(entry: Mapping[str, Any], state: NodeState) -> str:
    node = read_node(entry.get("node"))
    pods = count(mapping(entry.get("node")).get("pods"))
    has = state.allocatable
    if has.cpu < node.cpu:
        return f"{has.cpu}m CPU of {node.cpu}m"
    if has.memory < node.memory:
        return f"{has.memory} bytes of memory of {node.memory}"
    return f"{state.pods} pods of {pods}" if state.pods < pods else ""


def find_differences(entry: Mapping[str, Any], cluster: str, class_name: str, inventory: Inventory) -> list[str]:
    """Return where no device of a pool is as its class declares: the first key that differs of the closest device."""
    corrected = f"modelplane class --from-cluster {cluster} --pool {text(entry.get('name'))}"
    published = {each for state, _ in inventory.nodes(text(entry.get("name"))) for each in state.devices}
    found = []
    for device in _claimable(entry):
        of_driver = [each for each in published if each.driver == device.get("driver")]
        differing = sorted((_differences(device, each) for each in of_driver), key=lambda each: (len(each), each))
        if differing and differing[0]:
            key, declared, has = differing[0][0]
            where = f"InferenceClass {class_name}, spec.devices[{text(device.get('name'))}]"
            has = has[:_MOST_VALUE]
            found.append(
                f"pool {entry.get('name')}: {where} declares {key} of {device['driver']} as {declared}, and the nodes "
                f"publish {has}. Correct the class: a pod whose selectors read it would wait for ever. "
                f"`{corrected}` prints what to apply"
            )
    return found


def _differences(device: Mapping[str, Any], published: PublishedDevices) -> list[tuple[str, str, str]]:
    """Return the declared keys that a published device does not have with the same value: key, declared, published."""
    driver = published.driver
    has = {name: value for name, _, value in published.attributes}
    found = []
    for name, typed in sorted(mapping(device.get("attributes")).items()):
        value = next(iter(mapping(typed).values()), None)
        other = has.get(name if "/" in name else f"{driver}/{name}")
        if (type(value), value) != (type(other), other):
            found.append((name, str(value), "nothing" if other is None else str(other)))
    amounts = dict(published.capacity)
    for name, amount in sorted(mapping(device.get("capacity")).items()):
        declared, there = str(mapping(amount).get("value")), amounts.get(name if "/" in name else f"{driver}/{name}")
        if there is None or not _is_equal(declared, there):
            found.append((name, declared, there or "nothing"))
    return found


def _is_equal(first: str, second: str) -> bool:
    try:
        return parse(first).number() == parse(second).number()
    except QuantityError:
        return first == second
