"""What the public gateway answers in place of an endpoint, in Lua: an error in the shape of OpenAI's API.

The filter changes the answer that there is, so that its headers stay: Retry-After, and those by which a page in a
browser may read it. The log keeps the reason. (Envoy's filter for custom responses makes a new answer.)
"""

from collections.abc import Mapping
from typing import Final

from modelplane.kube.gateway.filters import error_body
from modelplane.model.names import HEADER_PASSED, PASSED_PREFIX

#: The message of 401, in words by which clients tell a wrong key from a wrong request.
NO_KEY: Final = "Incorrect API key provided, or none. Send a key of this service as Authorization: Bearer <key>."
_TOO_LARGE: Final = "The request is larger than the gateway takes."
#: Message and code by status.
_ANSWERS: Final[Mapping[int, tuple[str, str]]] = {
    401: (NO_KEY, "invalid_api_key"),
    408: ("The request was not complete within the time that it may take.", "request_timeout"),
    429: ("There are more requests than this service takes at a time. Try again later.", "rate_limit_exceeded"),
    502: ("The endpoint failed before it answered.", "bad_gateway"),
    503: ("No endpoint of this service can take the request now.", "unavailable"),
    504: ("No endpoint of this service answered in time.", "timeout"),
}
#: What the router answers for a provider's 401: a status that no server sends, which is tried at another endpoint and,
#: unlike 502, ejects none. The provider may have meant this one request, and others have done nothing.
PROVIDER_REFUSED: Final = 590
#: Envoy takes 100 headers, and 60 KiB of them. Each gateway that a request passes adds some: what only the first takes,
#: the next would reset, and resets eject endpoints.
_MOST_HEADERS: Final = 80
_HEADER_BYTES: Final = 48 * 1024
#: The most characters of a request's id. A caller's that is longer, empty, or has other characters than ids have, is
#: replaced.
LONGEST_ID: Final = 128
_LARGE_HEADERS: Final = error_body(
    431,
    f"The gateway takes {_MOST_HEADERS} headers, with those that it adds, and {_HEADER_BYTES // 1024} KiB of them.",
    "request_headers_too_large",
)
_NO_UPGRADE: Final = "Upgrades, for example to websockets, are not served. Send an ordinary HTTP request."
_UPGRADE: Final = error_body(400, _NO_UPGRADE, "upgrade_not_supported")
_LOOP: Final = error_body(
    508,
    "The request has passed this gateway before: a ModelEndpoint of the service leads back to it.",
    "loop_detected",
)
#: Writes the body of an answer, of which no part is held. The answer to HEAD has none, and only the request says so:
#: bytes behind it would be read as the next answer on its connection.
WRITE: Final = """
local function note_method(handle)
  if handle:headers():get(':method') ~= 'HEAD' then return end
  handle:streamInfo():dynamicMetadata():set('modelplane', 'head', true)
end
local function is_head(handle)
  return (handle:streamInfo():dynamicMetadata():get('modelplane') or {})['head']
end
local function write(handle, text)
  local headers = handle:headers()
  headers:replace('content-type', 'application/json')
  if is_head(handle) then
    headers:remove('content-length')
    return headers:remove('content-encoding')
  end
  local length = headers:get('content-length')
  if not headers:get('date') or length == '0' then
    local body = handle:body(not length or length == '0')
    if body then body:setBytes(text) end
    return
  end
  headers:remove('content-length')
  headers:remove('content-encoding')
  for chunk in handle:bodyChunks() do
    chunk:setBytes(text)
    text = ''
  end
end
"""
#: What the gateway answers itself has no date yet here; what comes from elsewhere has one, which Envoy adds.
#: What has been written as JSON is left as it is, a provider's or engine's own words included.
_ANSWER: Final = f"""{WRITE}
local function answer(handle)
  local headers = handle:headers()
  local status, ours = headers:get(':status'), not headers:get('date')
  if status == '{PROVIDER_REFUSED}' then
    status = '502'
    headers:replace(':status', status)
  end
  if ours and status == '403' then
    headers:replace(':status', '400')
    return write(handle, UPGRADE)
  end
  local text = ANSWERS[status]
  if not text or not (ours or status > '500') then return end
  if string.find(headers:get('content-type') or '', 'application/json', 1, true) then return end
  if ours and status == '429' and not headers:get('retry-after') then
    headers:add('retry-after', headers:get('x-ratelimit-reset') or '1')
  end
  write(handle, text)
end
local function refuse(handle, status, text)
  handle:respond({{[':status'] = status, ['content-type'] = 'application/json'}}, text)
  return false
end
local function identify(handle, headers)
  local id = headers:get('x-request-id') or ''
  if id ~= '' and #id <= {LONGEST_ID} and not string.find(id, '[^%w._:/+=@-]') then return end
  local now = handle:timestampString(EnvoyTimestampResolution.MICROSECOND)
  headers:replace('x-request-id', string.format('%s-%06x', now, math.random(0, 0xffffff)))
end
local function admit(handle)
  local headers, count, size = handle:headers(), 0, 0
  note_method(handle)
  identify(handle, headers)
  if headers:get('upgrade') then return refuse(handle, '400', UPGRADE) end
  if string.find(headers:get('{HEADER_PASSED}') or '', PASSED, 1, true) then return refuse(handle, '508', LOOP) end
  for name, value in pairs(headers) do
    count, size = count + 1, size + #name + #tostring(value)
  end
  return count <= {_MOST_HEADERS} and size <= {_HEADER_BYTES} or refuse(handle, '431', LARGE_HEADERS)
end
local function pass(headers)
  if string.find(headers:get('{HEADER_PASSED}') or '', '{PASSED_PREFIX}', 1, true) then
    headers:replace('x-envoy-max-retries', '0')
  end
  headers:add('{HEADER_PASSED}', PASSED)
end
"""


def answers(passed: str, too_large: str = _TOO_LARGE) -> str:
    """Return the source of the functions `answer`, for an answer, and `admit`, which tells if a request may go on.

    `admit` refuses what has passed the gateway before, by its name `passed`, which `pass` puts into a request: the
    header comes back with it, because callers can only add to it. What has passed another gateway of Modelplane is
    tried once: that one tries it again. `too_large` is the message of 413.
    """
    known = {**_ANSWERS, 413: (too_large, "request_too_large")}
    texts = (f"['{status}'] = [==[{error_body(status, *known[status])}]==]" for status in sorted(known))
    refusals = f"local UPGRADE = [==[{_UPGRADE}]==]\nlocal LARGE_HEADERS = [==[{_LARGE_HEADERS}]==]"
    refusals += f"\nlocal LOOP = [==[{_LOOP}]==]\nlocal PASSED = '{passed}'"
    return f"{refusals}\nlocal ANSWERS = {{{', '.join(texts)}}}\n{_ANSWER}"


def answers_filter(passed: str, too_large: str = _TOO_LARGE) -> str:
    """Return the source of the filter of routes whose answers the access log's filter does not see."""
    return f"""{answers(passed, too_large)}
function envoy_on_request(handle)
  admit(handle)
end
function envoy_on_response(handle)
  answer(handle)
end
"""
