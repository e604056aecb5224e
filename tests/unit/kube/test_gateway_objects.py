"""What the objects of the control cluster's gateway promise of every request, rule by rule."""

from typing import Any

import pytest

from modelplane.kube.gateway.answers import PROVIDER_REFUSED
from modelplane.kube.gateway.backend import backend
from modelplane.kube.gateway.proxy import envoy_proxy
from modelplane.kube.gateway.route import ServiceRoute, service_route
from modelplane.kube.gateway.traffic import (
    LARGE_BUFFER,
    Traffic,
    client_traffic_policy,
    gateway_traffic_policy,
    service_traffic_policy,
)
from modelplane.model.routing import Address, BackendReference


@pytest.mark.parametrize(("place", "merged"), [("", None), ("mirror.example.org/images", "StrategicMerge")])
def test_an_envoy_takes_its_image_from_the_place_that_envoy_gateway_is_told(
    place: str, merged: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MODELPLANE_CHART_IMAGES", place)
    assert envoy_proxy("a", "b", replicas=1)["spec"].get("mergeType") == merged


POLICY = gateway_traffic_policy("p", "modelplane-system", "g")["spec"]
CALLERS = client_traffic_policy("c", "modelplane-system", "g")["spec"]
KEEPALIVE = {"probes": 3, "idleTime": "60s", "interval": "20s"}

PODS = envoy_proxy("p", "modelplane-system", replicas=1)["spec"]
OVERLOAD = {
    each["path"].removeprefix("/overload_manager/"): each["value"]
    for each in PODS["bootstrap"]["jsonPatches"]
    if each["path"].startswith("/overload_manager/")
}
#: A rule, where it stands, and what stands there.
KEYED = client_traffic_policy("c", "modelplane-system", "g", buffer=LARGE_BUFFER)["spec"]
RULES: dict[str, tuple[Any, Any]] = {
    "the memory of an Envoy has a limit": (
        PODS["provider"]["kubernetes"]["envoyDeployment"]["container"]["resources"]["limits"],
        {"memory": "4Gi"},
    ),
    "before Envoy takes no more requests it ends the streams that hold most": (
        OVERLOAD,
        {
            "actions/-": {
                "name": "envoy.overload_actions.reset_high_memory_stream",
                "triggers": [
                    {
                        "name": "envoy.resource_monitors.fixed_heap",
                        "scaled": {"scaling_threshold": 0.85, "saturation_threshold": 0.95},
                    }
                ],
            },
            "buffer_factory_config": {"minimum_account_to_track_power_of_two": 18},
        },
    ),
    "an endpoint that fails is left alone for a while, be it one of two": (
        POLICY["healthCheck"]["passive"],
        {
            "maxEjectionPercent": 100,
            "consecutive5XxErrors": 0,
            "consecutiveGatewayErrors": 3,
            "interval": "2s",
            "baseEjectionTime": "15s",
        },
    ),
    "no endpoint is probed: a provider's quota is not for that": ("active" in POLICY["healthCheck"], False),
    "what is ejected gets requests only while nothing else is left": (POLICY["healthCheck"]["panicThreshold"], 1),
    "a request is tried at most four times, and not after 500": (
        (POLICY["retry"]["numRetries"], POLICY["retry"]["retryOn"]["httpStatusCodes"]),
        (3, [429, 502, 503, 504, 590]),
    ),
    "a provider's refusal is tried elsewhere by a status that ejects nobody": (
        PROVIDER_REFUSED in {502, 503, 504},
        False,
    ),
    "the second try stays in the first tier": (POLICY["retry"]["numAttemptsPerPriority"], 2),
    "no try has a timeout, which would run the request twice": (
        POLICY["retry"]["perRetry"],
        {"backOff": {"baseInterval": "50ms", "maxInterval": "1s"}},
    ),
    "a service has room for more than 1,024 requests": (
        POLICY["circuitBreaker"],
        dict.fromkeys(("maxConnections", "maxPendingRequests", "maxParallelRequests"), 100_000),
    ),
    "silent connections to endpoints are kept alive": (POLICY["tcpKeepalive"], KEEPALIVE),
    "silent connections of callers are kept alive": (CALLERS["tcpKeepalive"], KEEPALIVE),
    "a stream may be silent for an hour": (
        POLICY["timeout"],
        {"http": {"streamIdleTimeout": "1h"}},
    ),
    "no answer is replaced by a new one, which has lost its headers and its reason": (
        "responseOverride" in POLICY,
        False,
    ),
    "no more than 1 MiB of a caller's request is held, by HTTP/1 or by HTTP/2": (
        (CALLERS["connection"], CALLERS["http2"]["initialStreamWindowSize"]),
        ({"bufferLimit": "1Mi"}, "1Mi"),
    ),
    "where every caller has a key, a prompt of up to 50 MiB can be sent again, of 16 MiB by HTTP/2": (
        (KEYED["connection"], KEYED["http2"]["initialStreamWindowSize"]),
        ({"bufferLimit": "50Mi"}, "16Mi"),
    ),
    "the prompts of a connection arrive at once, and one that is wrong ends itself alone": (
        (CALLERS["http2"]["initialConnectionWindowSize"], CALLERS["http2"]["onInvalidMessage"]),
        ("24Mi", "TerminateStream"),
    ),
    "a request keeps its id, or is given one, and its answer has it": (
        (CALLERS["headers"]["requestID"], CALLERS["headers"]["lateResponseHeaders"]["set"][0]),
        ("PreserveOrGenerate", {"name": "x-request-id", "value": "%REQ(X-REQUEST-ID):128%"}),
    ),
    "a load balancer may ask by HTTP/1.0": (CALLERS["http1"], {"http10": {}}),
}


@pytest.mark.parametrize(("found", "expected"), RULES.values(), ids=RULES)
def test_traffic_follows_the_rule(found: Any, expected: Any) -> None:
    assert found == expected


def test_the_only_endpoint_is_tried_once_more_and_not_after_429() -> None:
    policy = service_traffic_policy("p", "ml", "r", Traffic(one_endpoint=True))
    assert policy
    retry = policy["spec"]["retry"]
    assert (retry["numRetries"], retry["retryOn"]["httpStatusCodes"]) == (1, [502, 503, 504])
    assert service_traffic_policy("p", "ml", "r", Traffic()) is None


def test_an_endpoint_is_a_dns_name_and_never_an_ip() -> None:
    made = backend("b", "ml", [Address("h.internal", "gw.example.org", 443)], fallback=False)
    assert made["spec"] == {
        "type": "Endpoints",
        "endpoints": [{"hostname": "h.internal", "fqdn": {"hostname": "gw.example.org", "port": 443}}],
    }


def test_a_route_leaves_v1_only_and_not_the_paths_that_change_an_engine() -> None:
    route = service_route(
        ServiceRoute(
            name="r",
            namespace="ml",
            path="/ml/chat",
            listeners=["http"],
            not_found="answer-404",
            host="host",
            refusal=None,
            backends=[BackendReference("b", 1)],
        )
    )
    serving, admin = route["spec"]["rules"]
    assert [each["path"]["value"] for each in serving["matches"]] == ["/ml/chat/v1"]
    rewrite = next(each["urlRewrite"] for each in serving["filters"] if each["type"] == "URLRewrite")
    assert rewrite == {"path": {"type": "ReplacePrefixMatch", "replacePrefixMatch": "/v1"}}
    paths = ["/ml/chat/v1/load_lora_adapter", "/ml/chat/v1/unload_lora_adapter"]
    assert [each["path"]["value"] for each in admin["matches"]] == paths
    assert [each["extensionRef"]["name"] for each in admin["filters"]] == ["answer-404"]
    assert "backendRefs" not in admin
