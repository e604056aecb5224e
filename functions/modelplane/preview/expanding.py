"""Writes a deployment of a ClusterModel with engines of its own, so that one command leaves the catalogue."""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Final

from modelplane.api import modeldeployment
from modelplane.catalogue import GPU_REQUEST
from modelplane.model.deployment import Profile
from modelplane.model.observation import Gap, Malformed
from modelplane.observed.catalogue import resolve
from modelplane.observed.deployment import read_deployment
from modelplane.observed.resources import lower
from modelplane.preview.control_plane import ControlPlane
from modelplane.reading.reader import as_object
from modelplane.reading.tree import Manifest, items, mapping

_KEPT = ("name", "namespace", "labels", "annotations")
#: Part of the keys of labels and annotations that Crossplane writes.
_OF_CROSSPLANE = "crossplane.io/"
#: The fields of a ModelDeployment's engines, members and device requests.
_OF_ENGINE: Final = modeldeployment.Engine.model_fields
_OF_MEMBER: Final = modeldeployment.Member.model_fields
_OF_DEVICE: Final = modeldeployment.Device.model_fields


class CannotExpand(Exception):  # noqa: N818 - it is an answer
    """Why a deployment cannot be expanded; `absent`: there is no deployment of that name."""

    def __init__(self, why: str, *, absent: bool = False) -> None:
        super().__init__(why)
        self.absent = absent


@dataclass(frozen=True, slots=True)
class Expanded:
    """A deployment with engines, the profile's requirements that it cannot state, and the replicas it would change."""

    manifest: Manifest
    lost: tuple[str, ...]
    changed: tuple[str, ...] = ()


def expand_deployment(
    control: ControlPlane, namespace: str, name: str, profile: str | None, replica: str | None = None
) -> Expanded:
    """Return a deployment with the engines of a profile, by default the one that its replicas run on.

    Applied, it changes no pod of replicas that run the same version of the profile as `replica`, which must be given
    where replicas run several versions. Raises CannotExpand.
    """
    found = control.get("ModelDeployment", namespace, name)
    if found is None:
        raise CannotExpand(f"ModelDeployment {namespace}/{name} does not exist", absent=True)
    view = control.view()
    obj = as_object(view, found)
    deployment = read_deployment(obj)
    if isinstance(deployment, Malformed):
        raise CannotExpand(str(deployment))
    if deployment.model is None:
        raise CannotExpand(f"ModelDeployment {namespace}/{name} states its engines itself")
    model = control.get("ClusterModel", None, deployment.model.name)
    catalogued = resolve(obj, deployment, as_object(view, model) if model else Gap.ABSENT)
    running = _running(found)
    if catalogued.deployment.resolution.problem and not running:
        raise CannotExpand(catalogued.deployment.resolution.problem)
    chosen = _choose(profile, running, catalogued.specs)
    replicas = [control.get("ModelReplica", namespace, each) or {} for each in running[chosen]]
    versions = _versions(replicas, catalogued.specs.get(chosen), pinned=deployment.model.pinned)
    version = _choose_version(versions, chosen, replica)
    of_profile = next((each for each in catalogued.deployment.profiles if each.name == chosen), None)
    labels = {**catalogued.deployment.resolution.selector, **(of_profile.cluster_selector if of_profile else {})}
    others = sorted(each for other in versions if other is not version for each in other.replicas)
    return Expanded(_manifest(found, version, labels), tuple(_lost(of_profile)) if of_profile else (), tuple(others))


def _running(deployment: Manifest) -> dict[str, list[str]]:
    """Return the replicas on each profile; leaving ones only if there are no others."""
    placed = [each for each in items(deployment, "status", "placements") if each.get("profile")]
    staying = [each for each in placed if not each.get("leaving")] or placed
    found: dict[str, list[str]] = {}
    for each in staying:
        found.setdefault(each["profile"], []).append(each["name"])
    return found


@dataclass(frozen=True, slots=True)
class _Version:
    """A version of a profile that replicas run: engines and serving as a deployment states them, and the digest."""

    engines: list[dict[str, Any]]
    serving: Mapping[str, Any]
    digest: str
    replicas: list[str]


def _versions(replicas: Sequence[Manifest], spec: Mapping[str, Any] | None, *, pinned: bool) -> list[_Version]:
    """Return each version of a profile that replicas run, once; `spec` is the profile's present version."""
    found: list[_Version] = []
    for replica in replicas:
        placed = mapping(replica, "spec", "profile").get("digest")
        says = spec if spec and not (pinned and spec["profile"]["digest"] != placed) else _as_placed(replica)
        engines = [_engine(engine, replica) for engine in deepcopy(says["engines"])]
        serving, name = says.get("serving", {}), mapping(replica, "metadata").get("name", "")
        known = next((each for each in found if (each.engines, each.serving) == (engines, serving)), None)
        if known:
            known.replicas.append(name)
        else:
            found.append(_Version(engines, serving, str(placed), [name]))
    return found


def _manifest(deployment: Manifest, version: _Version, labels: Mapping[str, str]) -> Manifest:
    """Return a deployment with the engines of a version, and with `labels` added to its cluster selector."""
    kept = {key: value for key, value in deployment["spec"].items() if key not in ("modelRef", "crossplane", "serving")}
    serving = {"serving": version.serving} if version.serving else {}
    selector = {**labels, **mapping(deployment, "spec", "clusterSelector", "matchLabels")}
    selecting = {"clusterSelector": {"matchLabels": selector}} if selector else {}
    return {
        "apiVersion": deployment["apiVersion"],
        "kind": deployment["kind"],
        "metadata": {key: value for key in _KEPT if (value := _as_given(deployment["metadata"].get(key)))},
        "spec": kept | selecting | serving | {"engines": version.engines},
    }


def _as_given(value: Any) -> Any:
    """Return labels or annotations without those that Crossplane has written."""
    return {key: each for key, each in value.items() if _OF_CROSSPLANE not in key} if isinstance(value, dict) else value


def _choose_version(versions: list[_Version], profile: str, replica: str | None) -> _Version:
    """Return the version to expand: that of the named replica, else the only one."""
    if replica is None and len(versions) == 1:
        return versions[0]
    listed = "; ".join(f"{each.digest}: {', '.join(sorted(each.replicas))}" for each in versions)
    if replica is None:
        raise CannotExpand(
            f"replicas run {len(versions)} versions of profile {profile} ({listed}): name the replica whose version "
            "all are to have with --replica, and the others are rolled out to it; or set spec.modelRef.updates to "
            "Follow, and expand once all have what the ClusterModel says"
        )
    found = next((each for each in versions if replica in each.replicas), None)
    if found is None:
        raise CannotExpand(f"no replica {replica} runs on profile {profile}: name one of {listed}")
    return found


def _choose(profile: str | None, running: Mapping[str, list[str]], specs: Mapping[str, Any]) -> str:
    """Return the profile to expand: the named one, else the only one that replicas run on."""
    choice = ", ".join(dict.fromkeys([*specs, *running]))
    if profile is None and len(running) == 1:
        return next(iter(running))
    if profile is None:
        raise CannotExpand(f"replicas run on {len(running)} profiles: name one with --profile ({choice})")
    if profile not in running and profile not in specs:
        raise CannotExpand(f"there is no profile {profile}: name one of {choice}")
    if profile not in running:
        raise CannotExpand(f"no replica runs on profile {profile}, so that its GPUs are not known: place one before")
    return profile


def _as_placed(replica: Manifest) -> Mapping[str, Any]:
    """Return the version that a replica was placed with, for a pinned replica or one whose profile is gone."""
    engines = [
        {key: engine[key] for key in _OF_ENGINE if key in engine}
        | {"members": [_member_as_placed(member) for member in items(engine, "members")]}
        for engine in items(replica, "spec", "engines")
    ]
    serving = mapping(replica, "spec", "serving")
    return {"engines": engines, **({"serving": serving} if serving else {})}


def _member_as_placed(member: Mapping[str, Any]) -> dict[str, Any]:
    """Return a member of a replica as a deployment states it: with device requests, without a pool."""
    kept = {key: value for key, value in lower(member).items() if key in _OF_MEMBER}
    devices = [{key: each[key] for key in _OF_DEVICE if key in each} for each in member.get("deviceRequests", ())]
    return kept | ({"nodeSelector": {"devices": devices}} if devices else {})


def _engine(engine: dict[str, Any], replica: Mapping[str, Any]) -> dict[str, Any]:
    """Return an engine whose requests for GPUs have the selectors of a replica's."""
    stamped = next((each for each in items(replica, "spec", "engines") if each["name"] == engine["name"]), {})
    for member, has in zip(engine["members"], stamped.get("members", ()), strict=False):
        selectors = {each["name"]: each["selectors"] for each in has.get("deviceRequests", ())}
        for device in mapping(member, "nodeSelector").get("devices", ()):
            if device["name"] == GPU_REQUEST and device["name"] in selectors:
                device["selectors"] = list(selectors[device["name"]])
    return engine


def _lost(profile: Profile) -> list[str]:
    """Return the requirements of a profile that a deployment with engines cannot state."""
    requires = profile.requires
    if requires is None:
        return []
    stated = {
        "memoryPerGpu": requires.memory_per_gpu,
        "interconnect": requires.interconnect,
        "precisionSupport": ", ".join(requires.precisions),
        "nvlinkDomainSize": requires.nvlink_domain_size,
        "multiNodeBandwidth": requires.bandwidth,
        "multiNodeCapable": "true" if requires.several_nodes else None,
    }
    return [f"{name}: {value}" for name, value in stated.items() if value]
