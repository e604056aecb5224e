"""The devices that ResourceSlices publish for each node, as the scheduler counts them."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from modelplane.model.inventory import PublishedDevices
from modelplane.observed.fields import mapping, mappings, number, text

#: Attributes that name one device, and are no property of its kind; below any domain.
_NAMING: Final = frozenset(
    {"uuid", "parentUUID", "pciBusID", "pcieBusID", "pcieRoot", "pciAddress", "minor", "parentMinor", "index"}
    | {"parentIndex", "placement", "numaNode", "ifName", "mac", "ip", "ipv4", "ipv6", "rdmaDevice", "serial"}
)
#: Effects of a device's taint with which no pod gets it that does not tolerate it.
_KEEPS_AWAY: Final = ("NoSchedule", "NoExecute")
_TYPES: Final = {"string": str, "version": str, "bool": bool, "int": int}

#: A driver and the name of one of its pools: what a claim's result names.
DevicePool = tuple[str, str]


def _current(slices: Iterable[Mapping[str, Any]]) -> Iterator[tuple[DevicePool, list[Mapping[str, Any]]]]:
    """Yield the slices of each pool's newest generation, of those that are complete: others are not allocated from."""
    pools: dict[DevicePool, list[Mapping[str, Any]]] = {}
    for each in slices:
        spec = mapping(each.get("spec"))
        pools.setdefault((text(spec.get("driver")), text(mapping(spec.get("pool")).get("name"))), []).append(spec)
    for key, specs in pools.items():
        generations = [number(mapping(spec.get("pool")).get("generation"), 0) for spec in specs]
        newest = [spec for spec, at in zip(specs, generations, strict=True) if at == max(generations)]
        wanted = number(mapping(newest[0].get("pool")).get("resourceSliceCount"), 1)
        if len(newest) == wanted:
            yield key, newest


def _qualified(name: str, driver: str) -> str:
    return name if "/" in name else f"{driver}/{name}"


def _attributes(device: Mapping[str, Any], driver: str) -> tuple[tuple[str, str, str | bool | int], ...]:
    found: list[tuple[str, str, str | bool | int]] = []
    for name, value in mapping(device.get("attributes")).items():
        if name.rpartition("/")[2] in _NAMING:
            continue
        for kind, expected in _TYPES.items():
            held = mapping(value).get(kind)
            if isinstance(held, str | bool | int) and type(held) is expected:
                found.append((_qualified(name, driver), kind, held))
    return tuple(sorted(found, key=lambda each: each[:2]))


def _capacity(device: Mapping[str, Any], driver: str) -> tuple[tuple[str, str], ...]:
    values = ((name, mapping(value).get("value")) for name, value in mapping(device.get("capacity")).items())
    return tuple(sorted((_qualified(name, driver), str(value)) for name, value in values if value is not None))


def _is_unhealthy(device: Mapping[str, Any]) -> bool:
    return any(taint.get("effect") in _KEEPS_AWAY for taint in mappings(device.get("taints")))


def devices_by_node(
    slices: Iterable[Mapping[str, Any]],
) -> tuple[dict[str, tuple[PublishedDevices, ...]], dict[DevicePool, str]]:
    """Return the devices of each node by its name, and the node of each pool of devices."""
    counts: dict[str, Counter[tuple[Any, ...]]] = {}
    unhealthy: dict[str, Counter[tuple[Any, ...]]] = {}
    places: dict[DevicePool, str] = {}
    for (driver, pool), specs in _current(slices):
        for spec in specs:
            node = text(spec.get("nodeName"))
            if not node:
                continue  # devices of no node alone: no pool's nodes have them
            places[driver, pool] = node
            for device in mappings(spec.get("devices")):
                kind = driver, _attributes(device, driver), _capacity(device, driver)
                counts.setdefault(node, Counter())[kind] += 1
                unhealthy.setdefault(node, Counter())[kind] += _is_unhealthy(device)
    found = {
        node: tuple(
            PublishedDevices(driver, count, attributes, capacity, unhealthy[node][driver, attributes, capacity])
            for (driver, attributes, capacity), count in sorted(of_node.items())
        )
        for node, of_node in counts.items()
    }
    return found, places
