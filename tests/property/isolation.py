"""Histories of a team's namespace on a cluster: replicas' passes, a fake of the provider, and what people do there.

The fake applies as the API server does: a label goes when the last one that has applied it applies without it.
"""

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from hypothesis import strategies as st

from modelplane.composing.namespace import find_egress, read_mark
from modelplane.composing.site import Site
from modelplane.kube.namespace import opened
from modelplane.model.fleet import Egress, Isolation, Mark, TeamIsolation
from modelplane.model.names import LABEL_EGRESS, LABEL_ISOLATED
from modelplane.observed.remote import Remote, read_remote
from modelplane.step import Object

Manifest = dict[str, Any]
_SITE: Final = Site("team", "eu-1", "eu-1")
#: Who writes by hand.
_HAND: Final = "kubectl"


@dataclass
class Cluster:
    """The namespace and the NetworkPolicy of a team on a cluster, by kind, and who has applied each label."""

    objects: dict[str, Manifest] = field(default_factory=dict)
    owners: dict[str, set[str]] = field(default_factory=dict)

    def apply(self, manifest: Manifest, manager: str) -> None:
        """Apply a manifest with Server-Side Apply, forcing conflicts."""
        kind, wanted = manifest["kind"], manifest["metadata"].get("labels", {})
        found = self.objects.setdefault(kind, {"kind": kind, "metadata": {"uid": kind, "labels": {}}})
        labels = found["metadata"]["labels"]
        for label in [each for each in labels if each not in wanted]:
            owners = self.owners.get(f"{kind} {label}", set())
            if manager in owners:
                owners.remove(manager)
                if not owners:
                    del labels[label]
        for label, value in wanted.items():
            same = labels.get(label) == value
            self.owners[f"{kind} {label}"] = (self.owners.get(f"{kind} {label}", set()) if same else set()) | {manager}
            labels[label] = value
        if "spec" in manifest:
            found["spec"] = copy.deepcopy(manifest["spec"])

    def label(self, label: str, value: str | None) -> None:
        """Write a label of the namespace by hand, or remove it."""
        if "Namespace" in self.objects:
            labels = self.objects["Namespace"]["metadata"]["labels"]
            labels.pop(label, None)
            self.owners.pop(f"Namespace {label}", None)
            if value is not None:
                labels[label] = value
                self.owners[f"Namespace {label}"] = {_HAND}

    @property
    def does(self) -> str:
        """Return what the NetworkPolicy does."""
        policy = self.objects.get("NetworkPolicy")
        if policy is None:
            return "none"
        return "open" if policy["spec"] == opened("team")["spec"] else "closed"

    @property
    def limits(self) -> bool:
        """Tell whether the NetworkPolicy limits what leaves."""
        return "egress" in self.objects.get("NetworkPolicy", {}).get("spec", {})

    @property
    def mark(self) -> str:
        """Return the mark of the namespace, "" without one."""
        labels: dict[str, str] = self.objects.get("Namespace", {}).get("metadata", {}).get("labels", {})
        return labels.get(LABEL_ISOLATED, "")


@dataclass
class World:
    """A cluster, its isolation, and the Objects of each replica of the team there, by replica and composed name."""

    cluster: Cluster = field(default_factory=Cluster)
    isolation: TeamIsolation = field(default_factory=TeamIsolation)
    objects: dict[int, dict[str, Manifest]] = field(default_factory=dict)

    def compose(self, replica: int) -> bool:
        """Run a pass of a replica, and return whether it changed anything."""
        made = self.objects.setdefault(replica, {})
        site = replace(_SITE, isolation=self.isolation)
        seen, policy = _read(made, "namespace"), _read(made, "network-policy")
        wanted = {"namespace": site.place_namespace(seen)}
        if closing := site.place_network_policy(seen, policy):
            wanted["network-policy"] = closing
        changed = False
        for name, body in wanted.items():
            before = made.get(name, {})
            if before.get("spec") != body["spec"]:
                generation = before.get("metadata", {}).get("generation", 0) + 1
                metadata = {"name": f"{name}-{replica}", "generation": generation}
                made[name] = {**body, "metadata": metadata, "status": before.get("status", {})}
                changed = True
        return changed

    def provide(self, replica: int) -> None:
        """Have the provider reconcile the Objects of a replica."""
        for obj in self.objects.get(replica, {}).values():
            spec, manager = obj["spec"], obj["metadata"]["name"]
            manifest, policies = spec["forProvider"]["manifest"], spec["managementPolicies"]
            if manifest["kind"] not in self.cluster.objects or "Update" in policies:
                self.cluster.apply(manifest, manager)
            synced = {"type": "Synced", "status": "True", "observedGeneration": obj["metadata"]["generation"]}
            found = copy.deepcopy(self.cluster.objects[manifest["kind"]])
            obj["status"] = {"conditions": [synced], "atProvider": {"manifest": found}}

    def settle(self) -> None:
        """Run passes and the provider until nothing changes; raise AssertionError if that does not end."""
        for _ in range(12):
            changed = False
            for replica in list(self.objects):
                self.provide(replica)
                changed |= self.compose(replica)
            if not changed:
                return
        raise AssertionError("the Objects of the replicas change without end")


def _read(objects: dict[str, Manifest], name: str) -> Remote | None:
    return read_remote(Object(copy.deepcopy(objects[name]), object())) if name in objects else None


Event = Callable[[World], object]


def _isolate(isolation: Isolation) -> Event:
    def change(world: World) -> None:
        world.isolation = replace(world.isolation, isolation=isolation)

    return change


def _limit(egress: Egress | None) -> Event:
    def change(world: World) -> None:
        world.isolation = replace(world.isolation, egress=egress)

    return change


def _write(value: str | None, label: str = LABEL_ISOLATED) -> Event:
    return lambda world: world.cluster.label(label, value)


def _open(world: World) -> None:
    if "NetworkPolicy" in world.cluster.objects:
        world.cluster.objects["NetworkPolicy"]["spec"] = opened("team")["spec"]


def _remove_policy(world: World) -> None:
    world.cluster.objects.pop("NetworkPolicy", None)


def _leave(replica: int) -> Event:
    """Have a replica go if another one has seen the labels: else nobody knows any more what the namespace is."""

    def go(world: World) -> None:
        others = (_read(made, "namespace") for other, made in world.objects.items() if other != replica)
        if any(seen and not seen.claims and _has_seen_labels(seen) for seen in others):
            world.objects.pop(replica, None)

    return go


def _has_seen_labels(seen: Remote) -> bool:
    return read_mark(seen) is Mark.CREATION and find_egress(TeamIsolation(), seen) is Egress.NO_METADATA


_REPLICAS: Final = st.integers(0, 2)
_PASSES: Final = st.builds(lambda number: lambda world: world.compose(number), _REPLICAS)
_POLLS: Final = st.builds(lambda number: lambda world: world.provide(number), _REPLICAS)
#: What happens while the platform asks for nothing else.
EVENTS: Final[st.SearchStrategy[Sequence[Event]]] = st.lists(
    st.one_of(
        _PASSES,
        _POLLS,
        st.builds(_leave, _REPLICAS),
        st.sampled_from([_write(None), _write("enforced"), _write("x"), _open, _remove_policy]),
        st.sampled_from([_write(None, LABEL_EGRESS), _write("None", LABEL_EGRESS)]),
    ),
    max_size=14,
)
#: The same, and another isolation asked for.
CHANGES: Final[st.SearchStrategy[Sequence[Event]]] = st.lists(
    st.one_of(
        _PASSES,
        _POLLS,
        st.builds(_isolate, st.sampled_from(Isolation)),
        st.builds(_limit, st.sampled_from([None, *Egress])),
    ),
    max_size=14,
)


def made() -> World:
    """Return a world in which a replica has had the namespace made, and everything has settled."""
    world = World()
    world.compose(0)
    world.settle()
    assert (world.cluster.mark, world.cluster.does) == (Mark.CREATION, "closed")
    return world


def by_hand() -> World:
    """Return a world in which a person has made the namespace, and a replica has found it."""
    world = World()
    world.cluster.apply({"kind": "Namespace", "metadata": {"labels": {"of": "a-person"}}}, _HAND)
    world.compose(0)
    world.settle()
    return world
