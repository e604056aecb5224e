"""A world in which several InferenceClusters reach one cluster, whose objects are applied and deleted for real."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from modelplane.model.names import provider_config
from modelplane.preview.simulation.clusters import status_on_cluster
from modelplane.preview.simulation.gateway import gateway_answers
from modelplane.preview.simulation.providers import COLLECTION, OBJECT, StatusPatch, condition_of, patch_of
from modelplane.preview.store import View
from modelplane.preview.worlds import healthy

UID = "uid-of-the-cluster"
#: (kind, namespace, name) on the cluster.
Key = tuple[str, str, str]
_CREATES, _UPDATES, _DELETES = (frozenset({"*", each}) for each in ("Create", "Update", "Delete"))
_KUBE_SYSTEM: Key = ("Namespace", "", "kube-system")


def _key(manifest: Mapping[str, Any]) -> Key:
    metadata = manifest["metadata"]
    return manifest["kind"], metadata.get("namespace", ""), metadata["name"]


def _policies(obj: Mapping[str, Any]) -> frozenset[str]:
    return frozenset(obj["spec"].get("managementPolicies") or ("*",))


@dataclass
class PhysicalCluster:
    """One cluster behind the ClusterProviderConfigs of `names`; it acts on Objects as provider-kubernetes does.

    `there` is what is on it. `deleted` are the objects that Objects have deleted there, in their order, and
    `certificates` what its Gateway was told to show, each change.
    """

    names: frozenset[str]
    uid: str = UID
    there: dict[Key, dict[str, Any]] = field(default_factory=dict)
    deleted: list[Key] = field(default_factory=list)
    certificates: list[str] = field(default_factory=list)
    kinds: Any = healthy.kinds
    _seen: dict[str, tuple[frozenset[str], Key]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Begin with what every cluster has, and the APIs of the gateway."""
        for name in ("v1.gateway.networking.k8s.io", "v1alpha1.gateway.envoyproxy.io"):
            service = {"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": {"name": name}}
            self.there[_key(service)] = service
        self.there[_KUBE_SYSTEM] = {
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {"name": "kube-system", "uid": self.uid},
        }

    def __call__(self, view: View) -> Iterator[StatusPatch]:
        """Yield what the provider writes, after it has done on the cluster what the Objects ask for."""
        configs = {provider_config(name) for name in self.names}
        objects = list(view.scan(OBJECT))
        mine = [obj for obj in objects if obj["spec"]["providerConfigRef"]["name"] in configs]
        # An Object whose kubeconfig leads elsewhere now is not gone.
        for uid in {obj["metadata"]["uid"] for obj in objects if obj not in mine}:
            self._seen.pop(uid, None)
        self._let_go({obj["metadata"]["uid"] for obj in mine})
        for obj in mine:
            if not obj["metadata"].get("deletionTimestamp"):
                self._apply(obj)
        for obj in mine:
            if not obj["metadata"].get("deletionTimestamp"):
                yield patch_of(obj, self._status(obj, view.now))
        for obj in view.scan(COLLECTION):
            ready = [condition_of(obj, view.now, kind, "True", "Available") for kind in ("Ready", "Synced")]
            yield patch_of(obj, {"conditions": ready})
        yield from gateway_answers(view)

    def _let_go(self, left: set[str]) -> None:
        """Delete the objects of the Objects that are gone, where their policies say so."""
        for uid in self._seen.keys() - left:
            policies, key = self._seen.pop(uid)
            if policies & _DELETES and self.there.pop(key, None) is not None:
                self.deleted.append(key)

    def _apply(self, obj: Mapping[str, Any]) -> None:
        policies, wanted = _policies(obj), obj["spec"]["forProvider"]["manifest"]
        key = _key(wanted)
        self._seen[obj["metadata"]["uid"]] = (policies, key)
        if policies & (_UPDATES if key in self.there else _CREATES):
            before = self.there.get(key, {}).get("metadata", {}).get("generation", 0)
            made = {"uid": "-".join(key), "generation": before or 1, **wanted["metadata"]}
            if before and {**self.there[key], "metadata": made} != {**wanted, "metadata": made}:
                made["generation"] = before + 1
            self.there[key] = {**wanted, "metadata": made}
            self._follow(wanted)

    def _follow(self, applied: Mapping[str, Any]) -> None:
        if applied["kind"] == "Gateway":
            shown = applied["spec"]["listeners"][0]["tls"]["certificateRefs"][0]["name"]
            if self.certificates[-1:] != [shown]:
                self.certificates.append(shown)

    def _status(self, obj: Mapping[str, Any], now: str) -> dict[str, Any]:
        found = self.there.get(_key(obj["spec"]["forProvider"]["manifest"]))
        if found is None:
            why = "observe failed: external resource does not exist"
            failed = condition_of(obj, now, "Synced", "False", "ReconcileError", message=why)
            return {"conditions": [condition_of(obj, now, "Ready", "False", "Creating"), failed]}
        ready = [condition_of(obj, now, kind, "True", "Available") for kind in ("Ready", "Synced")]
        return {"conditions": ready, "atProvider": {"manifest": found | _answer(found)}}


def _answer(found: Mapping[str, Any]) -> dict[str, Any]:
    if found["kind"] != "Gateway":
        status = status_on_cluster(found, "")
        return {"status": status} if status else {}
    programmed = [{"type": "Programmed", "status": "True"}]
    listeners = [{"name": each["name"], "conditions": programmed} for each in found["spec"]["listeners"]]
    return {"status": {"addresses": [{"value": "gw.example.org"}], "conditions": programmed, "listeners": listeners}}
