"""The filter of the fleet URL, in Lua: it finds the model in the body, and sends the request on by the path."""

from collections.abc import Sequence
from typing import Any, Final

from modelplane.kube.gateway.answers import answers_filter
from modelplane.kube.gateway.filters import error_body
from modelplane.kube.gateway.kinds import envoy_object, target
from modelplane.kube.gateway.model_name import FIND_MODEL
from modelplane.kube.gateway.traffic import CALLERS_BUFFER
from modelplane.model.names import HEADER_MODEL, HEADER_UNNAMED

#: Bytes of a body whose service is looked for in it: as many as a listener of callers holds.
LIMIT: Final = CALLERS_BUFFER
#: Bytes of a body that may always be held, and those of all larger ones that a worker of Envoy holds at a time: until a
#: body is there, nothing is known of its caller.
_SMALL, _HELD = 64 * 1024, 64 * 1024 * 1024
#: What the filter makes of `/v1`: below it lies what is sent on, as `<namespace>/<service>/<rest>`, and below that
#: where the caller has named the engine's own model.
PREFIX: Final = "/v1/~"
NAMED: Final = f"{PREFIX}/~"
#: The namespace whose services are not served: their paths begin as those of the fleet URL, and could come back to it.
UNSERVED: Final = "v1"
TOO_LARGE: Final = (
    f"The fleet URL takes at most {LIMIT // 2**20} MiB of a request without the header {HEADER_MODEL}. Send that, or"
    " the request to the URL of the service."
)

#: The path that it sets is below `/v1` still. After this Envoy looks for a route anew, and a service's own must not be
#: found: whether callers need a key was decided by the first route, and only the second pass asks for it.
_SEND: Final = """
local function refuse(handle, status, body)
  local answer = {[':status'] = status, ['content-type'] = 'application/json'}
  if status == '429' then answer['retry-after'] = '1' end
  handle:respond(answer, body)
end
local function base_url(headers)
  local host = string.match(headers:get(':authority') or '', '^[%w.:%[%]-]+$')
  return host and (headers:get(':scheme') or 'http') .. '://' .. host or 'http(s)://<gateway>'
end
local function refuse_unnamed(handle)
  return refuse(handle, '400', NO_MODEL[1] .. base_url(handle:headers()) .. NO_MODEL[2])
end
local function split(model)
  local namespace, service = string.match(model, '^([a-z0-9][-a-z0-9]*)/(.+)$')
  local own, name = string.match(service or '', '^([^/]+)/(.+)$')
  service = own or service
  if not namespace or not find(service, '^[a-z0-9][-a-z0-9.]*$') or #namespace > 63 or #service > 253
    or namespace == 'UNSERVED' then
    return nil
  end
  return namespace .. '/' .. service, name
end
local held, collected = 0, 0
-- Returns a value that holds room for a body as long as it lives: that of a caller who hangs up is collected.
local function hold(size)
  if size <= SMALL then return true end
  if held + size > HELD and collected ~= os.time() then
    collected = os.time()
    collectgarbage()
  end
  if held + size > HELD then return nil end
  held = held + size
  local room = newproxy(true)
  getmetatable(room).__gc = function()
    held, size = held - size, 0
  end
  return room
end
local function release(room)
  if room ~= true then getmetatable(room).__gc() end
end
function envoy_on_request(handle)
  local headers = handle:headers()
  local rest = string.match(headers:get(':path') or '', '^/v1(/[^/?].*)$')
  if not rest then return refuse(handle, '404', NOT_FOUND) end
  local named = headers:get('HEADER_MODEL')
  if named then
    local service, name = split(named)
    if not service or name then return refuse(handle, '404', UNKNOWN) end
    headers:remove('HEADER_MODEL')
    headers:remove('HEADER_UNNAMED')
    return headers:replace(':path', PREFIX .. '/' .. service .. rest)
  end
  if find(headers:get('content-type') or '', 'multipart/', 1, true) then return refuse_unnamed(handle) end
  local size = tonumber(headers:get('content-length') or '')
  if not size then
    local method = headers:get(':method')
    if method == 'GET' or method == 'HEAD' or method == 'DELETE' then return refuse_unnamed(handle) end
    return refuse(handle, '411', NO_LENGTH)
  end
  if size > LIMIT then return refuse(handle, '413', TOO_LARGE) end
  local room = hold(size)
  if not room then return refuse(handle, '429', FULL) end
  local body = handle:body()
  release(room)
  if not body then return refuse_unnamed(handle) end
  local text = body:getBytes(0, body:length())
  local first, last, busy = find_model(text)
  if busy then return refuse(handle, '429', BUSY) end
  if not first then return refuse_unnamed(handle) end
  local service, name = split((string.gsub(sub(text, first, last), '\\\\/', '/')))
  if not service then return refuse(handle, '404', UNKNOWN) end
  -- The headers from before the body was read are no longer to be used.
  headers = handle:headers()
  if name then
    local renamed = sub(text, 1, first - 1) .. name .. sub(text, last + 1)
    body:setBytes(renamed)
    headers:replace('content-length', tostring(#renamed))
  end
  if name then headers:remove('HEADER_UNNAMED') else headers:replace('HEADER_UNNAMED', 'true') end
  headers:replace(':path', (name and NAMED or PREFIX) .. '/' .. service .. rest)
end
"""
#: Stands for the scheme and host of the caller's own request.
_BASE: Final = "<base>"
_REFUSALS: Final = {
    "NOT_FOUND": (404, "There is nothing at this path.", "not_found"),
    "TOO_LARGE": (413, TOO_LARGE, "request_too_large"),
    "NO_LENGTH": (
        411,
        f"Send the length of the body, name the service in the header {HEADER_MODEL}, or send the request to the URL of"
        " the service.",
        "length_required",
    ),
    "FULL": (
        429,
        f"The gateway holds as many requests as it can whose service stands in the body. Name it in the header "
        f"{HEADER_MODEL}, send the request to the URL of the service, or try again later.",
        "rate_limit_exceeded",
    ),
    "BUSY": (
        429,
        "The name of the model stands behind too many parts of the body for now. Put it first, name the service in the "
        f"header {HEADER_MODEL}, or try again later.",
        "rate_limit_exceeded",
    ),
    "NO_MODEL": (
        400,
        "Name one model, as <namespace>/<service>: in the body where that is a JSON object, else in the header "
        f"{HEADER_MODEL}. Or send the request to the URL of the service, {_BASE}/<namespace>/<service>/v1.",
        "model_required",
    ),
    "UNKNOWN": (
        404,
        "The model does not exist. A model is called <namespace>/<service>, or in a body <namespace>/<service>/<name>, "
        "where name is one that the engine serves.",
        "model_not_found",
    ),
}


def _constants() -> str:
    texts = {name: f"[==[{error_body(*refusal)}]==]" for name, refusal in _REFUSALS.items()}
    texts["NO_MODEL"] = f"{{{texts['NO_MODEL'].replace(_BASE, ']==], [==[')}}}"
    values = {
        "LIMIT": str(LIMIT),
        "SMALL": str(_SMALL),
        "HELD": str(_HELD),
        "PREFIX": f"'{PREFIX}'",
        "NAMED": f"'{NAMED}'",
        **texts,
    }
    return "".join(f"local {name} = {value}\n" for name, value in values.items())


def fleet_filter(name: str, namespace: str, routes: Sequence[str], passed: str) -> dict[str, Any]:
    """Return the policy with the filter of the routes that take the requests to the fleet URL."""
    words = {"HEADER_UNNAMED": HEADER_UNNAMED, "HEADER_MODEL": HEADER_MODEL, "UNSERVED": UNSERVED}
    send = _SEND
    for word, value in words.items():
        send = send.replace(word, value)
    sources = (answers_filter(passed, TOO_LARGE), _constants() + FIND_MODEL + send)
    spec = {
        "targetRefs": [target("HTTPRoute", each) for each in routes],
        "lua": [{"type": "Inline", "inline": source} for source in sources],
    }
    return envoy_object("EnvoyExtensionPolicy", name, namespace, spec)
