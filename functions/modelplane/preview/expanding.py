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
    if catalogued.deployment.resolution.problem:
        raise CannotExpand(catalogued.deployment.resolution.problem)
    running = {each["profile"]: each["name"] for each in items(found, "status", "placements") if each.get("profile")}
    chosen = profile or next(iter(running), "")
    if profile is None and len(running) != 1:
        choice = ", ".join(running or catalogued.specs)
        raise CannotExpand(f"replicas run on {len(running)} profiles: name one with --profile ({choice})")
    if chosen not in running or chosen not in catalogued.specs:
        raise CannotExpand(f"no replica runs on profile {chosen}, so that its GPUs are not known: place one before")
    replica = control.get("ModelReplica", namespace, running[chosen])
    spec = catalogued.specs[chosen]
    engines = [_engine(engine, replica or {}) for engine in deepcopy(spec["engines"])]
    kept = {key: value for key, value in found["spec"].items() if key not in ("modelRef", "crossplane", "serving")}
    serving = {"serving": spec["serving"]} if "serving" in spec else {}
    of_profile = next(each for each in catalogued.deployment.profiles if each.name == chosen)
    labels = {**catalogued.deployment.resolution.selector, **of_profile.cluster_selector}
    selector = {**labels, **mapping(found, "spec", "clusterSelector", "matchLabels")}
    selecting = {"clusterSelector": {"matchLabels": selector}} if selector else {}
    manifest = {
        "apiVersion": found["apiVersion"],
        "kind": found["kind"],
        "metadata": {key: found["metadata"][key] for key in _KEPT if found["metadata"].get(key)},
        "spec": kept | selecting | serving | {"engines": engines},
    }
    return Expanded(manifest, tuple(_lost(of_profile)))


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
        "multiNodeCapable": requires.several_nodes or None,
    }
    return [f"{name}: {value}" for name, value in stated.items() if value]
