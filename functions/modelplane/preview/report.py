"""What a preview came to, as the JSON that `modelplane preview -o json` prints, and the exit code that it means."""

from collections.abc import Collection

from modelplane.model.names import GROUP
from modelplane.preview.control_plane import ControlPlane
from modelplane.preview.definitions import xrds
from modelplane.preview.kinds import Key, key_of
from modelplane.preview.tree import Manifest, Tree, child, items, mapping
from modelplane.step.secrets import mask_secrets, seal_secrets

PLACED, REFUSED, BAD_INPUT, UNSETTLED = 0, 1, 2, 3


def report(control: ControlPlane, *, settled: bool) -> Tree:
    """Return the outcome of a preview: every deployment's placements and shortfall, and every object, Secrets sealed.

    `settled` is what `settle` said.
    """
    deployments = control.list(f"ModelDeployment.{GROUP}")
    return {
        "settled": settled,
        "passes": control.passes,
        "deployments": [_deployment(obj) for obj in deployments],
        "objects": [dict(mask_secrets(seal_secrets(obj))) for obj in control.everything()],
    }


def exit_code(outcome: Manifest, refused: Collection[object]) -> int:
    """Return 0 when everything is placed, 1 when something is unplaced or refused, 3 when it did not settle."""
    if not outcome["settled"]:
        return UNSETTLED
    return REFUSED if refused or any(deployment["unplaced"] for deployment in outcome["deployments"]) else PLACED


def refusals(control: ControlPlane, outcome: Manifest) -> list[tuple[str, str]]:
    """Return what was refused although nothing is missing for it, each object with why."""
    found = {}
    for deployment in outcome["deployments"]:
        scheduled: Tree = next((c for c in deployment["conditions"] if c["type"] == "ReplicasScheduled"), {})
        if scheduled.get("status") == "False" and not deployment["unplaced"]:
            key = Key(f"ModelDeployment.{GROUP}", deployment["namespace"], deployment["name"])
            found[key] = f"{scheduled['reason']}: {scheduled['message']}"
    for kind in xrds():
        for obj in control.list(f"{kind}.{GROUP}"):
            for said in items(obj, "status", "conditions"):
                if said.get("type") in {"Synced", "Accepted"} and said.get("status") == "False":
                    found[key_of(obj)] = f"{said.get('reason')}: {said.get('message', '')}"
    # The error of a pass whose status could not be written stands in no condition.
    found = {**{key: why for key, why in control.errors.items() if control.get(*key)}, **found}
    return [(_named(key), why) for key, why in sorted(found.items())]


def _named(key: Key) -> str:
    return f"{key.kind.partition('.')[0]} {'/'.join(filter(None, key[1:]))}"


def _deployment(obj: Manifest) -> Tree:
    metadata, status = obj["metadata"], mapping(obj, "status")
    asked: int = child(obj, "spec", "replicas")
    placed = sorted((_placement(entry) for entry in items(status, "placements")), key=_place)
    unplaced = max(0, asked - sum(not entry["leaving"] for entry in placed))
    return {
        "namespace": metadata["namespace"],
        "name": metadata["name"],
        "replicas": asked,
        "placed": placed,
        "unplaced": unplaced,
        "reasons": [
            {"reason": entry.get("reason", ""), "count": entry.get("count", 0), "message": entry.get("message", "")}
            for entry in (items(status, "reasons") if unplaced else ())
        ],
        "conditions": [
            {**{field: entry[field] for field in ("type", "status", "reason")}, "message": entry.get("message", "")}
            for entry in items(status, "conditions")
        ],
    }


def _placement(entry: Manifest) -> Tree:
    return {
        "name": entry.get("name", ""),
        "cluster": entry.get("cluster", ""),
        "index": entry.get("index", 0),
        "pools": entry.get("pools", {}),
        "ready": entry.get("ready", False),
        "leaving": entry.get("leaving", False),
    }


def _place(entry: Manifest) -> tuple[str, int]:
    return entry["cluster"], entry["index"]
