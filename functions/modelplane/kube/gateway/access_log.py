"""The access log of the public gateway: a line of JSON for each request, and the filter that fills what Envoy lacks."""

from collections.abc import Mapping
from typing import Any, Final

from modelplane.kube.gateway.answers import LONGEST_ID, answers
from modelplane.kube.gateway.filters import error_body
from modelplane.kube.gateway.fleet_filter import PREFIX
from modelplane.kube.gateway.kinds import envoy_object, target
from modelplane.kube.gateway.route import UNKNOWN_PATHS
from modelplane.model.names import HEADER_CALLER, SYSTEM_NAMESPACE

_POLICY: Final = "EnvoyExtensionPolicy"
#: Where the filter puts what it finds.
_METADATA: Final = "modelplane"
_TOKENS: Final = {
    "input_tokens": f"%DYNAMIC_METADATA({_METADATA}:input)%",
    "output_tokens": f"%DYNAMIC_METADATA({_METADATA}:output)%",
}
#: Fields of a line by name, and what Envoy fills in.
_FIELDS: Final[Mapping[str, str]] = {
    "time": "%START_TIME%",
    "caller": f"%DYNAMIC_METADATA({_METADATA}:caller)%",
    "service": f"%DYNAMIC_METADATA({_METADATA}:service)%",
    "endpoint": "%UPSTREAM_HOST_NAME_WITHOUT_PORT%",
    "method": "%REQ(:METHOD)%",
    "path": "%REQ_WITHOUT_QUERY(X-ENVOY-ORIGINAL-PATH?:PATH)%",
    "status": "%RESPONSE_CODE%",
    "reason": "%RESPONSE_CODE_DETAILS%",
    "attempts": "%UPSTREAM_REQUEST_ATTEMPT_COUNT%",
    "ms": "%DURATION%",
    "first_byte_ms": "%RESPONSE_DURATION%",
    "bytes_received": "%BYTES_RECEIVED%",
    "bytes_sent": "%BYTES_SENT%",
    "request_id": f"%REQ(X-REQUEST-ID):{LONGEST_ID}%",
}
#: Stands for the name of a model in the text of an error.
_MODEL: Final = "<model>"
_NO_MODEL: Final = error_body(
    404, f"The model `{_MODEL}` does not exist. A service is called <namespace>/<service>.", "model_not_found"
).split(_MODEL)
#: Notes caller and service: the route takes away the header with the one and rewrites the path with the other. The path
#: of a service that does not exist leads to the route for unknown paths, of which a team's namespace may have the name.
#: What comes to the fleet URL's own paths is sent to the gateway again, and has passed it only then.
_NOTE: Final = f"""
function envoy_on_request(handle)
  local info, headers = handle:streamInfo(), handle:headers()
  local metadata = info:dynamicMetadata()
  local caller = headers:get('{HEADER_CALLER}')
  if caller then metadata:set('{_METADATA}', 'caller', caller) end
  local service, rest = string.match(headers:get(':path') or '', '^/([a-z0-9-]+/[a-z0-9.-]+)/v1(.?)')
  if service then metadata:set('{_METADATA}', 'service', service) end
  if not admit(handle) then return end
  if not string.find(headers:get(':path') or '', '^{PREFIX}') then pass(headers) end
  if not service or not string.find('/?', rest, 1, true) then return end
  if string.find(info:routeName() or '', 'httproute/{SYSTEM_NAMESPACE}/{UNKNOWN_PATHS}/', 1, true) == 1 then
    local text = [==[{_NO_MODEL[0]}]==] .. service .. [==[{_NO_MODEL[1]}]==]
    handle:respond({{[':status'] = '404', ['content-type'] = 'application/json'}}, text)
  end
end
"""
_ANSWER: Final = """
function envoy_on_response(handle)
  answer(handle)
end
"""
#: Reads the counts at the end of an answer, of OpenAI's API or Anthropic's, without holding any part of it back.
_COUNT: Final = f"""
function envoy_on_response(handle)
  answer(handle)
  if handle:headers():get(':status') ~= '200' then return end
  local kind = handle:headers():get('content-type') or ''
  if not (string.find(kind, 'text/event-stream', 1, true) or string.find(kind, 'application/json', 1, true)) then
    return
  end
  local tail = ''
  for chunk in handle:bodyChunks() do
    local length = chunk:length()
    if length >= 4096 then
      tail = chunk:getBytes(length - 4096, 4096)
    elseif length > 0 then
      tail = string.sub(tail .. chunk:getBytes(0, length), -4096)
    end
  end
  local at
  for position in string.gmatch(tail, '()"usage"%s*:%s*{{') do at = position end
  if not at then return end
  local usage, metadata = string.sub(tail, at), handle:streamInfo():dynamicMetadata()
  local function note(name, openai, anthropic)
    local count = string.match(usage, '"' .. openai .. '"%s*:%s*(%d+)')
      or string.match(usage, '"' .. anthropic .. '"%s*:%s*(%d+)')
    if count then metadata:set('{_METADATA}', name, tonumber(count)) end
  end
  note('input', 'prompt_tokens', 'input_tokens')
  note('output', 'completion_tokens', 'output_tokens')
end
"""


def access_log(*, tokens: bool) -> dict[str, Any]:
    """Return the access log of an EnvoyProxy, to its pods' standard output."""
    fields = {**_FIELDS, **(_TOKENS if tokens else {})}
    sink = {"type": "File", "file": {"path": "/dev/stdout"}}
    return {"settings": [{"format": {"type": "JSON", "json": fields}, "sinks": [sink]}]}


def access_log_filter(name: str, namespace: str, gateway: str, *, tokens: bool, passed: str) -> dict[str, Any]:
    """Return the policy with the filter of all routes of a Gateway: it notes what the log names, and writes errors.

    It is one filter, because Envoy calls into Lua for each. `passed` is the gateway's name (HEADER_PASSED).
    """
    source = answers(passed) + _NOTE + (_COUNT if tokens else _ANSWER)
    spec = {"targetRefs": [target("Gateway", gateway)], "lua": [{"type": "Inline", "inline": source}]}
    return envoy_object(_POLICY, name, namespace, spec)
