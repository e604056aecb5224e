"""What a ModelDeployment reports about its ClusterModel: the profiles, and whether they can be used."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from modelplane.composing.engine_warnings import find_warnings
from modelplane.model.conditions import Condition, DeploymentCondition, Reason, Status, cap
from modelplane.model.deployment import Deployment
from modelplane.model.placement import Schedule
from modelplane.observed.catalogue import Catalogued
from modelplane.observed.fields import count, mapping, mappings, text
from modelplane.scheduling.words import why_not
from modelplane.step import Object, Request

_KIND = DeploymentCondition.MODEL_RESOLVED


def describe_model(request: Request, deployment: Deployment, schedule: Schedule) -> dict[str, Any]:
    """Return `status.model` and `status.profiles`, {} for a deployment that states its engines itself."""
    if deployment.model is None:
        return {}
    model: dict[str, Any] = {"name": deployment.model.name}
    if deployment.resolution.generation is not None:
        model["generation"] = deployment.resolution.generation
    return {"model": model, "profiles": _profiles(request, deployment, schedule)}


def _profiles(request: Request, deployment: Deployment, schedule: Schedule) -> list[dict[str, Any]]:
    """Return each profile with its number of replicas, and why no more run on it.

    The latter is computed when a replica is to be placed, and when the ClusterModel was edited while replicas run on
    another profile than the first; other passes repeat the last result.
    """
    rows = mappings(mapping(request.composite.body.get("status")).get("profiles"))
    before = {text(each.get("name")): each for each in rows}
    found = []
    running = Counter(each.profile for each in schedule.placements if not each.leaving)
    skipped = deployment.resolution.skipped
    worse = sum(replicas for name, replicas in running.items() if name not in skipped)
    for profile in deployment.profiles:
        worse -= running[profile.name]
        could, why = schedule.improvable.get(profile.name, 0), ""
        if could:
            why = _improvable(could, profile.name)
        elif profile.name in schedule.profile_refusals:
            why = cap(why_not(schedule, deployment, profile.name))
        elif last := before.get(profile.name):
            could, why = count(last.get("improvable")), text(last.get("message"))
            could, why = (could, why) if worse or not could else (0, "")
        row = {"name": profile.name, "replicas": running[profile.name]}
        found.append(row | ({"message": why} if why else {}) | ({"improvable": could} if could else {}))
    return found + [{"name": name, "replicas": running[name], "message": cap(why)} for name, why in skipped.items()]


def _improvable(replicas: int, profile: str) -> str:
    """Return that replicas could run on a better profile, and how: new ones take it, and the worst go first."""
    number = f"{replicas} {'replica' if replicas == 1 else 'replicas'}"
    remedy = f"raise spec.replicas by {replicas}, and lower it again once the new ones serve"
    return f"{number} could run on {profile}: {remedy}"


def model_resolved(deployment: Deployment) -> Condition:
    """Return ModelResolved: whether the ClusterModel exists and has a profile that can be served."""
    resolution = deployment.resolution
    if deployment.model is None:
        return Condition(_KIND, Status.TRUE, Reason.NOT_REQUIRED, "the deployment states its engines itself")
    if resolution.problem:
        return Condition(_KIND, Status.FALSE, resolution.reason, resolution.problem)
    skipped = [f"profile {name} is skipped: {why}" for name, why in resolution.skipped.items()]
    unknown = ", ".join(resolution.unknown)
    typos = [f"it has no profile {unknown}: correct spec.modelRef.profiles"] if unknown else []
    message = "; ".join([f"ClusterModel {deployment.model.name}", *typos, *skipped])
    return Condition(_KIND, Status.TRUE, Reason.MODEL_RESOLVED, message)


def find_profile_warnings(request: Request, catalogued: Catalogued, schedule: Schedule) -> Iterator[str]:
    """Yield the probable mistakes in the profiles that replicas run on, each with what to do."""
    composite = request.composite
    used = {each.profile for each in schedule.placements} & catalogued.specs.keys()
    for name in sorted(used):
        spec = catalogued.specs[name]
        stated = {**composite.body, "spec": {**mapping(composite.body.get("spec")), **spec}}
        found = find_warnings(Object(stated, ("profile", composite.key, spec["profile"]["digest"])))
        yield from (f"profile {name}: {text}" for text in (*catalogued.warnings[name], *found))
