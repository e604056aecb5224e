"""The routes of the fleet URL: `/v1` with the service in the body, and the list of models.

A request passes the gateway twice. The filter of the first route says by the path which service it is for; the second
route sends it to the gateway again, as an ordinary request to the service's URL. Where there is HTTPS this hop is by
mutual TLS, to a listener of its own: the certificate that callers see may be of any CA.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from modelplane.kube.gateway.backend import KIND as BACKEND
from modelplane.kube.gateway.backend import mutual_tls
from modelplane.kube.gateway.filters import direct_response, filter_reference, json_response, replace_path
from modelplane.kube.gateway.fleet_filter import NAMED, PREFIX, fleet_filter
from modelplane.kube.gateway.kinds import ENVOY_GROUP, envoy_object, gateway_object
from modelplane.kube.gateway.listener_filters import LISTENER_FILTERS
from modelplane.kube.gateway.model_list import MODELS_PATH, FleetModel, list_models, model_selection
from modelplane.kube.gateway.proxy import INTERNAL_PORT
from modelplane.kube.gateway.route import KIND, forwarding, parent, rule
from modelplane.kube.gateway.traffic import loop_traffic_policy
from modelplane.model.names import FLEET, HEADER_MODEL, SYSTEM_NAMESPACE

_SENT: Final = f"{FLEET}-sent"
_MODELS: Final = f"{FLEET}-models"
#: It matches whatever is below PREFIX, so that no request is sent on as it came.
_PATTERN: Final = rf"^{PREFIX}(?:{NAMED.removeprefix(PREFIX)})?/?([^/]*/?[^/]*)"
#: The namespace whose paths begin as those of the fleet URL: what is sent on for it would come back, once for each `~`
#: that a caller has written into the path.
_COMING_BACK: Final = (f"{PREFIX}/v1", f"{NAMED}/v1")
_NOT_FOUND: Final = "There is nothing at this path."
_NOT_READY: Final = "The fleet URL does not take requests yet. Use the URL of the service."


def _gateway(address: str, authority: str | None) -> dict[str, Any]:
    """Return the Backend that is the gateway itself."""
    endpoint = {"fqdn": {"hostname": address, "port": INTERNAL_PORT if authority else 80}}
    tls = {"tls": mutual_tls(authority)} if authority else {}
    return envoy_object(BACKEND, FLEET, SYSTEM_NAMESPACE, {"type": "Endpoints", "endpoints": [endpoint], **tls})


def fleet_surroundings(
    address: str, models: Sequence[FleetModel], passed: str, authority: str | None = None
) -> dict[str, dict[str, Any]]:
    """Return what the routes refer to and depend on, by what it is. `address` is the gateway's own DNS name.

    `passed` is its name in HEADER_PASSED. With an `authority`, a ConfigMap with CA certificates, requests go on to its
    internal listener.
    """
    at = (FLEET, SYSTEM_NAMESPACE)
    return {
        "gateway": _gateway(address, authority),
        "path": replace_path(*at, pattern=_PATTERN, substitution=r"/\1/v1"),
        "answer-503": direct_response(
            f"{FLEET}-503", SYSTEM_NAMESPACE, status=503, message=_NOT_READY, code="unavailable"
        ),
        "answer-404": direct_response(
            f"{FLEET}-404", SYSTEM_NAMESPACE, status=404, message=_NOT_FOUND, code="not_found"
        ),
        "models": json_response(_MODELS, SYSTEM_NAMESPACE, status=200, body=list_models(models)),
        "model": model_selection(_MODELS, SYSTEM_NAMESPACE, _MODELS, passed),
        # The routes switch listeners with TLS: each listener has the filter before, for connections opened before.
        "filter": fleet_filter(*at, (FLEET, LISTENER_FILTERS), passed),
        "traffic-policy": loop_traffic_policy(*at, (FLEET, _SENT)),
    }


def _route(name: str, listeners: Sequence[str], *rules: Mapping[str, Any]) -> dict[str, Any]:
    spec = {"parentRefs": list(map(parent, listeners)), "rules": list(map(dict, rules))}
    return gateway_object(KIND, name, SYSTEM_NAMESPACE, spec)


def fleet_routes(listeners: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return the HTTPRoutes, by what they are. The first answers 503 where its filter does not send the request on."""
    again = {"group": ENVOY_GROUP, "kind": BACKEND, "name": FLEET}
    sent = forwarding(PREFIX, [again], [filter_reference(FLEET)])
    back = rule(_COMING_BACK, [filter_reference(f"{FLEET}-404")])
    path = {"type": "PathPrefix", "value": MODELS_PATH}
    asked = [{"path": path, "method": method} for method in ("GET", "HEAD")]
    answered = rule(["/v1"], [filter_reference(f"{FLEET}-503")])
    # A request that names a service is for that service also where its path is that of the list.
    named = {"headers": [{"name": HEADER_MODEL, "type": "RegularExpression", "value": ".*"}]}
    answered["matches"] += [{**each, **named} for each in asked]
    return {
        "route": _route(FLEET, listeners, answered),
        "route-sent": _route(_SENT, listeners, sent, back),
        "route-models": _route(_MODELS, listeners, {"matches": asked, "filters": [filter_reference(_MODELS)]}),
    }
