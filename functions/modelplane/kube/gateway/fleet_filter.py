"""The filter of the fleet URL, in Lua: it finds the model in the body, and sends the request on by the path."""

from collections.abc import Sequence
from typing import Any, Final

from modelplane.kube.gateway.filters import error_body
from modelplane.kube.gateway.kinds import envoy_object, target
from modelplane.kube.gateway.model_name import FIND_MODEL
from modelplane.model.names import HEADER_UNNAMED

#: Bytes of a body that are looked through. A long array of numbers takes a worker 70 ms for each MB.
LIMIT: Final = 8 * 1024 * 1024
#: What the filter makes of `/v1`: below it lies what is sent on, as `<namespace>/<service>/<rest>`, and below that
#: where the caller has named the engine's own model.
PREFIX: Final = "/v1/~"
NAMED: Final = f"{PREFIX}/~"
#: The namespace whose services are not served: their paths begin as those of the fleet URL, and could come back to it.
UNSERVED: Final = "v1"
TOO_LARGE: Final = "The fleet URL takes at most 8 MiB of a request. Send it to the URL of the service."

#: The path that it sets is below `/v1` still. After this Envoy looks for a route anew, and a service's own must not be
#: found: whether callers need a key was decided by the first route, and only the second pass asks for it.
_SEND: Final = """
local function refuse(handle, status, body)
  handle:respond({[':status'] = status, ['content-type'] = 'application/json'}, body)
end
function envoy_on_request(handle)
  local headers = handle:headers()
  local rest = string.match(headers:get(':path') or '', '^/v1(/[^/?].*)$')
  if not rest then return refuse(handle, '404', NOT_FOUND) end
  if (tonumber(headers:get('content-length') or '') or 0) > LIMIT then return refuse(handle, '413', TOO_LARGE) end
  local body = handle:body()
  if not body then return refuse(handle, '400', NO_MODEL) end
  if body:length() > LIMIT then return refuse(handle, '413', TOO_LARGE) end
  local text = body:getBytes(0, body:length())
  local first, last = find_model(text)
  if not first then return refuse(handle, '400', NO_MODEL) end
  local model = string.gsub(sub(text, first, last), '\\\\/', '/')
  local namespace, service = string.match(model, '^([a-z0-9][-a-z0-9]*)/(.+)$')
  local own, name = string.match(service or '', '^([^/]+)/(.+)$')
  service = own or service
  if not namespace or not find(service, '^[a-z0-9][-a-z0-9.]*$') or #namespace > 63 or #service > 253
    or namespace == 'UNSERVED' then
    return refuse(handle, '404', UNKNOWN)
  end
  -- The headers from before the body was read are no longer to be used.
  headers = handle:headers()
  if name then
    local renamed = sub(text, 1, first - 1) .. name .. sub(text, last + 1)
    body:setBytes(renamed)
    headers:replace('content-length', tostring(#renamed))
  end
  if name then headers:remove('HEADER_UNNAMED') else headers:replace('HEADER_UNNAMED', 'true') end
  headers:replace(':path', (name and NAMED or PREFIX) .. '/' .. namespace .. '/' .. service .. rest)
end
"""
_REFUSALS: Final = {
    "NOT_FOUND": (404, "There is nothing at this path.", "not_found"),
    "TOO_LARGE": (413, TOO_LARGE, "request_too_large"),
    "NO_MODEL": (
        400,
        "The body must be one JSON object that names one model, as <namespace>/<service>.",
        "model_required",
    ),
    "UNKNOWN": (
        404,
        "There is no such model. A model is called <namespace>/<service>, or <namespace>/<service>/<name> where name "
        "is one that the engine serves.",
        "model_not_found",
    ),
}


def _constants() -> str:
    texts = {name: f"[==[{error_body(*refusal)}]==]" for name, refusal in _REFUSALS.items()}
    values = {"LIMIT": str(LIMIT), "PREFIX": f"'{PREFIX}'", "NAMED": f"'{NAMED}'", **texts}
    return "".join(f"local {name} = {value}\n" for name, value in values.items())


def fleet_filter(name: str, namespace: str, routes: Sequence[str]) -> dict[str, Any]:
    """Return the policy with the filter of the routes that take the requests to the fleet URL."""
    source = _constants() + FIND_MODEL + _SEND.replace("HEADER_UNNAMED", HEADER_UNNAMED).replace("UNSERVED", UNSERVED)
    spec = {"targetRefs": [target("HTTPRoute", each) for each in routes], "lua": [{"type": "Inline", "inline": source}]}
    return envoy_object("EnvoyExtensionPolicy", name, namespace, spec)
