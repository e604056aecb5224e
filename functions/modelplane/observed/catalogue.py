"""Reads a deployment that names a ClusterModel: its profiles, expanded to engines as if it stated them itself."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from modelplane.api.clustermodel import ClusterModelSpec
from modelplane.api.modeldeployment import Engine as ApiEngine
from modelplane.catalogue import Expansion, InvalidProfile, expand
from modelplane.cel import SelectorError, compiled
from modelplane.model.deployment import Deployment, ModelRef, Profile, Resolution
from modelplane.model.names import digest
from modelplane.model.observation import Gap, Malformed
from modelplane.observed.bounds import over_bound, selector_texts
from modelplane.observed.deployment import acting_metadata, count_carried, read_engine
from modelplane.observed.fields import mapping, mappings, number
from modelplane.observed.memo import once_per_pair
from modelplane.observed.stamp import interface, profile_digest, revision, wanted_content
from modelplane.observed.strict import read_strictly
from modelplane.step import Object


@dataclass(frozen=True, slots=True)
class Catalogued:
    """A deployment with the profiles of its ClusterModel.

    `specs` are, by profile, what a ModelReplica takes from it (engines, serving, and the profile's name); `warnings`
    are sentences for the user of the deployment.
    """

    deployment: Deployment
    specs: Mapping[str, Mapping[str, Any]]
    warnings: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class _Profile:
    """A profile, for the scheduler and for the ModelReplicas."""

    profile: Profile
    spec: Mapping[str, Any]
    carried: int


def expanded_spec(spec: Mapping[str, Any], expansion: Expansion) -> dict[str, Any]:
    """Return the spec of a ModelDeployment with the engines of a profile in place of its modelRef."""
    kept = {key: value for key, value in spec.items() if key not in ("modelRef", "serving")}
    serving = {"serving": dict(expansion.serving)} if expansion.serving else {}
    return kept | serving | {"engines": list(expansion.engines)}


def find_bad_selectors(expansion: Expansion) -> tuple[InvalidProfile, ...]:
    """Return the device selectors of a profile that do not compile, and so match no pool."""
    field = "replicaTopology.devices" if expansion.resolves_gpu else "engines"
    found = []
    for text in dict.fromkeys(selector_texts(list(expansion.engines))):
        error = compiled(text)
        if isinstance(error, SelectorError):
            why = f"selector `{text}`, line {error.line}, column {error.column}: {error.why}; correct it"
            found.append(InvalidProfile(expansion.name, field, why))
    return tuple(found)


def _read(obj: Object, model: str, expansion: Expansion) -> _Profile | str:
    """Return a profile of a deployment, or why it is too large or selects no device."""
    spec = expanded_spec(mapping(obj.body.get("spec")), expansion)
    stated = Object({**obj.body, "spec": spec}, None)
    if large := over_bound(stated):
        return f"{large.field} {large.why}; make the profile smaller"
    if bad := find_bad_selectors(expansion):
        return "; ".join(map(str, bad))
    stated_engines = [ApiEngine.model_validate(engine) for engine in expansion.engines]
    engines = tuple(read_engine(engine, resolves_gpu=expansion.resolves_gpu) for engine in stated_engines)
    found = profile_digest(spec)
    profile = Profile(
        engines,
        wanted_content(stated),
        expansion.name,
        expansion.requires,
        expansion.cluster_selector,
        revision(stated),
        acting_metadata(stated_engines),
        digest=found,
        interface=interface(spec, spec["engines"]),
    )
    which = {"model": model, "name": expansion.name, "digest": found}
    taken = {
        "engines": spec["engines"],
        "profile": which,
        **({"serving": spec["serving"]} if expansion.serving else {}),
    }
    return _Profile(profile, taken, count_carried(stated))


def _resolve(obj: Object, deployment: Deployment, ref: ModelRef, model: Object) -> Catalogued:
    spec = mapping(model.body.get("spec"))
    allowed = [each for each in mappings(spec.get("serving")) if ref.allows(each["name"])]
    skipped, found, warnings = {}, [], {}
    for entry in allowed:
        expansion = expand(spec, entry, cached=deployment.cache is not None)
        if isinstance(expansion, InvalidProfile):
            skipped[entry["name"]] = str(expansion)
            continue
        read = _read(obj, model.name, expansion)
        if isinstance(read, str):
            skipped[entry["name"]] = read
            continue
        found.append(read)
        warnings[expansion.name] = expansion.warnings
    resolution = Resolution(
        generation=int(number(model.metadata.get("generation"), 0)),
        problem="" if found else _nothing_left(ref, skipped, spec),
        skipped=skipped,
        selector=mapping(mapping(spec.get("clusterSelector")).get("matchLabels")),
        edited=_is_edited(obj, model),
        unknown=tuple(sorted({*(ref.allowed or ())} - {each["name"] for each in allowed})),
        order=tuple(each["name"] for each in allowed),
    )
    revisions = [each.profile.revision for each in found]
    resolved = replace(
        deployment,
        profiles=tuple(each.profile for each in found),
        revision=revisions[0] if len(revisions) == 1 else digest(*revisions) if revisions else "",
        carried=min((each.carried for each in found), default=deployment.carried),
        resolution=resolution,
    )
    return Catalogued(resolved, {each.profile.name: each.spec for each in found}, warnings)


def _is_edited(obj: Object, model: Object) -> bool:
    """Tell whether the deployment's status is for another generation of the model, or another model."""
    seen = mapping(mapping(obj.body.get("status")).get("model"))
    return bool(seen) and (seen.get("name"), seen.get("generation")) != (model.name, model.metadata.get("generation"))


def _nothing_left(ref: ModelRef, skipped: Mapping[str, str], spec: Mapping[str, Any]) -> str:
    if skipped:
        return f"ClusterModel {ref.name} has no profile that can be served: {'; '.join(skipped.values())}"
    asked, there = (
        ", ".join(sorted(ref.allowed or ())),
        ", ".join(each["name"] for each in mappings(spec.get("serving"))),
    )
    return f"spec.modelRef.profiles ({asked}) names no profile of ClusterModel {ref.name}: name one of {there}"


def _unusable(deployment: Deployment, problem: str, generation: int | None = None) -> Catalogued:
    return Catalogued(replace(deployment, resolution=Resolution(generation, problem)), {}, {})


def resolve(obj: Object, deployment: Deployment, model: Object | Gap) -> Catalogued:
    """Return the deployment with the profiles of its ClusterModel, or with the reason for none in its `resolution`.

    `obj` is the object of `deployment`, and names a ClusterModel. The result is cached by the versions of the two.
    """
    ref = deployment.model
    if ref is None:
        return Catalogued(deployment, {}, {})
    if not isinstance(model, Object):
        why = f"there is no ClusterModel {ref.name}: create it, or name another in spec.modelRef.name"
        return _unusable(deployment, why)
    spec = read_strictly(ClusterModelSpec, model)
    if isinstance(spec, Malformed):
        return _unusable(deployment, str(spec), int(number(model.metadata.get("generation"), 0)))
    return once_per_pair("catalogued", obj, model, lambda: _resolve(obj, deployment, ref, model))
