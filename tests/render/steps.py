"""Small composition functions, one for each rule of the pipeline that the preview promises to keep.

They compose ConfigMaps of whatever composite they are given.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from modelplane.model.conditions import Condition, Status
from modelplane.model.observation import Gap
from modelplane.step import Desired, Event, Request, Requirement, Result, SchemaRequirement, Severity, Step


def config(data: Mapping[str, str] | None = None, **metadata: Any) -> dict[str, Any]:
    """Return a ConfigMap in the namespace `team`, unless `metadata` says otherwise."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"namespace": "team", **metadata},
        "data": dict(data or {}),
    }


def wanted(**manifests: dict[str, Any]) -> dict[str, Desired]:
    """Return desired resources that are ready."""
    return {name: Desired.of(manifest, ready=True) for name, manifest in manifests.items()}


def annotated(request: Request) -> str:
    """Return what the composite's annotation `test/do` tells the step to do in this pass."""
    return str((request.composite.metadata.get("annotations") or {}).get("test/do", ""))


def follow(request: Request) -> Result:
    """Ask for a ConfigMap by name, then for those that carry the label which the first one names."""
    first = Requirement("first", "v1", "ConfigMap", match_name="first", namespace="team")
    found = request.one(first)
    if isinstance(found, Gap):
        return Result(requirements=(first,), desired=wanted(out=config({"first": found.value})))
    second = Requirement("second", "v1", "ConfigMap", match_labels={"group": found.body["data"]["group"]})
    rest = request.all(second)
    names = rest.value if isinstance(rest, Gap) else ",".join(sorted(f"{each.namespace}/{each.name}" for each in rest))
    return Result(requirements=(first, second), desired=wanted(out=config({"second": names})))


def count(request: Request) -> Result:
    """Ask for one more ConfigMap on every call, up to as many as the annotation says."""
    limit = int(annotated(request))
    asked = min(len(request.required) + 1, limit)
    more = tuple(Requirement(f"r{i}", "v1", "ConfigMap", match_name=f"c{i}", namespace="team") for i in range(asked))
    return Result(requirements=more, desired=wanted(out=config({"calls": str(len(request.required))})))


def write_context(request: Request) -> Result:
    """Write to the context on every call; what an earlier call of the same step wrote is seen by the next."""
    first = Requirement("first", "v1", "ConfigMap", match_name="first", namespace="team")
    called = len(request.context)
    return Result(requirements=(first,), context={f"call-{called}": "made"})


def tell_context(request: Request) -> Result:
    """Compose what the context holds."""
    return Result(desired=wanted(out=config({key: str(value) for key, value in request.context.items()})))


def schemas(request: Request) -> Result:
    """Ask whether three kinds exist: a core one, one of ours, and one that is not installed."""
    asked = (
        SchemaRequirement("core", "v1", "ConfigMap"),
        SchemaRequirement("ours", "modelplane.ai/v1alpha1", "ModelReplica"),
        SchemaRequirement("absent", "clouds.example.org/v1", "Cluster"),
    )
    known = {name: "unknown" if schema is None else "known" for name, schema in request.schemas.items()}
    return Result(schemas=asked, desired=wanted(out=config(known)))


def compose(request: Request) -> Result:
    """Compose the names that the annotation lists: `+` marks one that is ready."""
    names = annotated(request).split()
    return Result(desired={name.strip("+"): Desired.of(config(), ready="+" in name) for name in names})


def overrule(request: Request) -> Result:
    """Say whether the composite is ready, whatever its resources are."""
    return replace(compose(request), ready=True)


def rename(request: Request) -> Result:
    """Compose a resource by a name that changes: `first` unless it is there already."""
    name = "second" if request.observed else "first"
    return Result(desired=wanted(out=config({"called": name}, name=name)))


def elsewhere(_: Request) -> Result:
    """Compose into a namespace of its own choice, with labels and annotations of its own."""
    made = config({}, namespace="elsewhere", labels={"mine": "yes"}, annotations={"mine": "too"})
    return Result(desired=wanted(out=made))


def misname(_: Request) -> Result:
    """Compose a resource whose name no server would take."""
    return Result(desired=wanted(out=config({}, name="Not A Name")))


def set_conditions(request: Request) -> Result:
    """Set conditions, Crossplane's own among them, and as the annotation says end in a fatal result."""
    verdict = annotated(request)
    conditions = [
        Condition("Accepted", Status.FALSE, "Set", "heard"),
        Condition("Ready", Status.TRUE, "Claimed", "not for a function to say"),
        Condition("Synced", Status.FALSE, "Claimed", "nor this"),
    ]
    if verdict != "partly":
        conditions.append(Condition("Extra", Status.TRUE, "Set"))
    fatal = "the sky fell" if verdict in {"fatal", "partly"} else None
    event = Event(Severity.WARNING, "a warning")
    return Result(desired=wanted(out=config()), conditions=tuple(conditions), events=(event,), fatal=fatal)


def fail(_: Request) -> Result:
    """Fail as a defect does."""
    raise RuntimeError("a defect")


def first(request: Request) -> Result:
    """Want two resources and a status of two fields, of which a later pass leaves one out."""
    status: dict[str, Any] = {"summary": {"ready": "0/1"}}
    if not annotated(request):
        status["clusters"] = [{"name": "by-first", "message": "gone if it is left out"}]
    return Result(desired=wanted(one=config({"by": "first"}), two=config({"by": "first"})), status=status)


def second(request: Request) -> Result:
    """Replace one of the resources that the first step wants, and tell which there were."""
    seen = ",".join(sorted(request.desired_names))
    return Result(desired=wanted(two=config({"by": "second", "saw": seen})), status={"summary": {"ready": "1/1"}})


STEPS: Mapping[str, Step] = {
    step.__name__.replace("_", "-"): step
    for step in (
        follow, count, write_context, tell_context, schemas, compose, overrule, rename, elsewhere, misname,
        set_conditions, fail, first, second,
    )
}  # fmt: skip
