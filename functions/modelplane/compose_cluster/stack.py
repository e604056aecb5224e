"""The ServingStack of an InferenceCluster: when it is composed, and what it says.

It is composed once the cluster answers and is known to be this InferenceCluster's, if `spec.stack` sets a part or
Modelplane makes the cluster. From then on it stays: without a word on parts in the spec it is as it was.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from modelplane.api.inferencecluster import InferenceClusterSpec
from modelplane.clouds import CLOUDS
from modelplane.compose_cluster.sources import Kubeconfig, Provision
from modelplane.composing.hold import held
from modelplane.model.conditions import NOT_SERVED_BY_THE_STACK as NOT_READY
from modelplane.model.conditions import Reason, StackCondition
from modelplane.model.names import API_VERSION, SYSTEM_NAMESPACE
from modelplane.observed.fields import condition, mapping, mappings, text
from modelplane.stack import Part, State
from modelplane.stack.values import DRIVER_ROOT
from modelplane.step import Manifest, Object, Request

RESOURCE: Final = "serving-stack"
#: A Gateway is made once what its Envoy is configured by can be used.
_BEFORE_GATEWAY: Final = (Part.GATEWAY, Part.AI_GATEWAY)
#: As spec.tolerations of a ServingStack takes.
_MOST_TOLERATIONS: Final = 64
_USABLE: Final = (State.RUNNING, State.PRESENT)
_UNSEEN: Final = "the serving stack has not been seen yet"


@dataclass(frozen=True, slots=True)
class StackReport:
    """What a ServingStack says. `serves` is None while that is not known. `reason` is why it does not.

    `inventory`: it has Modelplane's inventory among its parts.
    """

    serves: bool | None = None
    reason: Reason = Reason.INSTALLING
    message: str = _UNSEEN
    usable: frozenset[str] = frozenset()
    inventory: bool = False

    @property
    def allows_gateway(self) -> bool:
        """Tell whether a Gateway can be made: pods of what configures its Envoy run, whatever Helm says of them."""
        return self.serves is True or self.usable >= frozenset(_BEFORE_GATEWAY)


def read(request: Request) -> StackReport | None:
    """Return what the ServingStack says, None where no part is asked for."""
    found, spec = request.observed.get(RESOURCE), mapping(request.composite.body.get("spec"))
    if found:
        return read_report(found)
    asked, made = mapping(spec.get("stack")), text(mapping(spec.get("cluster")).get("source")) in CLOUDS
    return StackReport() if made or any(part in asked for part in Part) else None


def read_report(found: Object) -> StackReport:
    """Return what a ServingStack says."""
    status, ready = mapping(found.body.get("status")), condition(found, StackCondition.PARTS_READY)
    serves, said = status.get("serves"), text(ready.get("reason"))
    usable = {text(row.get("name")) for row in mappings(status.get("parts")) if row.get("state") in _USABLE}
    return StackReport(
        serves=serves if isinstance(serves, bool) else None,
        reason=next((each for each in NOT_READY if each == said), Reason.INSTALLING),
        message=text(ready.get("message")) if ready else _UNSEEN,
        usable=frozenset(usable),
        inventory=any(row.get("name") == Part.INVENTORY for row in mappings(status.get("parts"))),
    )


def parts_of(spec: InferenceClusterSpec) -> dict[str, str]:
    """Return how the spec asks for parts to be handled, by name; empty where it says nothing of them."""
    chosen = spec.stack.model_dump(exclude_none=True) if spec.stack else {}
    return {part: chosen[part] for part in Part if part in chosen}


def bodies(
    request: Request, spec: InferenceClusterSpec, provision: Provision, *, known: bool, observe_only: bool
) -> dict[str, Manifest]:
    """Return the ServingStack, held where it cannot be made as asked.

    `known`: the cluster answers and is the right one. `observe_only`: nothing may be installed there, because another
    InferenceCluster has it or it is not the cluster of before.
    """
    if observe_only:
        return watched(request)
    parts = parts_of(spec)
    if not ((parts or provision.made) and known and provision.kubeconfig):
        return kept(request, known=known)
    values = dict(spec.stack.values or {}) if spec.stack else {}
    if provision.driver_root:
        values[Part.DRA] = {DRIVER_ROOT: provision.driver_root} | dict(mapping(values.get(Part.DRA)))
    body = _body(request.composite.name, provision.kubeconfig, parts, values)
    tolerations = _tolerations(spec) if Part.INVENTORY in parts else []
    return {RESOURCE: {**body, "spec": body["spec"] | ({"tolerations": tolerations} if tolerations else {})}}


def _tolerations(spec: InferenceClusterSpec) -> list[dict[str, Any]]:
    """Return the tolerations of all pools, each once."""
    all_of = [
        each.model_dump(mode="json", exclude_none=True)
        for pool in spec.nodePools or ()
        for each in pool.tolerations or ()
    ]
    return [each for at, each in enumerate(all_of) if each not in all_of[:at]][:_MOST_TOLERATIONS]


def kept(request: Request, *, known: bool) -> dict[str, Manifest]:
    """Return the ServingStack that was composed, held; where it only observed it installs again once `known`."""
    seen = request.observed.get(RESOURCE)
    if not seen:
        return {}
    body = held(seen.body)
    spec = {field: value for field, value in body["spec"].items() if not (known and field == "observeOnly")}
    return {RESOURCE: {**body, "spec": spec}}


def watched(request: Request) -> dict[str, Manifest]:
    """Return the ServingStack that was composed, by which nothing is installed or changed on the cluster any more."""
    seen = request.observed.get(RESOURCE)
    if not seen:
        return {}
    body = held(seen.body)
    return {RESOURCE: {**body, "spec": {**body["spec"], "observeOnly": True}}}


def _body(cluster: str, kubeconfig: Kubeconfig, parts: Mapping[str, str], values: Mapping[str, Any]) -> dict[str, Any]:
    secret, identity = kubeconfig.secret, kubeconfig.identity
    spec: dict[str, Any] = {"clusterName": cluster, "kubeconfig": {"name": secret.name, "key": secret.key}}
    if identity:
        spec["identity"] = {"type": identity[0], "name": identity[1].name, "key": identity[1].key}
    return {
        "apiVersion": API_VERSION,
        "kind": "ServingStack",
        "metadata": {"name": cluster, "namespace": SYSTEM_NAMESPACE},
        "spec": {**spec, "parts": dict(parts)} | ({"values": values} if values else {}),
    }
