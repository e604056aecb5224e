"""What the public gateway answers in place of an endpoint, in Lua: an error in the shape of OpenAI's API.

The filter changes the answer that there is, so that its headers stay: Retry-After, and those by which a page in a
browser may read it. The log keeps the reason. (Envoy's filter for custom responses makes a new answer.)
"""

from collections.abc import Mapping
from typing import Final

from modelplane.kube.gateway.filters import error_body

#: The message of 401, in words by which clients tell a wrong key from a wrong request.
NO_KEY: Final = "Incorrect API key provided, or none. Send a key of this service as Authorization: Bearer <key>."
_TOO_LARGE: Final = "The request is larger than the gateway takes."
#: Message and code by status.
_ANSWERS: Final[Mapping[int, tuple[str, str]]] = {
    401: (NO_KEY, "invalid_api_key"),
    429: ("There are more requests than this service takes at a time. Try again later.", "rate_limit_exceeded"),
    502: ("The endpoint failed before it answered.", "bad_gateway"),
    503: ("No endpoint of this service can take the request now.", "unavailable"),
    504: ("No endpoint of this service answered in time.", "timeout"),
}
_NO_UPGRADE: Final = "Upgrades, for example to websockets, are not served. Send an ordinary HTTP request."
_UPGRADE: Final = error_body(400, _NO_UPGRADE, "upgrade_not_supported")
#: What the gateway answers itself has no date yet here; what comes from elsewhere has one, which Envoy adds.
#: What has been written as JSON is left as it is, a provider's or engine's own words included. Of the body of another
#: answer no part is held.
_ANSWER: Final = """
local function write(handle, text)
  local headers = handle:headers()
  headers:replace('content-type', 'application/json')
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
local function answer(handle)
  local headers = handle:headers()
  local status, ours = headers:get(':status'), not headers:get('date')
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
local function refuse_upgrade(handle)
  if not handle:headers():get('upgrade') then return false end
  handle:respond({[':status'] = '400', ['content-type'] = 'application/json'}, UPGRADE)
  return true
end
"""


def answers(too_large: str = _TOO_LARGE) -> str:
    """Return the source of the functions `answer`, for an answer, and `refuse_upgrade`, for a request.

    `too_large` is the message of 413.
    """
    known = {**_ANSWERS, 413: (too_large, "request_too_large")}
    texts = (f"['{status}'] = [==[{error_body(status, *known[status])}]==]" for status in sorted(known))
    return f"local UPGRADE = [==[{_UPGRADE}]==]\nlocal ANSWERS = {{{', '.join(texts)}}}\n{_ANSWER}"


def answers_filter(too_large: str = _TOO_LARGE) -> str:
    """Return the source of the filter of routes whose answers the access log's filter does not see."""
    return f"""{answers(too_large)}
function envoy_on_request(handle)
  refuse_upgrade(handle)
end
function envoy_on_response(handle)
  answer(handle)
end
"""
