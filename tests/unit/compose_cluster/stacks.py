"""One cluster on which a ServingStack is installed: what it runs, and how the two providers answer, pass by pass."""

import copy
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from modelplane.compose_cluster.serving_stack import compose
from modelplane.model.conditions import Condition
from modelplane.model.names import INVENTORY
from modelplane.stack import CHARTS, PARTS, Part
from modelplane.step import Object, Request, Result

ABSENT = "cannot observe: external resource does not exist"
KINDS = {"helm-release": {"type": "object"}, "helm-config": {"type": "object"}}
#: Parts that are installed where none of them is set.
ALL_BUT_FEATURES = tuple(part for part, facts in PARTS.items() if facts.by_default)


def stack(**spec: Any) -> dict[str, Any]:
    """Return a ServingStack."""
    kubeconfig = {"name": "eu-1", "key": "kubeconfig"}
    return {
        "apiVersion": "modelplane.ai/v1alpha1",
        "kind": "ServingStack",
        "metadata": {"name": "eu-1", "namespace": "modelplane-system"},
        "spec": {
            field: value
            for field, value in {"clusterName": "eu-1", "kubeconfig": kubeconfig, **spec}.items()
            if value is not None
        },
    }


def synced(error: str = "") -> list[dict[str, Any]]:
    """Return the condition of an object that a provider has acted on."""
    return [{"type": "Synced", "status": "False" if error else "True", "message": error, "lastTransitionTime": "x"}]


def counted(kind: str, available: int, wanted: int) -> dict[str, Any]:
    """Return a workload with so many pods, all of them as its spec is now."""
    if kind == "DaemonSet":
        status = {"desiredNumberScheduled": wanted, "updatedNumberScheduled": wanted, "numberAvailable": available}
        return {"kind": kind, "spec": {}, "status": status}
    status = {"replicas": wanted, "updatedReplicas": wanted, "availableReplicas": available}
    return {"kind": kind, "spec": {"replicas": wanted}, "status": status}


@dataclass
class Cluster:
    """A cluster, its providers, and the ServingStack's composed objects as they are on the control cluster.

    `runs` are what somebody else runs there, `releases` those of Helm by name with their status. `pods` are the
    available pods of workloads, by name, of one that each wants. `starts`: an installed chart's pods run at once.
    """

    spec: dict[str, Any] = field(default_factory=dict)
    runs: set[Part] = field(default_factory=set)
    releases: dict[str, dict[str, Any]] = field(default_factory=dict)
    pods: dict[str, int] = field(default_factory=dict)
    starts: bool = True
    kubernetes: bool = True
    pools: bool = True
    kinds: dict[str, Any] = field(default_factory=lambda: dict(KINDS))
    required: dict[str, Any] = field(default_factory=dict)
    composed: dict[str, dict[str, Any]] = field(default_factory=dict)
    status: dict[str, Any] = field(default_factory=dict)
    installed: list[str] = field(default_factory=list)

    def turn(self, silent: Iterable[str] = ()) -> Result:
        """Run a pass, apply what it desires, and let the providers answer for all but the `silent` resources."""
        result = self.decide()
        if result.fatal is None:
            for name, desired in result.desired.items():
                body = copy.deepcopy(dict(desired.build()))
                self.composed[name] = {**body, "status": self.composed.get(name, {}).get("status", {})}
            self.composed = {name: body for name, body in self.composed.items() if name in result.desired}
            self.status = dict(result.status or {})
        for name, body in self.composed.items():
            if name not in set(silent):
                self.answer(body)
        return result

    def settle(self) -> Result:
        """Run as many passes as the longest order of charts takes."""
        for _ in range(3 * len(CHARTS)):
            self.turn()
        return self.decide()

    def decide(self) -> Result:
        """Return the result of a pass."""
        composite = Object({**stack(**self.spec), "status": copy.deepcopy(self.status)}, object())
        observed = {name: Object(copy.deepcopy(body), object()) for name, body in self.composed.items()}
        required = {name: tuple(Object(each, object()) for each in found) for name, found in self.required.items()}
        return compose(Request(composite, observed, schemas=self.kinds, required=required))

    def answer(self, body: dict[str, Any]) -> None:
        """Do what the provider of an object does, and write its status."""
        if body["kind"] == "Release":
            self._helm(body)
        elif body["kind"] == "Object":
            self._observe(body)

    def _helm(self, body: dict[str, Any]) -> None:
        name = body["metadata"]["annotations"]["crossplane.io/external-name"]
        if name not in self.releases and "Create" in body["spec"]["managementPolicies"]:
            chart = body["spec"]["forProvider"]["chart"]
            self.releases[name] = {"state": "deployed", "revision": 1, "version": chart["version"]}
            self.installed.append(chart["name"])
        if name not in self.releases:
            body["status"] = {"conditions": synced(ABSENT)}
            return
        release = dict(self.releases[name])
        failed = {"failed": release.pop("failed")} if "failed" in release else {}
        body["status"] = {"atProvider": release, **failed, "conditions": synced()}

    def _observe(self, body: dict[str, Any]) -> None:
        wanted = body["spec"]["forProvider"]["manifest"]
        found = self._find(wanted["kind"], wanted["metadata"]["name"])
        if found is None:
            body["status"] = {"conditions": synced(ABSENT)}
        else:
            manifest = {**wanted, **found}
            body["status"] = {"atProvider": {"manifest": manifest}, "conditions": synced()}

    def _find(self, kind: str, name: str) -> dict[str, Any] | None:
        if name == "v1.resource.k8s.io":
            return {} if self.kubernetes else None
        if name == "v1.inference.networking.k8s.io":
            return {} if self.pools else None
        for part, facts in PARTS.items():
            if facts.shown_by[1:] == (kind, name) and not facts.own:
                ours = any(chart.release in self.releases for chart in facts.charts)
                return {} if part in self.runs or ours else None
        if name == INVENTORY:
            return counted(kind, self.pods.get(name, int(self.starts)), 1) if kind == "Deployment" else {}
        for _, chart in CHARTS.values():
            for workload in chart.workloads:
                if workload.name == name:
                    there = chart.release in self.releases
                    return counted(kind, self.pods.get(name, int(self.starts)), 1) if there else None
        raise LookupError(name)

    def installing(self) -> set[str]:
        """Return the charts whose Releases may install."""
        releases = (body for body in self.composed.values() if body["kind"] == "Release")
        return {
            body["spec"]["forProvider"]["chart"]["name"]
            for body in releases
            if "Create" in body["spec"]["managementPolicies"]
        }


def condition(result: Result) -> Condition:
    """Return PartsReady."""
    (found,) = result.conditions
    return found


def states(result: Result) -> dict[str, str]:
    """Return the state of each part."""
    return {row["name"]: row["state"] for row in (result.status or {})["parts"]}


def message(result: Result, part: Part) -> str:
    """Return the message of a part."""
    found = next(row for row in (result.status or {})["parts"] if row["name"] == part)
    return str(found.get("message", ""))
