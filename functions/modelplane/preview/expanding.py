"""Writes a deployment of a ClusterModel with engines of its own, so that leaving the catalogue is one command."""

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from modelplane.catalogue import GPU_REQUEST
from modelplane.model.deployment import Profile
from modelplane.model.observation import Gap, Malformed
from modelplane.observed.catalogue import resolve
from modelplane.observed.deployment import read_deployment
from modelplane.preview.control_plane import ControlPlane
from modelplane.reading.reader import as_object
from modelplane.reading.tree import Manifest, items, mapping

_KEPT = ("name", "namespace", "labels", "annotations")
#: What of an engine, a member and a device request of a ModelReplica a ModelDeployment says too.
_OF_ENGINE = ("name", "phase", "copies", "replicasAcrossNodes")
_OF_MEMBER = ("role", "worker", "template")
_OF_DEVICE = ("name", "count", "selectors")


class CannotExpand(Exception):  # noqa: N818 - it is an answer
    """Why a deployment is not expanded; `absent`: there is none of that name."""

    def __init__(self, why: str, *, absent: bool = False) -> None:
        super().__init__(why)
        self.absent = absent


@dataclass(frozen=True, slots=True)
class Expanded:
    """A deployment with engines, and what of the profile it cannot say."""

    manifest: Manifest
    lost: tuple[str, ...]


def expand_deployment(control: ControlPlane, namespace: str, name: str, profile: str | None) -> Expanded:
    """Return a deployment with the engines of a profile, the one that its replicas run on if none is named.

    Applied, it changes no pod of these. Raises CannotExpand.
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
    running = {each["profile"]: each["name"] for each in items(found, "status", "placements") if each.get("profile")}
    if catalogued.deployment.resolution.problem and not running:
        raise CannotExpand(catalogued.deployment.resolution.problem)
    chosen = _choose(profile, running, catalogued.specs)
    replica = control.get("ModelReplica", namespace, running[chosen]) or {}
    spec = catalogued.specs.get(chosen)
    if spec is None or (deployment.model.pinned and spec["profile"]["digest"] != _digest(replica)):
        spec = _as_placed(replica)
    engines = [_engine(engine, replica) for engine in deepcopy(spec["engines"])]
    kept = {key: value for key, value in found["spec"].items() if key not in ("modelRef", "crossplane", "serving")}
    serving = {"serving": spec["serving"]} if "serving" in spec else {}
    of_profile = next((each for each in catalogued.deployment.profiles if each.name == chosen), None)
    labels = {**catalogued.deployment.resolution.selector, **(of_profile.cluster_selector if of_profile else {})}
    selector = {**labels, **mapping(found, "spec", "clusterSelector", "matchLabels")}
    selecting = {"clusterSelector": {"matchLabels": selector}} if selector else {}
    manifest = {
        "apiVersion": found["apiVersion"],
        "kind": found["kind"],
        "metadata": {key: found["metadata"][key] for key in _KEPT if found["metadata"].get(key)},
        "spec": kept | selecting | serving | {"engines": engines},
    }
    return Expanded(manifest, tuple(_lost(of_profile)) if of_profile else ())


def _choose(profile: str | None, running: Mapping[str, str], specs: Mapping[str, Any]) -> str:
    """Return the profile to expand: the one that is named, else the only one that replicas run on."""
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


def _digest(replica: Manifest) -> Any:
    return mapping(replica, "spec", "profile").get("digest")


def _as_placed(replica: Manifest) -> Mapping[str, Any]:
    """Return what a replica was placed with, which its profile no longer says: it is pinned, or the profile is gone."""
    engines = [
        {key: engine[key] for key in _OF_ENGINE if key in engine}
        | {"members": [_member_as_placed(member) for member in items(engine, "members")]}
        for engine in items(replica, "spec", "engines")
    ]
    serving = mapping(replica, "spec", "serving")
    return {"engines": engines, **({"serving": serving} if serving else {})}


def _member_as_placed(member: Mapping[str, Any]) -> dict[str, Any]:
    """Return a member of a replica as a deployment states it: with the devices that it claims, and on no pool."""
    kept = {key: member[key] for key in _OF_MEMBER if key in member}
    devices = [{key: each[key] for key in _OF_DEVICE if key in each} for each in member.get("deviceRequests", ())]
    return kept | ({"nodeSelector": {"devices": devices}} if devices else {})


def _engine(engine: dict[str, Any], replica: Mapping[str, Any]) -> dict[str, Any]:
    """Return an engine whose requests for GPUs select what those of a replica do."""
    stamped = next((each for each in items(replica, "spec", "engines") if each["name"] == engine["name"]), {})
    for member, has in zip(engine["members"], stamped.get("members", ()), strict=False):
        selectors = {each["name"]: each["selectors"] for each in has.get("deviceRequests", ())}
        for device in mapping(member, "nodeSelector").get("devices", ()):
            if device["name"] == GPU_REQUEST and device["name"] in selectors:
                device["selectors"] = list(selectors[device["name"]])
    return engine


def _lost(profile: Profile) -> list[str]:
    """Return what a profile requires of pools, which a deployment with engines cannot say."""
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
