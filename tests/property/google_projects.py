"""A control plane in a preview, whose InferenceClusters are made in a fake of Google Cloud that keeps a bill.

The fake of provider-gcp is `plane.google_cloud`. Beside it a fake of provider-kubernetes holds what the real one holds:
an Object that deletes what it represents stays until that is gone, which needs a cluster that answers, the config and
the kubeconfig; a config stays while Objects use it.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from modelplane.clouds.gke.kinds import MANAGED
from modelplane.model.names import LISTENER_HTTPS, SYSTEM_NAMESPACE
from modelplane.preview import ControlPlane
from modelplane.preview.patches import merge_patch
from modelplane.preview.simulation.providers import OBJECT, StatusPatch
from modelplane.preview.store import View
from modelplane.preview.worlds import healthy, unreachable
from modelplane.reading.kinds import Key
from modelplane.reading.tree import mapping
from modelplane_dev.plane.google_cloud import GoogleCloud, Provider
from unit.compose_cluster import made
from unit.compose_cluster import test_own_gateway as own_gateway

Manifest = dict[str, Any]
KINDS = tuple(f"{each.kind}.{each.api_version.partition('/')[0]}" for each in MANAGED)
_BY_KIND = {kind.partition(".")[0]: kind for kind in KINDS}
_CONFIG = "ClusterProviderConfig.kubernetes.m.crossplane.io"
_OBJECT_FINALIZER, _CONFIG_FINALIZER = "finalizer.managedresource.crossplane.io", "in-use.crossplane.io"
#: Turns in which nothing changes, after which nothing will.
_QUIET = 3
GATEWAY = {
    "apiVersion": "modelplane.ai/v1alpha1",
    "kind": "InferenceGateway",
    "metadata": {"name": "default"},
    "spec": {},
    "status": {"caBundle": own_gateway.BUNDLE},
}


def manifest_of(obj: Mapping[str, Any]) -> Mapping[str, Any]:
    found: Mapping[str, Any] = obj["spec"]["forProvider"].get("manifest") or {}
    return found


def policies_of(obj: Mapping[str, Any]) -> list[str]:
    return list(obj["spec"].get("managementPolicies") or ("Observe", "Create", "Update", "Delete"))


@dataclass
class World:
    """Clusters answer unless they are `dead`, by name; one whose Gateway was not made has none."""

    exposed: set[str]
    dead: set[str]
    present: bool = True

    @property
    def kinds(self) -> Iterable[tuple[str, str]]:
        """Return the kinds that exist: those of provider-gcp if it is `present`."""
        return [each for each in healthy.kinds if self.present or not each[0].endswith("gcp.m.upbound.io/v1beta1")]

    def __call__(self, view: View) -> Iterator[StatusPatch]:
        for patch in unreachable(self.dead)(view):
            if not patch[0].endswith("gcp.m.upbound.io"):
                yield self._of_gateway(view, patch)

    def _of_gateway(self, view: View, patch: StatusPatch) -> StatusPatch:
        """Return a status; of a cluster's Gateway that it is absent, or that it listens."""
        kind, namespace, name, status = patch
        obj = view.peek(Key(OBJECT, namespace or "", name)) if kind == OBJECT else None
        if obj is None or manifest_of(obj).get("kind") != "Gateway":
            return patch
        config = obj["spec"]["providerConfigRef"]["name"]
        if config in self.exposed or "Create" in policies_of(obj):
            gateway = mapping(status, "atProvider", "manifest", "status")
            programmed = [{"type": "Programmed", "status": "True"}]
            listening = {"listeners": [{"name": LISTENER_HTTPS, "conditions": programmed}]} if gateway else {}
            return kind, namespace, name, merge_patch(status, {"atProvider": {"manifest": {"status": listening}}})
        why = "observe failed: external resource does not exist"
        absent = {"type": "Synced", "status": "False", "reason": "ReconcileError", "message": why}
        return kind, namespace, name, {"conditions": [absent], "atProvider": None}


@dataclass
class Project:
    """A control plane, its project, and the people who act on both.

    `running`: provider-gcp runs. `ended` are what provider-kubernetes has deleted on clusters, as cluster and kind.
    """

    objects: Iterable[Manifest]
    cloud: GoogleCloud = field(default_factory=GoogleCloud)
    running: bool = True
    ended: list[tuple[str, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.world = World(set(), set())
        self.control = ControlPlane((made.ACCOUNT, made.device_class(), GATEWAY, *self.objects), self.world)
        self._provider = Provider(self.cloud, self._find)

    @property
    def dead(self) -> set[str]:
        """Return the clusters whose API server does not answer; it may be changed."""
        return self.world.dead

    def turn(self) -> bool:
        """Make a pass of everything, and let the providers and the cloud act; tell whether anything has changed."""
        before = self._state()
        self.control.settle(1)
        if self.running:
            for kind in KINDS:
                for obj in self.control.list(kind):
                    self._answer(kind, obj)
        self._answer_objects()
        self.cloud.tick()
        return self._state() != before

    def settle(self, most: int = 80) -> bool:
        """Take turns until nothing changes any more; tell whether that came to be."""
        quiet = 0
        for _ in range(most):
            quiet = 0 if self.turn() else quiet + 1
            if quiet > self.cloud.delay + _QUIET:
                return True
        return False

    def _state(self) -> object:
        things = [(place, each.going, each.fields) for place, each in sorted(self.cloud.things.items())]
        return things, [
            (each["metadata"]["uid"], each["metadata"]["resourceVersion"]) for each in self.control.everything()
        ]

    def _find(self, kind: str, name: str) -> Manifest | None:
        return self.control.get(_BY_KIND[kind], SYSTEM_NAMESPACE, name)

    def _answer(self, kind: str, obj: Manifest) -> None:
        answer = self._provider.answer(obj)
        name = obj["metadata"]["name"]
        fields = {**obj["spec"]["forProvider"], **answer.resolved}
        finalizers = [_OBJECT_FINALIZER] if answer.finalizer else []
        self._write({**obj, "spec": {**obj["spec"], "forProvider": fields}}, finalizers)
        secret = obj["spec"].get("writeConnectionSecretToRef")
        if answer.secret and secret and not obj["metadata"].get("deletionTimestamp"):
            self._write_secret(obj, secret["name"])
        if merge_patch(obj.get("status"), answer.status) != obj.get("status") and self.control.get(
            kind, SYSTEM_NAMESPACE, name
        ):
            self.control.patch_status(kind, SYSTEM_NAMESPACE, name, answer.status)

    def _write(self, obj: Manifest, finalizers: list[str]) -> None:
        before = self.control.get(f"{obj['kind']}.{obj['apiVersion'].partition('/')[0]}", *_place(obj))
        wanted = {**obj, "metadata": {**obj["metadata"], "finalizers": finalizers}}
        bare = before is not None and not before["metadata"].get("finalizers")
        if before is not None and (wanted["spec"] != before["spec"] or bare is bool(finalizers)):
            self.control.apply(wanted)

    def _write_secret(self, owner: Manifest, name: str) -> None:
        if self.control.get("Secret", SYSTEM_NAMESPACE, name) is None:
            refs = [
                {
                    "apiVersion": owner["apiVersion"],
                    "kind": owner["kind"],
                    "name": owner["metadata"]["name"],
                    "uid": owner["metadata"]["uid"],
                    "controller": True,
                }
            ]
            metadata = {"name": name, "namespace": SYSTEM_NAMESPACE, "ownerReferences": refs}
            self.control.apply({"apiVersion": "v1", "kind": "Secret", "metadata": metadata})

    def _answer_objects(self) -> None:
        objects = self.control.list(OBJECT)
        for obj in objects:
            config, policies = obj["spec"]["providerConfigRef"]["name"], policies_of(obj)
            if not obj["metadata"].get("deletionTimestamp"):
                self._write(obj, [_OBJECT_FINALIZER])
                if manifest_of(obj).get("kind") == "Gateway" and "Create" in policies and self._reached(config):
                    self.world.exposed.add(config)
                    self.cloud.expose(self._in_cloud(config), self._network(config))
            elif "Delete" not in policies or (self._reached(config) and self._is_gone(obj, config)):
                self._write(obj, [])
        used = {each["spec"]["providerConfigRef"]["name"] for each in self.control.list(OBJECT)}
        for each in self.control.list(_CONFIG):
            name = each["metadata"]["name"]
            self._write(each, [_CONFIG_FINALIZER] if name in used else [])

    def _in_cloud(self, config: str) -> str:
        """Return the name of a cluster in the cloud, "" while its config is not there."""
        found = self.control.get(_CONFIG, None, config)
        return str(found["spec"]["credentials"]["secretRef"]["name"]) if found else ""

    def _network(self, config: str) -> str:
        there = self.cloud.things[("Cluster", self._in_cloud(config))]
        return str(there.fields.get("network"))

    def _reached(self, config: str) -> bool:
        """Tell whether provider-kubernetes reaches a cluster."""
        called = self._in_cloud(config)
        secret = bool(called) and self.control.get("Secret", SYSTEM_NAMESPACE, called)
        return bool(secret) and config not in self.dead and self.cloud.is_up("Cluster", called)

    def _is_gone(self, obj: Manifest, config: str) -> bool:
        """Delete on the cluster what an Object represents; tell whether it is gone."""
        kind = str(manifest_of(obj).get("kind"))
        if kind == "Service" and not self.cloud.unexpose(self._in_cloud(config)):
            return False
        self.ended.append((config, kind))
        return True


def _place(obj: Manifest) -> tuple[str | None, str]:
    return obj["metadata"].get("namespace"), obj["metadata"]["name"]
