"""Reads the document that `modelplane inventory` publishes on a cluster. What it does not understand, it names."""

import json
from collections.abc import Mapping
from typing import Any, Final

from modelplane.model.inventory import LARGEST, VERSION, Inventory, NodeState, PublishedDevices
from modelplane.model.names import INVENTORY, INVENTORY_KEY
from modelplane.model.resources import Resources
from modelplane.observed.fields import excerpt, mapping, text

#: More nodes than any pool has. A document is written by another cluster, and numbers are multiplied.
_MOST: Final = 100_000
#: CPU in thousandths and memory in bytes are below this.
_MOST_RESOURCES: Final = 2**60
_TYPES: Final = {"string": str, "version": str, "bool": bool, "int": int}
_NAMED: Final = f"ConfigMap {INVENTORY}/{INVENTORY}, key {INVENTORY_KEY}"


class _UnreadableError(ValueError):
    """A field of a document that no inventory writes; the text names it."""


def read_inventory(manifest: Mapping[str, Any] | None, uid: str) -> Inventory | str:
    """Return the inventory in a cluster's ConfigMap, or why there is none; `uid` is that of the cluster."""
    document = text(mapping(mapping(manifest).get("data")).get(INVENTORY_KEY))
    if not document:
        return f"{_NAMED}: nothing is published yet"
    if len(document.encode()) > LARGEST:
        return f"{_NAMED}: has {len(document.encode())} bytes, more than {LARGEST}"
    try:
        return _inventory(json.loads(document), uid)
    except _UnreadableError as error:
        return f"{_NAMED}: {error}"
    except (ValueError, RecursionError):
        return f"{_NAMED}: is no JSON"


def _inventory(found: Any, uid: str) -> Inventory:
    body = mapping(found)
    version = body.get("version")
    if version != VERSION:
        raise _UnreadableError(
            f"has version {excerpt(json.dumps(version))}, and this version of Modelplane reads {VERSION}. Both are "
            "equal once the image of the inventory is that of the functions"
        )
    if text(body.get("clusterUID")) != uid:
        raise _UnreadableError(
            f"is of the cluster with uid {excerpt(body.get('clusterUID')) or 'none'}, and this one has {uid}"
        )
    if text(body.get("error")):
        raise _UnreadableError(excerpt(body["error"]))
    if not isinstance(body.get("pools"), dict) or not isinstance(body.get("settled"), bool):
        raise _UnreadableError("has no field pools, or no field settled")
    groups = {pool: tuple(_group(pool, each) for each in _list(pool, of)) for pool, of in body["pools"].items()}
    return Inventory(uid, _whole(body.get("at"), "at", _MOST_RESOURCES), body["settled"], groups)


def _list(where: str, value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise _UnreadableError(f"{where} is no list")
    return value


def _whole(value: Any, where: str, most: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= most:
        raise _UnreadableError(
            f"{where} is {excerpt(json.dumps(value))[:64]}, and a whole number up to {most} is expected"
        )
    return value


def _group(pool: str, group: Any) -> tuple[NodeState, int]:
    state = read_state(mapping(group))
    if state is None:
        raise _UnreadableError(f"a node of pool {excerpt(pool)[:63]} cannot be read")
    return state, _whole(mapping(group).get("nodes"), f"pools[{excerpt(pool)[:63]}].nodes", _MOST)


def read_state(group: Mapping[str, Any]) -> NodeState | None:
    """Return the state of the nodes of a group, None if it cannot be read."""
    try:
        cpu, memory, pods = (_whole(group.get(key, 0), key, _MOST_RESOURCES) for key in ("cpu", "memory", "pods"))
        taints, ready = _list("taints", group.get("taints", [])), group.get("ready")
        if not isinstance(ready, bool) or not all(isinstance(each, str) for each in taints):
            return None
        devices = tuple(_devices(mapping(each)) for each in _list("devices", group.get("devices", [])))
    except _UnreadableError:
        return None
    return NodeState(ready, Resources(cpu, memory), pods, tuple(taints), text(group.get("usedBy")), devices)


def _devices(entry: Mapping[str, Any]) -> PublishedDevices:
    driver = text(entry.get("driver"))
    if not driver:
        raise _UnreadableError("devices have no driver")
    return PublishedDevices(
        driver=driver,
        count=_whole(entry.get("count"), "count", _MOST),
        attributes=tuple(_attribute(name, value) for name, value in sorted(mapping(entry.get("attributes")).items())),
        capacity=tuple(
            (name, text(mapping(value).get("value"))) for name, value in sorted(mapping(entry.get("capacity")).items())
        ),
        unhealthy=_whole(entry.get("unhealthy", 0), "unhealthy", _MOST),
    )


def _attribute(name: str, value: Any) -> tuple[str, str, str | bool | int]:
    for kind, held in mapping(value).items():
        if isinstance(held, str | bool | int) and type(held) is _TYPES.get(kind):
            return name, kind, held
    raise _UnreadableError(f"attribute {excerpt(name)} has no value")
