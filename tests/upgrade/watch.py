"""Watches a loaded state while today's code works on it: what stood must stand, what served must serve."""

from collections.abc import Mapping, Set
from dataclasses import dataclass
from typing import Any

from modelplane.preview import ControlPlane
from upgrade.manifests import Manifest
from upgrade.templates import templates, workload_of

Identity = tuple[str, str, str, str]

#: Kinds of which nothing may disappear.
STANDING = (
    "ClusterProviderConfig",
    "InferenceClass",
    "InferenceCluster",
    "ModelCache",
    "ModelDeployment",
    "ModelEndpoint",
    "ModelReplica",
    "Object",
)


def identity(obj: Manifest) -> Identity:
    """Return an object's kind, namespace, name and uid."""
    metadata = obj["metadata"]
    return str(obj["kind"]), str(metadata.get("namespace", "")), str(metadata["name"]), str(metadata["uid"])


def deployment_of(obj: Manifest) -> str:
    """Return the ModelDeployment that a ModelReplica belongs to; "" for one that was written by hand."""
    return str(obj["metadata"].get("labels", {}).get("modelplane.ai/deployment", ""))


def _served(obj: Manifest) -> bool:
    return obj["kind"] == "ModelReplica" and obj.get("status", {}).get("served") is True


#: Objects of version 0.1 that are of no use to a replica: a route by a path on any host, and the pool of that route.
_UNUSED = frozenset({"httproute-path", "inferencepool-path"})


def is_unused(obj: Manifest) -> bool:
    """Tell whether an Object may go although its replica serves on."""
    return obj["metadata"].get("annotations", {}).get("crossplane.io/composition-resource-name") in _UNUSED


def _leaving_for_good(obj: Manifest) -> bool:
    return "deletionTimestamp" in obj["metadata"]


@dataclass(frozen=True, slots=True)
class Watch:
    """What a state held; `unfinished` names deployments whose users asked for something that is still being done."""

    objects: Mapping[Identity, Manifest]
    templates: Mapping[Identity, Manifest]
    unfinished: Set[str]

    def lost(self, control: ControlPlane, restarting: Set[str], *, finishing: bool) -> list[str]:
        """Return what is not as it was, in words.

        `restarting`: workloads whose restart the changelog says. `finishing`: the clusters answer, so that unfinished
        deployments go on: theirs may change, but none of their replicas goes before another one serves.
        """
        now = {identity(obj): obj for kind in STANDING for obj in control.list(kind)}
        spared = self._spared() if finishing else frozenset()
        before = {key: obj for key, obj in self.objects.items() if key not in spared}
        words = [f"{'/'.join(key[:3])} is gone" for key in before if key not in now]
        words += [
            f"{'/'.join(key[:3])} is being deleted"
            for key, obj in before.items()
            if key in now and _leaving_for_good(now[key]) and not _leaving_for_good(obj)
        ]
        words += [text for key, obj in before.items() if _served(obj) for text in _unserved(obj, now.get(key))]
        words += self._restarted(now, spared, restarting)
        return words + (self._dropped(now) if finishing else [])

    def _spared(self) -> frozenset[Identity]:
        """Return what belongs to an unfinished deployment: its replicas, and all that has their names as owners."""
        replicas = {key for key, obj in self.objects.items() if deployment_of(obj) in self.unfinished}
        names = {key[2] for key in replicas}
        owned = {
            key
            for key, obj in self.objects.items()
            if any(ref["name"] in names or ref["kind"] == "ModelCache" for ref in _owners(obj))
        }
        return frozenset(replicas | owned) if self.unfinished else frozenset()

    def _restarted(self, now: Mapping[Identity, Manifest], spared: Set[Identity], restarting: Set[str]) -> list[str]:
        found = {identity(obj): template for obj, template in templates(now.values())}
        return [
            f"{'/'.join(key[:3])} has another pod template"
            for key, template in self.templates.items()
            if key in found and key not in spared and found[key] != template
            if workload_of(now[key]) not in restarting
        ]

    def _dropped(self, now: Mapping[Identity, Manifest]) -> list[str]:
        """Return the unfinished deployments of which fewer replicas are ready than served in the state."""
        return [
            f"ModelDeployment {name}: {after} replicas have served, {before} in the state"
            for name in sorted(self.unfinished)
            for before in [sum(_served(obj) and deployment_of(obj) == name for obj in self.objects.values())]
            for after in [sum(_served(obj) and deployment_of(obj) == name for obj in now.values())]
            if after < before
        ]


def _owners(obj: Manifest) -> list[Any]:
    return list(obj["metadata"].get("ownerReferences", []))


def _unserved(before: Manifest, now: Manifest | None) -> list[str]:
    if now is None:
        return []
    name, status, old = now["metadata"]["name"], now.get("status", {}), before["status"]
    words = [] if status.get("served") is True else [f"ModelReplica {name} no longer counts as served"]
    if status.get("servedEngines") != old.get("servedEngines"):
        words.append(f"ModelReplica {name} has other servedEngines")
    return words


def _is_there(obj: Manifest) -> bool:
    """Tell whether the cluster has what an Object asks for: before that no pod is restarted by another template."""
    return bool(obj.get("status", {}).get("atProvider", {}).get("manifest"))


def watch(state: list[Manifest], unfinished: Set[str]) -> Watch:
    """Return a watch over a state."""
    standing = {identity(obj): obj for obj in state if obj["kind"] in STANDING and not is_unused(obj)}
    there = {identity(obj): template for obj, template in templates(state) if _is_there(obj)}
    return Watch(standing, there, unfinished)
