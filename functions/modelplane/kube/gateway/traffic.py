"""Policies of the traffic through the control cluster's gateway: towards endpoints, and from callers.

What the public gateway answers in place of an endpoint is in `answers`, not in a policy: Envoy's own filter for that
makes a new answer, which has lost its headers, and the log the reason.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from re import escape
from typing import Any, Final

from modelplane.kube.gateway.answers import LONGEST_ID, PROVIDER_REFUSED
from modelplane.kube.gateway.filters import error_body
from modelplane.kube.gateway.kinds import envoy_object, target
from modelplane.model.names import CLIENT_NAME, HEADER_CALLER

#: Cloud load balancers drop silent TCP connections after 4 to 6 minutes.
_KEEPALIVE: Final = {"probes": 3, "idleTime": "60s", "interval": "20s"}
#: Connections and requests at one time; Envoy Gateway's default is 1,024 for a whole service.
_PARALLEL: Final = 100_000
#: Requests that were not answered and go to another endpoint, where no byte of an answer has been sent. 500 is an
#: engine's word on the request itself.
_RETRY: Final[Mapping[str, Any]] = {
    "numRetries": 3,
    # With one attempt the second goes to the fallback tier, beside a healthy endpoint of the first.
    "numAttemptsPerPriority": 2,
    "retryOn": {
        "triggers": ["connect-failure", "refused-stream", "reset", "retriable-status-codes"],
        "httpStatusCodes": [429, 502, 503, 504, PROVIDER_REFUSED],
    },
    "perRetry": {"backOff": {"baseInterval": "50ms", "maxInterval": "1s"}},
}
#: Where a service has one endpoint, a request is tried there once more, because another of its engines may take it, and
#: not after 429, nor where a provider does not accept its credential: whoever has said that is to be left alone.
_RETRY_ALONE: Final = {
    **_RETRY,
    "numRetries": 1,
    "retryOn": {"triggers": _RETRY["retryOn"]["triggers"], "httpStatusCodes": [502, 503, 504]},
}
#: Requests that a pod did not take, or that ended with it before a byte of an answer, go to another copy on the cluster
#: itself. The public gateway would count them as failures of the endpoint and eject it, and send all requests to the
#: fallback although other copies serve.
_RETRY_COPY: Final = {
    "numRetries": 2,
    "retryOn": {"triggers": ["connect-failure", "refused-stream", "reset"]},
    "perRetry": {"backOff": {"baseInterval": "25ms", "maxInterval": "250ms"}},
}
#: An endpoint that fails gets no requests for a while. By Envoy's default, 10 percent, one of three is never ejected.
#: 500 and 501 do not count (0: never), because one caller's request can cause them. They would end the service of the
#: others, or send them to a fallback that costs money.
_PASSIVE: Final = {
    "maxEjectionPercent": 100,
    "consecutive5XxErrors": 0,
    "consecutiveGatewayErrors": 3,
    "interval": "2s",
    "baseEjectionTime": "15s",
}
#: The percentage of endpoints in use below which requests go to the ejected ones too: of up to a hundred, when none is
#: left. By Envoy's default, 50, it loses requests while more than half of the endpoints are dead.
_PANIC: Final = 1
#: Headers that only Modelplane's own hops may set: engines' sidecars and pickers trust them.
_RESERVED_HEADERS: Final = ("x-modelplane-", "x-gateway-", "x-prefiller-", "x-ai-eg-")


#: Headers of answers by which one team's engine or provider would act on the others' in a browser: all services share
#: the gateway's origin.
_ORIGIN_HEADERS: Final = (
    "alt-svc",
    "clear-site-data",
    "nel",
    "report-to",
    "reporting-endpoints",
    "service-worker-allowed",
    "set-cookie",
    "strict-transport-security",
)
#: A page that an engine answers with has an origin of its own, and no text is taken for another kind.
_SANDBOX: Final[Mapping[str, str]] = {"content-security-policy": "sandbox", "x-content-type-options": "nosniff"}
#: Where the gateway itself says 200 while it takes requests, and 503 while it ends.
HEALTH_PATH: Final = "/healthz"
#: The longest silence of a stream where a service says nothing else.
_IDLE: Final = "1h"
_NO_LIMIT: Final = "0s"
#: Bytes of a request that a gateway holds in order to send it again, or to read it: where callers may have no key, and
#: elsewhere. Envoy Gateway can say it by listener, and not by route. Of a request by HTTP/2 Envoy holds the window of
#: its stream, whatever the buffer is.
CALLERS_BUFFER: Final = 2**20
LARGE_BUFFER: Final = 50 * 2**20
#: What a gateway behind another one holds of a request that the first has let in, with a longer name of its model.
HOP_BUFFER: Final = CALLERS_BUFFER + 2**16
_LARGE_WINDOW: Final = 16 * 2**20
#: Callers of a rule: an expression of their names has at most 1,024 characters.
_GROUP: Final = 8


@dataclass(frozen=True, slots=True)
class Traffic:
    """How requests of a service are spread and limited.

    `request` is the longest time for a whole request, 0s for no limit, and `idle` the longest silence of a stream.
    `affinity` is the header whose equal values go to one endpoint. `rate` is the most requests of each gateway instance
    in a unit of time (Second, Minute, Hour), of each of the `callers` where these are named, by their keys.
    `one_endpoint`: there is no other that a request could be sent to.
    """

    request: str = _NO_LIMIT
    idle: str = _IDLE
    affinity: str | None = None
    rate: tuple[int, str] | None = None
    callers: tuple[str, ...] = ()
    one_endpoint: bool = False


def _balancing(header: str) -> dict[str, Any]:
    by_header = {"type": "Headers", "headers": [{"name": header}]}
    return {"loadBalancer": {"type": "ConsistentHash", "consistentHash": by_header}}


def _limit(requests: int, unit: str, callers: Sequence[str]) -> dict[str, Any]:
    """Return the limit of all requests, or of each caller's.

    Of the values of a header Envoy counts 20 in a rule, and forgets the oldest of more: callers are divided among
    rules.
    """
    groups = [callers[at : at + _GROUP] for at in range(0, len(callers), _GROUP)]
    named = [[_caller("Distinct"), _caller("RegularExpression", "|".join(map(escape, group)))] for group in groups]
    limit = {"limit": {"requests": requests, "unit": unit}}
    rules = [{"clientSelectors": [{"headers": headers}], **limit} for headers in named]
    return {"rateLimit": {"local": {"rules": rules or [limit]}}}


def _caller(kind: str, value: str | None = None) -> dict[str, str]:
    return {"name": HEADER_CALLER, "type": kind, **({"value": value} if value else {})}


def _timeouts(idle: str, request: str = _NO_LIMIT) -> dict[str, Any]:
    """Return the time limits of a stream.

    The limit of a whole request is that of its stream. Envoy counts a request that its route's timeout ends as the
    endpoint's failure, and ejects it for all callers, because of a limit that its service has set.
    """
    limit = {} if request == _NO_LIMIT else {"maxStreamDuration": request}
    return {"timeout": {"http": {"streamIdleTimeout": idle, **limit}}}


def gateway_traffic_policy(name: str, namespace: str, gateway: str) -> dict[str, Any]:
    """Return the policy of the traffic from a Gateway to all Backends; a service's own is merged into it.

    There is no timeout of an attempt: one that is shorter than the longest silence of an engine runs the request again.
    """
    parallel = {"maxConnections": _PARALLEL, "maxPendingRequests": _PARALLEL, "maxParallelRequests": _PARALLEL}
    spec = {
        "targetRefs": [target("Gateway", gateway)],
        "healthCheck": {"passive": dict(_PASSIVE), "panicThreshold": _PANIC},
        "retry": dict(_RETRY),
        "circuitBreaker": parallel,
        "tcpKeepalive": dict(_KEEPALIVE),
        **_timeouts(_IDLE),
    }
    return envoy_object("BackendTrafficPolicy", name, namespace, spec)


def service_traffic_policy(name: str, namespace: str, route: str, traffic: Traffic) -> dict[str, Any] | None:
    """Return the service's own policy, None if it sets nothing.

    A limit is a filter of the listener. All other fields change no more than the service's own route and cluster.
    """
    if traffic == Traffic():
        return None
    spec = {
        "targetRefs": [target("HTTPRoute", route)],
        "mergeType": "StrategicMerge",
        **_timeouts(traffic.idle, traffic.request),
    }
    spec |= _balancing(traffic.affinity) if traffic.affinity else {}
    spec |= _limit(*traffic.rate, traffic.callers) if traffic.rate else {}
    spec |= {"retry": dict(_RETRY_ALONE)} if traffic.one_endpoint else {}
    return envoy_object("BackendTrafficPolicy", name, namespace, spec)


def hop_traffic_policy(name: str, namespace: str, gateway: str, *, to_copies: bool = False) -> dict[str, Any]:
    """Return the policy of the traffic from a Gateway to what it alone leads to.

    What a pod does not take is tried at another copy where it leads `to_copies`; otherwise nothing is tried again here.

    What the gateway itself answers with 500, a picker that is dead or a reference to what is not there, becomes 503:
    the public gateway sends that to another endpoint, and 500 not.
    """
    parallel = {"maxConnections": _PARALLEL, "maxPendingRequests": _PARALLEL, "maxParallelRequests": _PARALLEL}
    body = {"type": "Inline", "inline": error_body(503, "The endpoint cannot take requests now.", "unavailable")}
    broken = {
        "match": {"statusCodes": [{"type": "Value", "value": 500}]},
        "response": {"contentType": "application/json", "statusCode": 503, "body": body},
        "source": "Local",
    }
    spec = {
        "targetRefs": [target("Gateway", gateway)],
        "circuitBreaker": parallel,
        "tcpKeepalive": dict(_KEEPALIVE),
        **_timeouts(_IDLE),
        "responseOverride": [broken],
    }
    spec |= {"retry": dict(_RETRY_COPY)} if to_copies else {}
    return envoy_object("BackendTrafficPolicy", name, namespace, spec)


def loop_traffic_policy(name: str, namespace: str, routes: Sequence[str]) -> dict[str, Any]:
    """Return the policy of routes that send requests to their own Gateway once more; it replaces the Gateway's.

    Nothing is tried again and no silence ends a stream here: that is for the second pass, as the service has it.
    """
    parallel = {"maxConnections": _PARALLEL, "maxPendingRequests": _PARALLEL, "maxParallelRequests": _PARALLEL}
    spec = {
        "targetRefs": [target("HTTPRoute", route) for route in routes],
        "circuitBreaker": parallel,
        "tcpKeepalive": dict(_KEEPALIVE),
        **_timeouts("0s"),
    }
    return envoy_object("BackendTrafficPolicy", name, namespace, spec)


def _quantity(size: int) -> str:
    """Return a number of bytes as a quantity, of Mi if it is that many, else of Ki."""
    return f"{size >> 10}Ki" if size % 2**20 else f"{size >> 20}Mi"


def client_traffic_policy(  # noqa: PLR0913 - what a policy is made of
    name: str,
    namespace: str,
    gateway: str,
    *,
    authority: str | None = None,
    listener: str | None = None,
    buffer: int = CALLERS_BUFFER,
    renewed: str | None = None,
) -> dict[str, Any]:
    """Return the policy of the traffic from callers to a Gateway, or to one `listener`: there it replaces the other.

    With an `authority`, a ConfigMap with CA certificates, only the public gateway may call: by name, because clusters'
    gateways have certificates of the same CA.

    Only a request that fits into the `buffer`, or by HTTP/2 into the window of its stream, can be sent again. They are
    large where nobody calls without a key. A connection takes no more requests after `renewed`. What is wrong with one
    request ends its stream alone: on the connection of the public gateway to another are those of all callers. Every
    answer has the id of its request, a caller's own or a new one, whatever an endpoint says, and nothing in it acts on
    other services in a browser.
    """
    response = {"x-request-id": f"%REQ(X-REQUEST-ID):{LONGEST_ID}%", **_SANDBOX}
    reserved = [{"type": "Prefix", "value": prefix} for prefix in _RESERVED_HEADERS]
    spec: dict[str, Any] = {
        "targetRefs": [target("Gateway", gateway) | ({"sectionName": listener} if listener else {})],
        "connection": {"bufferLimit": _quantity(buffer)},
        "http1": {"http10": {}},
        "http2": {
            "initialStreamWindowSize": _quantity(min(buffer, _LARGE_WINDOW)),
            "initialConnectionWindowSize": "24Mi",
            "onInvalidMessage": "TerminateStream",
        },
        "tcpKeepalive": dict(_KEEPALIVE),
        "headers": {
            "earlyRequestHeaders": {"removeOnMatch": reserved},
            "lateResponseHeaders": {
                "set": [{"name": name, "value": value} for name, value in response.items()],
                "remove": list(_ORIGIN_HEADERS),
            },
            "requestID": "PreserveOrGenerate",
        },
        "healthCheck": {"path": HEALTH_PATH},
    }
    if renewed:
        spec["connection"]["connectionLimit"] = {"maxConnectionDuration": renewed}
    if authority:
        trusted = {"group": "", "kind": "ConfigMap", "name": authority}
        named = {"dnsNames": [{"type": "Exact", "value": CLIENT_NAME}]}
        spec["tls"] = {"clientValidation": {"caCertificateRefs": [trusted], "subjectAltNames": named}}
    return envoy_object("ClientTrafficPolicy", name, namespace, spec)
