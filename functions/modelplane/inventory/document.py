"""The document that is published: an inventory, and what the process that follows has to remember of it.

A document that would be too large has less: first without the names of nodes, with which a process that starts anew
waits again before it counts losses; then with an error instead of nodes, with which what is declared counts.
"""

import json
from collections.abc import Mapping
from typing import Any

from modelplane.inventory.memory import Remembered, inventory_of
from modelplane.inventory.nodes import NodeKey
from modelplane.model.inventory import LARGEST, VERSION, NodeState, PublishedDevices, attributes_of
from modelplane.observed.fields import mapping, mappings, number, texts
from modelplane.observed.inventory import read_state


def _devices(each: PublishedDevices) -> dict[str, Any]:
    capacity = {name: {"value": value} for name, value in each.capacity}
    found = {"attributes": attributes_of(each), "capacity": capacity, "unhealthy": each.unhealthy}
    return {"driver": each.driver, "count": each.count, **{key: value for key, value in found.items() if value}}


def _state(state: NodeState) -> dict[str, Any]:
    found = {
        "cpu": state.allocatable.cpu,
        "memory": state.allocatable.memory,
        "pods": state.pods,
        "taints": list(state.taints),
        "usedBy": state.used_by,
        "devices": [_devices(each) for each in state.devices],
    }
    return {"ready": state.ready, **{key: value for key, value in found.items() if value}}


def encode(remembered: Remembered, uid: str, now: int) -> str:
    """Return the document, of at most `LARGEST` bytes."""
    whole = _body(remembered, uid, now)
    groups = [group for groups in whole["pools"].values() for group in groups]
    text = _written(whole)
    if len(text) > LARGEST:
        text = _written({**whole, "pools": {pool: _nameless(found) for pool, found in whole["pools"].items()}})
    if len(text) > LARGEST:
        error = f"{len(groups)} different states of nodes in {len(whole['pools'])} pools are more than a document holds"
        text = _written({**{key: whole[key] for key in ("version", "clusterUID", "at", "begun")}, "error": error})
    return text


def _nameless(groups: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{key: value for key, value in group.items() if key not in ("names", "losses")} for group in groups]


def _written(body: Mapping[str, Any]) -> str:
    return json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=True)


def _body(remembered: Remembered, uid: str, now: int) -> dict[str, Any]:
    inventory = inventory_of(remembered, uid, now)
    names: dict[tuple[str, NodeState], list[str]] = {}
    for (pool, name), state in remembered.counted.items():
        names.setdefault((pool, state), []).append(name)
    pools = {
        pool: [_group(state, sorted(names[pool, state]), pool, remembered) for state, _ in groups]
        for pool, groups in inventory.groups.items()
    }
    begun = {"begun": remembered.begun, "settled": inventory.settled}
    return {"version": VERSION, "clusterUID": uid, "at": now, **begun, "pools": pools}


def _group(state: NodeState, names: list[str], pool: str, remembered: Remembered) -> dict[str, Any]:
    losses = {name: remembered.losses[pool, name] for name in names if (pool, name) in remembered.losses}
    return {**_state(state), "nodes": len(names), "names": names} | ({"losses": losses} if losses else {})


def recall(document: str, uid: str) -> Remembered | None:
    """Return what a process before has left, None where that is not all of it, or of another cluster."""
    try:
        body = mapping(json.loads(document))
    except ValueError:
        return None
    if body.get("version") != VERSION or body.get("clusterUID") != uid or "pools" not in body:
        return None
    counted: dict[NodeKey, NodeState] = {}
    losses: dict[NodeKey, int] = {}
    for pool, groups in mapping(body["pools"]).items():
        for group in mappings(groups):
            state, names = read_state(group), list(texts(group.get("names")))
            if state is None or len(names) != number(group.get("nodes"), -1):
                return None
            counted |= {(pool, name): state for name in names}
            since = mapping(group.get("losses"))
            losses |= {(pool, name): number(since[name], 0) for name in names if name in since}
    return Remembered(number(body.get("begun"), 0), counted, losses)
