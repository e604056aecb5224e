"""The objects of an external provider on the router: where it is, and what it takes to be let in there."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from modelplane.kube.gateway.answers import PROVIDER_REFUSED, WRITE
from modelplane.kube.gateway.backend import KIND as BACKEND_KIND
from modelplane.kube.gateway.backend import backend_reference
from modelplane.kube.gateway.filters import KIND as FILTER_KIND
from modelplane.kube.gateway.filters import error_body, filter_reference
from modelplane.kube.gateway.kinds import envoy_object, gateway_object, target
from modelplane.kube.gateway.model_name import rename_model
from modelplane.kube.gateway.route import forwarding, parent, rewrite_path
from modelplane.kube.gateway.security import KEY_HEADERS
from modelplane.model.names import HEADER_SERVED, HEADER_UNNAMED, LISTENER_HTTPS, ROUTER
from modelplane.model.routing import BackendReference, Provider

#: Key of the Secret that Envoy Gateway reads a credential from.
CREDENTIAL_KEY: Final = "credential"
#: Other headers with keys of the caller, and what says where a request comes from, or is for clusters' gateways: a
#: provider is not told.
_ORIGIN_HEADERS: Final = (
    "api-key",
    "cookie",
    "proxy-authorization",
    "x-forwarded-for",
    "x-forwarded-host",
    "x-forwarded-port",
    "x-forwarded-proto",
    "x-forwarded-client-cert",
    "x-envoy-external-address",
    "x-request-id",
    HEADER_SERVED,
    HEADER_UNNAMED,
)
_WORDS: Final = "<words>"
_UNAUTHORIZED: Final = "The provider does not accept the credential of its ModelEndpoint for this request."
_UNSAID, _SAID = (
    error_body(502, message, "provider_unauthorized")
    for message in (_UNAUTHORIZED, f"{_UNAUTHORIZED} It says: {_WORDS}")
)
_TOO_LARGE: Final = error_body(
    413,
    "The request is larger than the 16 MiB in which the gateway replaces the name of the model. Send it in parts.",
    "request_too_large",
)
#: With 401 a client would take its own key for wrong, and the request would not be tried at another endpoint. 529, by
#: which some providers say that they are overloaded, is no status that a client or the public gateway knows.
#: Of a refusal the message is quoted as far as it is plain ASCII, without words that could be the credential: long ones
#: and those with a digit.
_REFUSED: Final = rf"""{WRITE}
local function without_credential(word)
  return (#word >= 20 or string.find(word, '%d')) and '***' or word
end
local function quote(text)
  local said = string.match(text, '"message"%s*:%s*"([^"\\%c\127-\255]+)')
  if not said then return [==[{_UNSAID}]==] end
  said = string.gsub(string.sub(said, 1, 300), '%S+', without_credential)
  return [==[{_SAID.partition(_WORDS)[0]}]==] .. said .. [==[{_SAID.partition(_WORDS)[2]}]==]
end
function envoy_on_request(handle)
  note_method(handle)
end
function envoy_on_response(handle)
  local headers = handle:headers()
  local status = headers:get(':status')
  if status == '529' then return headers:replace(':status', '503') end
  if status == '413' and not headers:get('date') then return write(handle, [==[{_TOO_LARGE}]==]) end
  if status ~= '401' then return end
  headers:replace(':status', '{PROVIDER_REFUSED}')
  headers:remove('www-authenticate')
  if is_head(handle) then return write(handle, '') end
  headers:replace('content-type', 'application/json')
  headers:remove('content-encoding')
  local body = handle:body(true)
  body:setBytes(quote(body:getBytes(0, math.min(body:length(), 4096))))
end
"""


@dataclass(frozen=True, slots=True)
class ProviderRoute:
    """What the route of a provider is made of. `host` is the name by which the router knows it.

    `filter` is its HTTPRouteFilter, which adds a credential in the header `credential_header`, None for no credential.
    """

    name: str
    namespace: str
    host: str
    backend: str
    filter: str
    credential_header: str | None
    headers: Mapping[str, str]


def provider_secret(name: str, namespace: str, key: str, value: Any) -> dict[str, Any]:
    """Return a Secret with one value."""
    metadata = {"name": name, "namespace": namespace}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "type": "Opaque", "data": {key: value}}


def provider_backend(name: str, namespace: str, provider: Provider, authority: str | None) -> dict[str, Any]:
    """Return the Backend of a provider, verified by the CA in a Secret, or by the CAs that systems know."""
    named = {"fqdn": {"hostname": provider.host, "port": provider.port}}
    numbered = {"ip": {"address": provider.host, "port": provider.port}}
    spec: dict[str, Any] = {"type": "Endpoints", "endpoints": [numbered if provider.is_ip else named]}
    if provider.tls:
        own = {"caCertificateRefs": [{"group": "", "kind": "Secret", "name": authority}]}
        spec["tls"] = {"sni": provider.server_name, **(own if authority else {"wellKnownCACertificates": "System"})}
    return envoy_object(BACKEND_KIND, name, namespace, spec)


def provider_filter(name: str, namespace: str, secret: str | None, header: str) -> dict[str, Any]:
    """Return the filter of what Gateway API's own filters cannot do.

    The host by which the router is called goes on in no header. With a `secret`, its credential is sent in a header,
    whatever the request has there.
    """
    spec: dict[str, Any] = {"urlRewrite": {"appendXForwardedHost": False}}
    if secret:
        value = {"valueRef": {"group": "", "kind": "Secret", "name": secret}}
        spec["credentialInjection"] = {"credential": value, "header": header, "overwrite": True}
    return envoy_object(FILTER_KIND, name, namespace, spec)


def model_filter(name: str, namespace: str, route: str, model: str) -> dict[str, Any]:
    """Return the policy that puts a provider's name of the model into the requests of a route.

    It replaces the Gateway's policy, so it has the Gateway's filter too.
    """
    lua = [{"type": "Inline", "inline": source} for source in (rename_model(model), _REFUSED)]
    return envoy_object(
        "EnvoyExtensionPolicy", name, namespace, {"targetRefs": [target("HTTPRoute", route)], "lua": lua}
    )


def refused_filter(name: str, namespace: str, gateway: str) -> dict[str, Any]:
    """Return the policy of the router by which a provider's refusal of its credential is no caller's mistake."""
    spec = {"targetRefs": [target("Gateway", gateway)], "lua": [{"type": "Inline", "inline": _REFUSED}]}
    return envoy_object("EnvoyExtensionPolicy", name, namespace, spec)


def _removed(route: ProviderRoute) -> Sequence[str]:
    """Return the headers that do not go on; not that of the credential, which is there by then."""
    kept = (route.credential_header or "").lower()
    return tuple(each for each in (*KEY_HEADERS, *_ORIGIN_HEADERS) if each.lower() != kept)


def escape_commands(value: str) -> str:
    """Return a header's value so that Envoy sends it as it is.

    A percent sign begins a command of Envoy's, which refuses the routes of all teams for one that it does not know.
    """
    return value.replace("%", "%%")


def provider_route(route: ProviderRoute, provider: Provider) -> dict[str, Any]:
    """Return the HTTPRoute that takes what comes for an endpoint to its provider, whose root stands for /v1."""
    fixed = [{"name": name, "value": escape_commands(value)} for name, value in sorted(route.headers.items())]
    modifier = {"remove": list(_removed(route)), **({"set": fixed} if fixed else {})}
    filters = [
        rewrite_path(provider.root, hostname=provider.authority),
        {"type": "RequestHeaderModifier", "requestHeaderModifier": modifier},
        filter_reference(route.filter),
    ]
    rule = forwarding("/v1", [backend_reference(BackendReference(route.backend, 1))], filters)
    spec = {"parentRefs": [parent(LISTENER_HTTPS, ROUTER)], "hostnames": [route.host], "rules": [rule]}
    return gateway_object("HTTPRoute", route.name, route.namespace, spec)
