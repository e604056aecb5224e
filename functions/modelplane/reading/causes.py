"""Why an object does not do what it should: the deepest cause first, each text whole."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Final

from modelplane.model.conditions import DeploymentCondition
from modelplane.model.names import GROUP, LABEL_DEPLOYMENT
from modelplane.reading.deployments import condition, unmet_conditions
from modelplane.reading.exposure import find_deployments
from modelplane.reading.kinds import Key
from modelplane.reading.reader import Reader
from modelplane.reading.refusals import ClusterRefusal, find_refusals
from modelplane.reading.tree import Manifest, Tree, child, items, mapping

#: Name and version of the JSON that `as_json` returns.
WHY_VERSION: Final = "why.modelplane.ai/v1alpha1"


@dataclass(frozen=True, slots=True)
class Cause:
    """Something that is not as it should be: the object (its kind and reference), and what is said of it, whole."""

    kind: str
    ref: str
    message: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why an object is as it is: what it has, the causes, the deepest first, and why no cluster takes a replica more.

    `refusals` are of deployments that are not placed; `room` is where one more would run now, "" for nowhere.
    """

    kind: str
    ref: str
    ready: bool
    summary: str
    causes: tuple[Cause, ...]
    refusals: tuple[ClusterRefusal, ...]
    room: str
    unknown: tuple[str, ...]


def explain_object(reader: Reader, key: Key, unknown: Iterable[str] = ()) -> Explanation | None:
    """Return why one of our objects is as it is, None where there is none of that key (its kind is `Kind.group`)."""
    obj = reader.get(*key)
    if obj is None:
        return None
    causes = tuple(dict.fromkeys(_causes(reader, obj)))
    unplaced = child(obj, "status", "unplaced")
    refusals, room = find_refusals(reader, obj) if obj["kind"] == "ModelDeployment" and unplaced else ((), "")
    if refusals:
        # They say it whole, and the condition is cut where it is long.
        causes = tuple(each for each in causes if not each.message.startswith(DeploymentCondition.REPLICAS_SCHEDULED))
    ready = condition(obj, "Ready").get("status") == "True"
    return Explanation(obj["kind"], _ref(obj), ready, _summary(obj), causes, refusals, room, tuple(unknown))


def as_json(found: Explanation) -> Tree:
    """Return an explanation as JSON of WHY_VERSION."""
    fields = asdict(found)
    lists = {name: list(fields.pop(name)) for name in ("causes", "refusals", "unknown")}
    return {"apiVersion": WHY_VERSION, **fields, **lists}


def _ref(obj: Manifest) -> str:
    metadata = obj["metadata"]
    return "/".join(filter(None, (metadata.get("namespace"), metadata["name"])))


def _summary(obj: Manifest) -> str:
    """Return what an object has of what it should have, in a few words."""
    status = mapping(obj, "status")
    match obj["kind"]:
        case "ModelDeployment":
            wanted = child(obj, "spec", "replicas")
            wanted = wanted if isinstance(wanted, int) else 1
            placements = [each for each in items(status, "placements") if not each.get("leaving")]
            serving = sum(bool(each.get("serving")) for each in placements)
            return f"{len(placements)} of {wanted} placed, {serving} serving"
        case "ModelService":
            endpoints = mapping(status, "endpoints")
            return f"{endpoints.get('ready', 0)} of {endpoints.get('total', 0)} endpoints take traffic"
        case "ModelCache":
            return f"{child(status, 'summary', 'ready') or '0/0'} clusters have it"
        case "ModelReplica":
            return f"on {child(obj, 'spec', 'clusterName')}"
    return ""


def _causes(reader: Reader, obj: Manifest) -> Iterator[Cause]:
    """Yield the causes below an object, then its own."""
    if below := _BELOW.get(obj["kind"]):
        yield from below(reader, obj)
    yield from _conditions(obj)


def _conditions(obj: Manifest) -> Iterator[Cause]:
    """Yield the conditions of an object that are not True; one that only sums up others where there is no other."""
    if not list(items(obj, "status", "conditions")):
        yield Cause(obj["kind"], _ref(obj), "has no conditions: it was not reconciled")
    for each in unmet_conditions(obj):
        said = f": {each['message']}" if each.get("message") else ""
        yield Cause(obj["kind"], _ref(obj), f"{each.get('type')} {each.get('status')}, {each.get('reason')}{said}")
    if warnings := [each for each in mapping(obj, "status").get("warnings") or () if isinstance(each, str)]:
        yield from (Cause(obj["kind"], _ref(obj), f"warning: {each}") for each in warnings)


def _of_deployment(reader: Reader, obj: Manifest) -> Iterator[Cause]:
    namespace, name = obj["metadata"]["namespace"], obj["metadata"]["name"]
    for reference, kind, within in (("modelRef", "ClusterModel", None), ("modelCacheRef", "ModelCache", namespace)):
        named = child(obj, "spec", reference, "name")
        found = reader.get(f"{kind}.{GROUP}", within, named) if isinstance(named, str) else None
        if found is not None and not _is_good(found):
            yield from _causes(reader, found)
    for replica in reader.list(f"ModelReplica.{GROUP}"):
        labels = mapping(replica, "metadata", "labels")
        own = replica["metadata"]["namespace"] == namespace and labels.get(LABEL_DEPLOYMENT) == name
        if own and not _is_good(replica):
            yield from _causes(reader, replica)


def _is_good(obj: Manifest) -> bool:
    """Tell whether an object is Ready, or accepted if it is of a kind that is never more."""
    kinds = {each.get("type"): each.get("status") for each in items(obj, "status", "conditions")}
    return kinds.get("Ready", kinds.get("Accepted")) == "True"


def _of_replica(reader: Reader, obj: Manifest) -> Iterator[Cause]:
    cluster = str(child(obj, "spec", "clusterName") or "")
    for row in items(obj, "status", "workloads"):
        ready, desired = row.get("ready", 0), row.get("desired", 0)
        if row.get("message") or ready != desired:
            said = f": {row['message']}" if row.get("message") else ""
            ref = f"{row.get('name')} on {cluster}"
            yield Cause(str(row.get("kind")), ref, f"{ready} of {desired} ready{said}")
    found = reader.get(f"InferenceCluster.{GROUP}", None, cluster)
    if found is not None and not _is_good(found):
        yield from _conditions(found)


def _of_service(reader: Reader, obj: Manifest) -> Iterator[Cause]:
    for deployment in find_deployments(reader, obj):
        if not _is_good(deployment):
            yield from _causes(reader, deployment)
    for entry in items(obj, "status", "entries"):
        for each in items(entry, "endpoints"):
            if each.get("state") != "Serving":
                yield Cause("ModelEndpoint", str(each.get("name")), f"entry {entry.get('name')}: {each.get('state')}")


def _of_cache(_: Reader, obj: Manifest) -> Iterator[Cause]:
    for row in items(obj, "status", "clusters"):
        if row.get("phase") != "Ready":
            said = ": ".join(str(row[field]) for field in ("phase", "message") if row.get(field))
            yield Cause("ModelCache", f"{_ref(obj)} on {row.get('name')}", said)


def _of_cluster(reader: Reader, obj: Manifest) -> Iterator[Cause]:
    for stack in reader.list(f"ServingStack.{GROUP}"):
        if stack["metadata"]["name"] != obj["metadata"]["name"]:
            continue
        for row in items(stack, "status", "parts"):
            if row.get("message") and row.get("state") not in ("Ready", "Present"):
                yield Cause("ServingStack", _ref(stack), f"{row.get('name')} {row.get('state')}: {row['message']}")


#: What finds the causes below an object of each kind.
_BELOW: Final[Mapping[str, Callable[[Reader, Manifest], Iterator[Cause]]]] = {
    "ModelDeployment": _of_deployment,
    "ModelReplica": _of_replica,
    "ModelService": _of_service,
    "ModelCache": _of_cache,
    "InferenceCluster": _of_cluster,
}
