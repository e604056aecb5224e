"""Every object of the control cluster's gateway is one that an API server with Envoy Gateway's kinds takes."""

from dataclasses import replace
from typing import Any

import pytest

from apiserver.server import Server
from modelplane.compose_endpoint.endpoint import compose
from modelplane.kube.certificate import (
    authority,
    authority_config_map,
    authority_issuer,
    pair,
    self_signed_issuer,
)
from modelplane.kube.gateway.access_log import access_log_filter
from modelplane.kube.gateway.backend import backend
from modelplane.kube.gateway.dns_name import endpoint_slice, headless_service
from modelplane.kube.gateway.filters import backend_host, direct_response
from modelplane.kube.gateway.fleet import fleet_routes, fleet_surroundings
from modelplane.kube.gateway.model_list import FleetModel
from modelplane.kube.gateway.model_name import served_model_filter
from modelplane.kube.gateway.private import PrivateGateway
from modelplane.kube.gateway.proxy import envoy_proxy, gateway_class, public_gateway
from modelplane.kube.gateway.route import ServiceRoute, https_redirect, service_route, unknown_paths
from modelplane.kube.gateway.security import caller_keys, security_policy
from modelplane.kube.gateway.traffic import (
    Traffic,
    client_traffic_policy,
    gateway_traffic_policy,
    service_traffic_policy,
)
from modelplane.model.routing import Address, BackendReference, Endpoint
from modelplane.step import Object, Request
from modelplane.step.opening import open_secrets
from property.externals import CERTIFICATE, External
from property.routes import address
from property.services import API, Service, bare
from unit.compose_cluster.public.gateways import SERVICE, TLS, bodies, decided, serving
from unit.compose_endpoint.endpoints import endpoint

MANY = [Address(f"e-{number}.ml.eu-1.replicas.modelplane.internal", "gw.example.org", 443) for number in range(256)]


def route(refusal: str | None) -> dict[str, Any]:
    backends = () if refusal else [BackendReference(f"b-{number}", 1_000_000) for number in range(16)]
    return service_route(
        ServiceRoute(
            name="chat",
            namespace="ml",
            path="/ml/chat",
            listeners=["http"],
            not_found="n",
            host="h",
            refusal=refusal,
            backends=backends,
            served="m" * 4096,
        )
    )


def gateway(certificate: str | None, internal: str | None = None) -> dict[str, Any]:
    return public_gateway(
        "g", "modelplane-system", class_name="c", proxy="p", certificate=certificate, internal=internal
    )


ORIGINS = ["*", "https://*", "https://*.example.com", "http://localhost:3000", "https://chat.example.com"]
PER_CALLER = Traffic(rate=(9, "Hour"), callers=tuple(f"{number:02}{'-' * 61}" for number in range(64)))
PRIVATE = PrivateGateway(name="g", class_name="c", certificate="pair", authority="ca", service_type="ClusterIP")
MODELS = [FleetModel(f"{'n' * 63}/{'s' * 249}{number}", "n" * 63, 1767323045) for number in range(1000, 2000)]
OBJECTS = {
    "a full Backend": backend("b", "ml", MANY, fallback=True),
    "a Backend by mutual TLS": backend("b", "ml", MANY[:1], fallback=False, authority="ca"),
    "the CA of a Backend": authority_config_map("ca", "ml", "pem"),
    "an Issuer of the CA": self_signed_issuer(),
    "the CA": authority(),
    "an Issuer by the CA": authority_issuer(),
    "a pair": pair("p", "inference-gateway.modelplane.internal", "server auth"),
    "the filter of the hostname": backend_host("h", "ml"),
    "a filter that answers": direct_response("r", "ml", status=503, message="No endpoint.", code="no_endpoints"),
    "a route to 16 Backends": route(None),
    "a route that answers by itself": route("r"),
    "a redirect": https_redirect("redirect"),
    "an answer to unknown paths": unknown_paths("unknown", ["http"], "r"),
    "a policy towards endpoints": gateway_traffic_policy("t", "modelplane-system", "g"),
    "a policy with affinity and limit": service_traffic_policy(
        "t", "ml", "r", Traffic("1h30m", "5m", "x-user", (9, "Hour"))
    ),
    "a policy of callers": client_traffic_policy("c", "modelplane-system", "g"),
    "a policy with a limit of each caller": service_traffic_policy("t", "ml", "r", PER_CALLER),
    "keys of callers": caller_keys("k", "ml", {"ann": "YQ=="}),
    "a policy of keys": security_policy("s", "ml", "r", keys="k", origins=()),
    "a policy of origins": security_policy("s", "ml", "r", keys=None, origins=ORIGINS),
    "a policy of both": security_policy("s", "ml", "r", keys="k", origins=ORIGINS),
    "a class": gateway_class("c"),
    "a name": headless_service("n"),
    "its IPv4 address": endpoint_slice("n", "203.0.113.7"),
    "its IPv6 address": endpoint_slice("n", "2001:db8::7"),
    "the pods of a gateway": envoy_proxy("p", "modelplane-system", replicas=2),
    "the pods of the public gateway": envoy_proxy(
        "p", "modelplane-system", replicas=2, tokens=True, client_pair="pair"
    ),
    **{f"private: {name}": body for name, body in PRIVATE.surroundings().items()},
    **{f"router: {name}": body for name, body in replace(PRIVATE, alone=True).surroundings().items()},
    "a private gateway": PRIVATE.gateway(),
    "its answer to other hosts": PRIVATE.unknown_hosts(),
    "a filter of what engines serve": served_model_filter("f", "modelplane-system", "g"),
    "a filter of what is logged": access_log_filter("f", "modelplane-system", "g", tokens=True, passed="g"),
    **{f"fleet: {name}": body for name, body in fleet_surroundings("gw.example.org", MODELS, "g").items()},
    **{f"fleet: {name}": body for name, body in fleet_routes(["http"]).items()},
    "a gateway without TLS": gateway(None),
    "a gateway with TLS": gateway("tls"),
    "a gateway with an internal listener": gateway("tls", internal="pair"),
    "a policy of a listener's callers": client_traffic_policy(
        "c", "modelplane-system", "g", authority="ca", listener="internal"
    ),
    "the gateway itself by mutual TLS": fleet_surroundings("gw.example.org", [], "g", "ca")["gateway"],
}


@pytest.mark.parametrize("made", OBJECTS.values(), ids=OBJECTS)
def test_what_routes_requests_is_taken(server: Server, made: dict[str, Any] | None) -> None:
    assert made is not None
    assert server.refusal(made) == ""


READY = Endpoint("e-1", {"tier": "a"}, address("e-1"), ready=True)
LIMITS = {
    "timeouts": {"request": "30s"},
    "affinity": {"header": "x-session"},
    "rateLimit": {"requests": 9, "per": "Second"},
}


KEYS = {"keys": [{"name": "ann", "secretRef": {"name": "keys", "key": "ann"}}], "cors": {"allowOrigins": ORIGINS}}
KEYED = {"spec": {**LIMITS, **KEYS}, "secrets": {"keys": {"ann": b"a"}}}


@pytest.mark.parametrize("fields", [{}, {"endpoints": []}, {"requires_keys": True}, {"spec": LIMITS}, KEYED])
def test_what_a_service_composes_and_says_is_taken(server: Server, fields: dict[str, Any]) -> None:
    service = Service(**{"endpoints": [READY], **fields})
    service.settle()
    refused = {name: server.refusal(dict(open_secrets(bare(body)))) for name, body in service.store.items()}
    assert {name: words for name, words in refused.items() if words} == {}
    assert server.refusal_of_status(service.body | {"status": service.reconcile().status}) == ""


@pytest.mark.parametrize(("spec", "own"), [(TLS, "https-redirect"), ({}, "fleet-route")])
def test_what_an_inference_gateway_composes_and_says_is_taken(server: Server, spec: dict[str, Any], own: str) -> None:
    store = serving("http", "https", spec=spec, services=[SERVICE])
    result = decided(store, spec=spec, services=[SERVICE])
    made = bodies(result)
    assert {own, "gateway-in-use"} <= made.keys()
    made["gateway-in-use"]["metadata"]["name"] = "in-use"
    refused = {name: server.refusal(body) for name, body in made.items()}
    assert {name: words for name, words in refused.items() if words} == {}
    body = {"apiVersion": API, "kind": "InferenceGateway", "metadata": {"name": "default"}, "spec": spec}
    published = {**(result.status or {}), "fleetUrl": "http://gw.example.org/v1"}
    assert server.refusal_of_status(body | {"status": published}) == ""


EXTERNAL = {
    "url": "https://api.example.com:8443/openai/v1",
    "credential": {"secretRef": {"name": "s", "key": "k"}, "header": "x-api-key", "prefix": ""},
    "tls": {"caSecretRef": {"name": "s", "key": "ca"}, "serverName": "other.example.com"},
    "headers": {"anthropic-version": "2023-06-01"},
    "model": "vendor/model:large",
}


@pytest.mark.parametrize(
    "spec", [EXTERNAL, {"url": "https://api.example.com"}, {"url": "http://10.0.0.7/api", "host": "llm.example.com"}]
)
def test_what_an_endpoint_by_hand_composes_and_says_is_taken(server: Server, spec: dict[str, Any]) -> None:
    external = External(spec=spec, secrets={"s": {"k": b"key", "ca": CERTIFICATE}}, allowed=("10.0.0.7",))
    external.settle()
    assert server.refusal(external.body) == ""
    refused = {name: server.refusal(dict(open_secrets(bare(body)))) for name, body in external.store.items()}
    assert {name: words for name, words in refused.items() if words} == {}
    assert server.refusal_of_status(external.body | {"status": external.reconcile().status}) == ""


def test_what_an_endpoint_publishes_is_taken(server: Server) -> None:
    body = endpoint()
    status = compose(Request(Object(body, object()))).status
    del body["metadata"]["ownerReferences"]
    assert status
    assert server.refusal_of_status(body | {"status": status}) == ""
