"""The deployments of a fleet and the refused objects, from the objects' status."""

from modelplane.model.conditions import DeploymentCondition
from modelplane.model.names import GROUP
from modelplane.reading.definitions import xrds
from modelplane.reading.exposure import find_services
from modelplane.reading.kinds import Key, key_of
from modelplane.reading.reader import Reader
from modelplane.reading.tree import Manifest, Tree, child, items, mapping
from modelplane.scheduling.words import remedy_of

DEPLOYMENT = f"ModelDeployment.{GROUP}"
#: Conditions that only say that another one is not True.
_SUMMARIES = frozenset({"Ready"})
#: Conditions whose True says that something is under way or astray.
_NEGATIVE = frozenset({DeploymentCondition.ROLLOUT_PROGRESSING, DeploymentCondition.PLACEMENT_DRIFTED})


def deployments(reader: Reader) -> list[Tree]:
    """Return every deployment's placements, shortfall and conditions, sorted by namespace and name.

    `unplaced` counts the replicas that are not placed; leaving ones do not count as placed. `placed` is sorted by
    cluster and index; `reasons` is empty when nothing is unplaced. `serving` counts the replicas that serve now with
    their present spec, `updated` those of them whose spec is as the deployment asks. `services` names the ModelServices
    that select its replicas.
    """
    return [{**read_deployment(obj), "services": find_services(reader, obj)} for obj in reader.list(DEPLOYMENT)]


def refusals(reader: Reader) -> dict[Key, str]:
    """Return the objects that are refused although all of their replicas are placed, each with why."""
    found = {}
    for obj in reader.list(DEPLOYMENT):
        scheduled = condition(obj, "ReplicasScheduled")
        if scheduled.get("status") == "False" and not read_deployment(obj)["unplaced"]:
            found[key_of(obj)] = f"{scheduled['reason']}: {scheduled['message']}"
    for kind in xrds():
        for obj in reader.list(f"{kind}.{GROUP}"):
            for one in items(obj, "status", "conditions"):
                if one.get("type") in {"Synced", "Accepted"} and one.get("status") == "False":
                    found[key_of(obj)] = f"{one.get('reason')}: {one.get('message', '')}"
    return found


def condition(obj: Manifest, kind: str) -> Manifest:
    """Return the condition of a type, an empty one when the object has none."""
    return next((one for one in items(obj, "status", "conditions") if one.get("type") == kind), {})


def unmet_conditions(obj: Manifest) -> list[Manifest]:
    """Return the conditions that are not as they should be, those that only sum up others where there is no other."""
    found = [each for each in items(obj, "status", "conditions") if each.get("status") != _wanted(each)]
    return [each for each in found if each.get("type") not in _SUMMARIES] or found


def _wanted(found: Manifest) -> str:
    return "False" if found.get("type") in _NEGATIVE else "True"


def ready_message(deployment: Manifest) -> str:
    """Return why a deployment (as `deployments` returns it) is not Ready, "" where it is."""
    kinds = {each["type"]: each for each in deployment["conditions"]}
    if kinds.get("Ready", {}).get("status") == "True":
        return ""
    if deployment["reasons"]:
        return "; ".join(str(each["message"]) for each in deployment["reasons"])
    said = (kinds.get(kind, {}) for kind in ("Synced", "ReplicasScheduled", "ReplicasReady", "Ready"))
    return next((f"{each['reason']}: {each['message']}" for each in said if each.get("status") == "False"), "not Ready")


def read_deployment(obj: Manifest) -> Tree:
    """Return a deployment as `deployments` does, without its services."""
    metadata, status = obj["metadata"], mapping(obj, "status")
    replicas = child(obj, "spec", "replicas")
    wanted = replicas if isinstance(replicas, int) else 1
    placed = sorted((_placement(entry) for entry in items(status, "placements")), key=_place)
    unplaced = max(0, wanted - sum(not entry["leaving"] for entry in placed))
    return {
        "namespace": metadata["namespace"],
        "name": metadata["name"],
        "revision": status.get("revision", ""),
        "replicas": wanted,
        "placed": placed,
        "updated": child(status, "replicas", "updated") or 0,
        "serving": sum(entry["serving"] for entry in placed),
        "unplaced": unplaced,
        "reasons": [
            {
                "reason": entry.get("reason", ""),
                "count": entry.get("count", 0),
                "message": entry.get("message", ""),
                **({"profile": entry["profile"]} if entry.get("profile") else {}),
            }
            for entry in (items(status, "reasons") if unplaced else ())
        ],
        "remedy": _remedy([*items(status, "reasons")] if unplaced else []),
        "warnings": [warning for warning in status.get("warnings") or () if isinstance(warning, str)],
        "conditions": [
            {field: entry.get(field, "") for field in ("type", "status", "reason", "message")}
            for entry in items(status, "conditions")
        ],
    }


def _remedy(reasons: list[Manifest]) -> str:
    """Return what to do about the refusal that came closest to a placement, "" where its message says it."""
    named = [entry.get("reason", "") for entry in reasons if entry.get("remedy")]
    return remedy_of(named) if named else ""


def _placement(entry: Manifest) -> Tree:
    return {
        "name": entry.get("name", ""),
        "cluster": entry.get("cluster", ""),
        "index": entry.get("index", 0),
        "pools": entry.get("pools", {}),
        "ready": entry.get("ready", False),
        "leaving": entry.get("leaving", False),
        "revision": entry.get("revision", ""),
        "updated": entry.get("updated", False),
        "serving": entry.get("serving", False),
        "profile": entry.get("profile", ""),
        "why": entry.get("why", ""),
    }


def _place(entry: Manifest) -> tuple[str, int]:
    return entry["cluster"], entry["index"]
