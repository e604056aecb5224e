"""An InferenceGateway, and the objects that its passes compose and observe, as test inputs."""

import copy
from typing import Any

from modelplane.compose_cluster.public.inference_gateway import compose
from modelplane.composing.requirements import CERTIFICATE_KINDS, GATEWAY_KINDS
from modelplane.step import Object, Request, Result
from modelplane.step.call import run

TLS = {"tls": {"hostname": "models.example.com", "secretRef": {"name": "models-tls"}}}
#: What the gateway's Services are called, as its status says.
NAMED = {"public": "public-gateway.envoy-gateway-system.svc.cluster.local"}
SERVICE = {"kind": "ModelService", "metadata": {"name": "chat", "namespace": "ml"}}


def obj(body: dict[str, Any]) -> Object:
    return Object(copy.deepcopy(body), object())


def decided(
    store: dict[str, Any], *, kinds: bool = True, services: list[dict[str, Any]] | None = None, **fields: Any
) -> Result:
    body = {
        "apiVersion": "modelplane.ai/v1alpha1",
        "kind": "InferenceGateway",
        "metadata": {"name": "default", "annotations": fields.get("annotations", {})},
        "spec": fields.get("spec", {}),
        "status": fields.get("status", {}),
    }
    secrets = fields.get("secrets", {})
    required = {name: tuple(map(obj, found)) for name, found in secrets.items()}
    schemas = {
        each.name: {"type": "object"} if kinds and each.name not in fields.get("missing", ()) else None
        for each in (*GATEWAY_KINDS, *CERTIFICATE_KINDS)
    }
    definitions = {f"definition-{name}": () for name, found in schemas.items() if found is None}
    definitions |= {name: (obj(found),) for name, found in fields.get("definitions", {}).items()}
    outcome = run(
        compose,
        Request(
            obj(body),
            observed={name: obj(found) for name, found in store.items()},
            required=required | definitions | ({} if services is None else {"services": tuple(map(obj, services))}),
            schemas=schemas,
        ),
    )
    assert (outcome.defect, outcome.result.fatal) == (None, None)
    return outcome.result


def bodies(result: Result) -> dict[str, Any]:
    return {name: dict(each.build()) for name, each in result.desired.items()}


def serving(*listeners: str, address: str = "gw.example.org", **fields: Any) -> dict[str, Any]:
    """Return all objects of the gateway as they are when these listeners are programmed."""
    store = bodies(decided({}, **fields))
    store = bodies(decided(store, **fields))
    programmed = [{"type": "Programmed", "status": "True"}]
    for name in ("authority", "client-pair"):
        store[name]["status"] = {"conditions": [{"type": "Ready", "status": "True"}]}
    accepted = [{"type": "Accepted", "status": "True"}]
    ancestor = {"name": "public-gateway", "namespace": "modelplane-system"}
    store["listener-filters-policy"]["status"] = {"ancestors": [{"ancestorRef": ancestor, "conditions": accepted}]}
    store["gateway"]["status"] = {
        "addresses": [{"value": address}],
        "listeners": [{"name": name, "conditions": programmed} for name in listeners],
    }
    return store
