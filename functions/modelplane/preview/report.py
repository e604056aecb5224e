"""What a preview came to, as the JSON that `modelplane preview -o json` prints, and the exit code that it means."""

from collections.abc import Iterator

from modelplane.model.names import GROUP
from modelplane.preview.control_plane import ControlPlane
from modelplane.preview.definitions import xrds
from modelplane.preview.tree import Manifest, Tree, child, items, mapping
from modelplane.runtime.secrets import without_secrets

PLACED, REFUSED, BAD_INPUT, UNSETTLED = 0, 1, 2, 3


def report(control: ControlPlane, *, settled: bool) -> Tree:
    """Return the outcome of a preview: every deployment's placements and shortfall, and every object, no Secret's data.

    `settled` is what `settle` said.
    """
    deployments = control.list(f"ModelDeployment.{GROUP}")
    return {
        "settled": settled,
        "passes": control.passes,
        "deployments": [_deployment(obj) for obj in deployments],
        "objects": [without_secrets(obj) for obj in control.everything()],
    }


def exit_code(outcome: Manifest) -> int:
    """Return 0 when everything is placed, 1 when something is unplaced or refused, 3 when it did not settle."""
    if not outcome["settled"]:
        return UNSETTLED
    unplaced = any(deployment["unplaced"] for deployment in outcome["deployments"])
    return REFUSED if unplaced or any(refusals(outcome)) else PLACED


def refusals(outcome: Manifest) -> Iterator[tuple[str, str]]:
    """Yield what was refused although nothing is missing for it: the object, and why."""
    for deployment in outcome["deployments"]:
        scheduled: Tree = next((c for c in deployment["conditions"] if c["type"] == "ReplicasScheduled"), {})
        if scheduled.get("status") == "False" and not deployment["unplaced"]:
            name = f"{deployment['namespace']}/{deployment['name']}"
            yield f"ModelDeployment {name}", f"{scheduled['reason']}: {scheduled['message']}"
    kinds = xrds()
    for obj in outcome["objects"]:
        if obj["kind"] not in kinds or not obj["apiVersion"].startswith(f"{GROUP}/"):
            continue
        for said in items(obj, "status", "conditions"):
            if said.get("type") in {"Synced", "Accepted"} and said.get("status") == "False":
                name = "/".join(filter(None, (obj["metadata"].get("namespace"), obj["metadata"]["name"])))
                yield f"{obj['kind']} {name}", f"{said.get('reason')}: {said.get('message', '')}"


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
