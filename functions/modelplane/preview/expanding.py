"""Writes a deployment of a ClusterModel with engines of its own, so that leaving the catalogue is one command."""

from collections.abc import Mapping, Sequence
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
#: In names of labels that Crossplane writes.
_OF_CROSSPLANE = "crossplane.io/"
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
    """A deployment with engines, what of the profile it cannot say, and the replicas on it that would be rolled out."""

    manifest: Manifest
    lost: tuple[str, ...]
    changed: tuple[str, ...] = ()


def expand_deployment(
    control: ControlPlane, namespace: str, name: str, profile: str | None, replica: str | None = None
) -> Expanded:
    """Return a deployment with the engines of a profile, the one that its replicas run on if none is named.

    Applied, it changes no pod of these, but of those that run another version of the profile than `replica`, which
    has to be named where they run several. Raises CannotExpand.
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
    """Return the replicas on each profile; those that are leaving only where there are no others."""
    placed = [each for each in items(deployment, "status", "placements") if each.get("profile")]
    staying = [each for each in placed if not each.get("leaving")] or placed
    found: dict[str, list[str]] = {}
    for each in staying:
        found.setdefault(each["profile"], []).append(each["name"])
    return found


@dataclass(frozen=True, slots=True)
class _Version:
    """What replicas on a profile run: its engines and serving as a deployment states them, and its digest."""

    engines: list[dict[str, Any]]
    serving: Mapping[str, Any]
    digest: str
    replicas: list[str]


def _versions(replicas: Sequence[Manifest], spec: Mapping[str, Any] | None, *, pinned: bool) -> list[_Version]:
    """Return what replicas on a profile run, each version once; `spec` is what the profile says now."""
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
    """Return a deployment with the engines of a version, on clusters with these labels and those that it names."""
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
    """Return a field of metadata without the labels and annotations that Crossplane has written."""
    return {key: each for key, each in value.items() if _OF_CROSSPLANE not in key} if isinstance(value, dict) else value


def _choose_version(versions: list[_Version], profile: str, replica: str | None) -> _Version:
    """Return the version to expand: that of the replica that is named, else the only one."""
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
