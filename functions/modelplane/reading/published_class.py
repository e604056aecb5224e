"""An InferenceClass from what the nodes of a pool publish, as the inventory of their cluster has it. Pure."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from modelplane.kube.object import PROVIDER_API
from modelplane.model.fleet import ClaimKind
from modelplane.model.inventory import Inventory, PublishedDevices
from modelplane.model.names import API_VERSION, GROUP, INVENTORY, SYSTEM_NAMESPACE
from modelplane.observed.inventory import read_inventory
from modelplane.observed.remote import read_remote
from modelplane.reading.composed_tree import list_references
from modelplane.reading.reader import Reader, as_object
from modelplane.reading.tree import Manifest, Tree, child, clone, items, mapping

#: Most devices of an entry, attributes or capacities of one, and characters of a text, that an InferenceClass takes.
_MOST_DEVICES: Final = 64
_MOST_KEYS: Final = 32
_MOST_TEXT: Final = 253
_MOST_QUANTITY: Final = 32
_PROVIDER: Final = PROVIDER_API.partition("/")[0]
#: Its DeviceClass has the same name, by NVIDIA's chart.
_SAME_NAME: Final = "gpu.nvidia.com"
#: What NVIDIA's driver publishes for ComputeDomains: no engine claims it.
_NOT_CLAIMED: Final = "compute-domain.nvidia.com"


@dataclass(frozen=True, slots=True)
class PublishedClass:
    """An InferenceClass, and what it says of the nodes that is not all that they publish."""

    manifest: Tree
    notes: tuple[str, ...] = ()


def build_class(name: str, pool: str, inventory: Inventory, declared: Manifest | None) -> PublishedClass | None:
    """Return the InferenceClass `name` of a pool, None where no node of it publishes a device that fits into a class.

    It has the devices that most of the nodes publish. Of the class that is declared, if there is one, everything stays
    that no driver publishes: names of entries, DeviceClasses, synthetic devices, capabilities and how nodes are made;
    devices of drivers that it does not declare are left out.
    """
    notes: list[str] = []
    entries = [each for each in items(declared, "spec", "devices") if each.get("claim") != ClaimKind.SYNTHETIC]
    drivers = {each.get("driver") for each in entries}
    kinds = []
    for each in _most_common(pool, inventory, notes):
        if each.driver not in drivers if drivers else each.driver == _NOT_CLAIMED:
            notes.append(f"pool {pool}: devices of {each.driver} are left out")
        elif each.count > _MOST_DEVICES:
            notes.append(f"pool {pool}: {each.count} devices of {each.driver} are left out: at most {_MOST_DEVICES}")
        else:
            kinds.append(each)
    if not kinds:
        return None
    devices = [*_devices(pool, entries, kinds, notes)]
    synthetic = [each for each in items(declared, "spec", "devices") if each.get("claim") == ClaimKind.SYNTHETIC]
    spec = {**clone(mapping(declared, "spec")), "devices": [*devices, *clone(synthetic)]}
    manifest = {"apiVersion": API_VERSION, "kind": "InferenceClass", "metadata": {"name": name}, "spec": spec}
    return PublishedClass(manifest, tuple(dict.fromkeys(notes)))


def _most_common(pool: str, inventory: Inventory, notes: list[str]) -> tuple[PublishedDevices, ...]:
    """Return what most nodes of a pool publish, healthy or not."""
    found: dict[tuple[PublishedDevices, ...], int] = {}
    for state, nodes in inventory.nodes(pool):
        kinds = tuple(
            PublishedDevices(each.driver, each.count, each.attributes, each.capacity) for each in state.devices
        )
        found[kinds] = found.get(kinds, 0) + nodes
    publishing = {kinds: nodes for kinds, nodes in found.items() if kinds}
    if not publishing:
        return ()
    most = max(publishing, key=lambda kinds: (publishing[kinds], sum(each.count for each in kinds)))
    others = sum(found.values()) - publishing[most]
    if others:
        notes.append(f"pool {pool}: {others} of {sum(found.values())} nodes publish other devices, or none")
    return most


def _devices(
    pool: str, entries: list[Manifest], kinds: list[PublishedDevices], notes: list[str]
) -> Iterator[dict[str, Any]]:
    """Yield an entry of a class for each kind of device, those that are declared in their order first."""
    left = list(kinds)
    names = {str(each.get("name")) for each in entries}
    for entry in entries:
        of_driver = [each for each in left if each.driver == entry.get("driver")]
        if not of_driver:
            notes.append(f"pool {pool}: no device of {entry.get('driver')} is left for devices[{entry.get('name')}]")
            continue
        closest = max(of_driver, key=lambda each: (_alike(entry, each), each.count))
        left.remove(closest)
        yield _entry(str(entry.get("name")), str(entry.get("deviceClassName") or ""), closest, pool, notes)
    for each in left:
        name = _name(each.driver, names)
        names.add(name)
        yield _entry(name, "", each, pool, notes)


def _alike(entry: Manifest, kind: PublishedDevices) -> int:
    """Return how many values that an entry declares a kind of device has."""
    attributes = {name: value for name, _, value in kind.attributes}
    declared = {
        _qualified(name, kind.driver): value
        for name, typed in mapping(entry, "attributes").items()
        for value in (typed.values() if isinstance(typed, Mapping) else ())
    }
    amounts = {
        _qualified(name, kind.driver): child(value, "value") for name, value in mapping(entry, "capacity").items()
    }
    found = [attributes.get(name) == value for name, value in declared.items()]
    found += [dict(kind.capacity).get(name) == value for name, value in amounts.items()]
    return found.count(True)


def _qualified(name: str, driver: str) -> str:
    return name if "/" in name else f"{driver}/{name}"


def _name(driver: str, taken: set[str]) -> str:
    """Return a name for a kind of device: gpu for gpu.nvidia.com, gpu-2 for the next one."""
    first = driver.partition(".")[0][:60]
    number = 1
    while (name := first if number == 1 else f"{first}-{number}") in taken:
        number += 1
    return name


def _entry(name: str, device_class: str, kind: PublishedDevices, pool: str, notes: list[str]) -> dict[str, Any]:
    if not device_class and kind.driver != _SAME_NAME:
        notes.append(
            f"pool {pool}: devices[{name}].deviceClassName: nodes publish none. {kind.driver} is the name of the "
            "driver: replace it if the cluster's DeviceClass has another one"
        )
    attributes = {
        _bare(key, kind.driver): {typed: value}
        for key, typed, value in kind.attributes
        if len(str(value)) <= (_MOST_QUANTITY if typed == "version" else _MOST_TEXT)
    }
    capacity = {
        _bare(key, kind.driver): {"value": value} for key, value in kind.capacity if 0 < len(value) <= _MOST_QUANTITY
    }
    left_out = len(kind.attributes) - len(attributes) + len(kind.capacity) - len(capacity)
    left_out += sum(max(0, len(each) - _MOST_KEYS) for each in (attributes, capacity))
    if left_out:
        notes.append(f"pool {pool}: devices[{name}]: {left_out} values are left out that a class does not take")
    entry = {"name": name, "driver": kind.driver, "deviceClassName": device_class or kind.driver, "count": kind.count}
    found = {"attributes": _first(attributes), "capacity": _first(capacity)}
    return entry | {key: value for key, value in found.items() if value}


def _bare(name: str, driver: str) -> str:
    return name.removeprefix(f"{driver}/")


def _first(values: dict[str, Any]) -> dict[str, Any]:
    return dict(list(values.items())[:_MOST_KEYS])


def find_inventory(reader: Reader, cluster: Manifest) -> Inventory | str:
    """Return what the inventory of an InferenceCluster publishes, or why there is nothing."""
    keys = [key for _, kind, key in list_references(cluster) if kind == "Object"]
    for key in keys:
        body = reader.get(*key)
        remote = read_remote(as_object(reader, body)) if body else None
        if remote and (remote.kind, child(remote.wanted, "metadata", "name")) == ("ConfigMap", INVENTORY):
            return read_inventory(remote.manifest, str(child(cluster, "status", "clusterUID") or ""))
    return (
        "none of the Objects that it composes, as far as they can be read, observes an inventory. Set "
        f"spec.stack.inventory to Managed, and read Objects too (get objects.{_PROVIDER} in {SYSTEM_NAMESPACE})"
    )


def build_classes(
    reader: Reader, cluster: Manifest, inventory: Inventory, pools: Iterable[str]
) -> tuple[list[Tree], list[str]]:
    """Return the InferenceClasses of pools, and notes on them.

    Each has the name that its pool gives it, else that of the pool. Pools that share a class and publish different
    devices get one each.
    """
    named = {str(each.get("name")): str(each.get("className")) for each in items(cluster, "spec", "nodePools")}
    found: dict[str, Tree] = {}
    notes: list[str] = []
    for pool in pools:
        name = named.get(pool, pool)
        built = build_class(name, pool, inventory, reader.get(f"InferenceClass.{GROUP}", None, name))
        if built is None:
            notes.append(f"pool {pool}: no node publishes a device that a class takes")
            continue
        notes += built.notes
        manifest = built.manifest
        if found.setdefault(name, manifest)["spec"] != manifest["spec"]:
            notes.append(f"pool {pool}: its nodes publish other devices than the other pools of InferenceClass {name}")
            manifest["metadata"]["name"] = pool
            found[pool] = manifest
    return list(found.values()), notes
